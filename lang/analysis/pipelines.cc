#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/guards.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

constexpr int32_t kMaxStages = 64;
constexpr int64_t kMaxCounted = 1 << 14;  // instances, and elements

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

// Counts the elements that a block writes in one iteration of a loop by enumerating the iterations of the loops below
// it. It serves copies whose region the algebra cannot bound, because their threads overshoot or share the digits of a
// loop.
class WriteCounter {
 public:
  WriteCounter(const Program& program, const Bindings& bindings, Id at)
      : p_(program), bindings_(bindings), at_(at), extents_(program) {
    for (const Id loop : LoopsAround(p_, bindings_.block))
      if (loop != at && IsAncestor(p_, at, loop)) loops_.push_back(loop);
    values_.resize(loops_.size());
  }

  // Returns the box of its only result that the block writes in one iteration of `at_`. Returns nullopt if that is no
  // box, if guards make the box differ between iterations, or if more than 16384 instances or elements would be
  // counted. Ignores a guard that keeps an iter within its extent if the guard depends on other loops than those below
  // `at_`.
  std::optional<Region> Count() {
    if (!Prepare()) return std::nullopt;
    std::vector<int64_t> least(inner_.size(), kMaxCounted), most(inner_.size(), -1);
    std::vector<bool> written(elements_, false);
    do {
      if (!Exists()) continue;
      size_t element = 0;
      for (size_t d = 0; d < inner_.size(); ++d) {
        const int64_t at = Value(inner_[d]) - bounds_[d].min;
        least[d] = std::min(least[d], at);
        most[d] = std::max(most[d], at);
        element = element * (bounds_[d].max - bounds_[d].min + 1) + at;
      }
      written[element] = true;
    } while (Next());
    int64_t box = 1;
    for (size_t d = 0; d < inner_.size(); ++d) {
      box *= std::max<int64_t>(most[d] - least[d] + 1, 0);
      region_[d].base.offset += bounds_[d].min + least[d];
      region_[d].extent = most[d] - least[d] + 1;
      region_[d].dense = true;
    }
    if (box != absl::c_count(written, true) || box == 0) return std::nullopt;
    return region_;
  }

 private:
  // Splits each index of the result into terms of `at_` and the loops around it, and terms of the loops below it, which
  // are counted. Returns false if the block has several results, if its indices or guards cannot be split so, or if
  // there is too much to count.
  bool Prepare() {
    int64_t instances = 1;
    for (const Id loop : loops_)
      if ((instances *= p_.loop(loop).extent.UpperBound()) > kMaxCounted) return false;
    const Range dests = p_.block(bindings_.block).dests;
    if (dests.count != 1) return false;
    for (const Id mark : p_.List(p_.Accesses(dests)[0].index)) {
      const auto iter = [&](Source s) { return std::optional<IndexSum>(bindings_.iters[s.id]); };
      const std::optional<IndexSum> index = Substitute(p_.SumOf(mark), iter, extents_);
      if (!index.has_value()) return false;
      DimRange range{IndexSum::Constant(index->offset)};
      IndexSum inner;
      for (const IndexSplit& split : index->splits) {
        const bool outer = split.source.kind == Source::Kind::kLoop && IsAncestor(p_, split.source.id, at_);
        (outer ? range.base : inner).splits.push_back(split);
      }
      if (!IsCounted(inner)) return false;
      bounds_.push_back(Bounds(inner, extents_));
      if ((elements_ *= bounds_.back().max - bounds_.back().min + 1) > kMaxCounted) return false;
      inner_.push_back(inner);
      region_.push_back(range);
    }
    for (const Guard& guard : bindings_.guards) {
      if (IsCounted(guard.value)) {
        guards_.push_back(guard);
      } else if (!KeepsAnIter(guard)) {
        return false;
      }
    }
    return true;
  }

  // True if the sum depends on no loops but those between `at_` and the block. Stores the sums of its marks in marks_.
  bool IsCounted(const IndexSum& sum) {
    return absl::c_all_of(sum.splits, [&](const IndexSplit& split) {
      const Source source = split.source;
      if (source.kind == Source::Kind::kLoop) return absl::c_linear_search(loops_, source.id);
      if (source.kind != Source::Kind::kMark || !IsMadeBelow(p_, source.id, at_)) return false;
      const IndexSum value = Resolver(p_).Resolve(source);
      marks_.insert({source.id, value});
      return IsCounted(value);
    });
  }

  bool KeepsAnIter(const Guard& guard) const {
    const auto iters = p_.Iters(p_.block(bindings_.block).iters);
    for (size_t i = 0; i < iters.size(); ++i)
      if (guard.value == bindings_.iters[i] && guard.extent == iters[i].extent.UpperBound()) return true;
    return false;
  }

  int64_t Value(const IndexSum& sum) const {
    return Evaluate(sum, [&](Source source) {
      if (source.kind == Source::Kind::kMark) return Value(marks_.at(source.id));
      return values_[std::find(loops_.begin(), loops_.end(), source.id) - loops_.begin()];
    });
  }

  bool Exists() const {
    return absl::c_all_of(guards_, [&](const Guard& guard) {
      const int64_t value = Value(guard.value);
      return value >= 0 && value < guard.extent;
    });
  }

  // Advances values_ to the next iteration of the counted loops. Returns false after the last one.
  bool Next() {
    for (size_t i = loops_.size(); i-- > 0;) {
      if (++values_[i] < p_.loop(loops_[i]).extent.UpperBound()) return true;
      values_[i] = 0;
    }
    return false;
  }

  const Program& p_;
  const Bindings& bindings_;
  const Id at_;
  const Extents extents_;
  std::vector<Id> loops_;  // below `at_`, around the block
  std::vector<int64_t> values_;
  std::vector<IndexSum> inner_;  // by dimension of the result: the terms of its index that depend on loops_
  std::vector<Interval> bounds_;
  std::vector<Guard> guards_;
  absl::flat_hash_map<Id, IndexSum> marks_;
  int64_t elements_ = 1;
  Region region_;
};

class PipelineCheck {
 public:
  PipelineCheck(const Program& program, Id loop) : p_(program), loop_(loop) {
    for (Id child = p_.nodes[loop].first; child != kNone; child = p_.nodes[child].next)
      children_.push_back(BlocksOf(p_, child));
    stages_ = p_.Stages(p_.loop(loop));
    rings_ = p_.Rings(p_.loop(loop));
  }

  absl::Status Run() {
    absl::Status status = CheckStages();
    if (status.ok()) status = CheckWriters();
    if (!status.ok()) return status;
    const std::vector<CarriedBuffer> carried = CarriedBuffers(p_, loop_);
    for (const CarriedBuffer& c : carried) {
      const auto ring =
          std::find_if(rings_.begin(), rings_.end(), [&](const Ring& r) { return r.buffer == c.buffer; });
      if (ring == rings_.end())
        return No(absl::StrCat("child ", c.writer, " of ", Describe(p_, loop_), " writes ", Name(c.buffer),
                               ", which child ", c.readers[0], " reads, but it has no ring"));
      status = CheckCarried(c);
      if (status.ok()) status = CheckRing(c, *ring);
      if (!status.ok()) return status;
    }
    if (rings_.size() != carried.size()) {
      return No(absl::StrCat(Describe(p_, loop_), " has ", rings_.size(), " rings for ", carried.size(),
                             " buffers that its children carry"));
    }
    return CheckRoles(carried);
  }

 private:
  absl::string_view Name(Id buffer) const { return p_.Text(p_.buffers[buffer].name); }

  absl::Status CheckStages() const {
    if (stages_.size() != children_.size()) {
      return No(absl::StrCat(Describe(p_, loop_), " is pipelined with ", stages_.size(),
                             " children, and would have ", children_.size()));
    }
    std::vector<bool> taken(stages_.size(), false);
    for (const PipelineStage& s : stages_) {
      if (s.stage < 0 || s.stage > kMaxStages)
        return No(absl::StrCat("a stage is 0 .. ", kMaxStages, ", not ", s.stage));
      if (s.order < 0 || s.order >= static_cast<int32_t>(taken.size()) || taken[s.order])
        return No(absl::StrCat("orders are a permutation of 0 .. ", taken.size() - 1, "; ", s.order,
                               " is not, or is there twice"));
      taken[s.order] = true;
    }
    return absl::OkStatus();
  }

  // Checks that no two children of the pipelined loop write the same buffer, since the pipeline does not order their
  // writes.
  absl::Status CheckWriters() const {
    for (size_t c = 0; c < children_.size(); ++c) {
      for (const Id block : children_[c]) {
        for (const Id buffer : WrittenBuffers(p_, block)) {
          for (size_t other = 0; other < c; ++other) {
            for (const Id writer : children_[other]) {
              if (!absl::c_linear_search(WrittenBuffers(p_, writer), buffer)) continue;
              return No(absl::StrCat("children ", other, " and ", c, " of ", Describe(p_, loop_),
                                     " both write ", Name(buffer)));
            }
          }
        }
      }
    }
    return absl::OkStatus();
  }

  // Checks a buffer that one child of the pipelined loop writes and others read: only the loop uses it, one block
  // writes it anew and without gaps in each iteration, and the readers stay within what this block wrote in the same
  // iteration.
  absl::Status CheckCarried(const CarriedBuffer& c) const {
    const std::string what = absl::StrCat(Name(c.buffer), ", which child ", c.writer, " of ",
                                          Describe(p_, loop_), " makes for others, ");
    if (p_.buffers[c.buffer].role != Role::kTemporary) return No(absl::StrCat(what, "is not a temporary"));
    const std::vector<Id> writers = Writers(p_, c.buffer), readers = Readers(p_, c.buffer);
    for (const auto* users : {&writers, &readers}) {
      for (const Id user : *users) {
        if (!IsAncestor(p_, loop_, user))
          return No(absl::StrCat(what, "is used outside of it, by ", Describe(p_, user)));
      }
    }
    const Id writer = writers[0];
    if (writers.size() != 1) return No(absl::StrCat(what, "has ", writers.size(), " writers"));
    if (p_.block(writer).accumulates) return No(absl::StrCat(what, "is accumulated into"));
    for (Id at = loop_; at != kNone && p_.IsLoop(at); at = p_.nodes[at].parent) {
      if (UseOf(p_, writer, at).reduction)
        return No(
            absl::StrCat(what, "is reduced over ", Describe(p_, at), ": it is not anew in each iteration"));
    }
    const Bindings bindings = ResolveBindings(p_, writer);
    Region made = WrittenRegion(p_, bindings, c.buffer, loop_);
    // Counts the written elements if the region may have gaps, or if guards may exclude elements, which would then be
    // neither written nor safe to read.
    if (!IsDense(made) || HasInnerGuards(p_, bindings, loop_)) {
      const std::optional<Region> counted = WriteCounter(p_, bindings, loop_).Count();
      if (!counted.has_value()) return No(absl::StrCat(what, "may have gaps in one iteration"));
      made = *counted;
    }
    const auto shape = p_.Dims(p_.buffers[c.buffer].shape);
    for (const Id reader : readers) {
      Region read = ReadRegion(p_, ResolveBindings(p_, reader), c.buffer, loop_);
      for (size_t d = 0; d < read.size(); ++d) {  // elements outside of the buffer are not read
        const bool all = made[d].base.IsConstant() && made[d].base.offset <= 0 &&
                         made[d].base.offset + made[d].extent >= shape[d].UpperBound();
        if (all) read[d] = made[d];
      }
      if (Contains(made, read) || KILN_DEFECT("pipeline.iterations")) continue;
      return No(absl::StrCat(what, "is read by ", Describe(p_, reader),
                             " where other iterations may have made it"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckRing(const CarriedBuffer& c, const Ring& ring) const {
    const PipelineStage& from = stages_[c.writer];
    for (const int reader : c.readers) {
      const PipelineStage& to = stages_[reader];
      const std::string who = absl::StrCat("child ", reader, " of ", Describe(p_, loop_), " reads ",
                                           Name(c.buffer), ", which child ", c.writer, " makes");
      if (reader < c.writer) return No(absl::StrCat(who, " after it"));
      if (to.stage < from.stage || (to.stage == from.stage && to.order < from.order)) {
        return No(absl::StrCat(who, " in stage ", from.stage, " at position ", from.order,
                               "; but it is in stage ", to.stage, " at position ", to.order));
      }
      const int32_t wanted = to.stage - from.stage + 1;
      if (ring.depth < wanted || ring.depth > kMaxStages + 1) {
        return No(absl::StrCat(who, " ", wanted - 1, " stages before: its ring needs ", wanted,
                               " copies, and has ", ring.depth));
      }
    }
    return ring.transport == Transport::kSync ? absl::OkStatus() : CheckTransport(c, ring.transport);
  }

  absl::Status CheckTransport(const CarriedBuffer& c, Transport transport) const {
    const Id writer = Writers(p_, c.buffer)[0];
    const BlockNode& b = p_.block(writer);
    const Id value = p_.List(b.values)[0], load = CopiedLoad(p_, writer);
    const std::string what = absl::StrCat(Name(c.buffer), " cannot travel ", ToString(transport), ": ");
    if (load == kNone && !KILN_DEFECT("pipeline.transport"))
      return No(absl::StrCat(what, Describe(p_, writer), " is not a plain copy"));
    if (transport != Transport::kBulk || load == kNone) return absl::OkStatus();
    const auto box = [&](Range index) {
      return absl::c_all_of(p_.List(index), [&](Id mark) {
        return p_.marks[mark].splits.count == 0 || AsSimpleIndex(p_, mark).has_value();
      });
    };
    if (load != value && !BoundsAreTheBuffers(p_, p_.exprs[value], p_.exprs[load]))
      return No(
          absl::StrCat(what, Describe(p_, writer), " fills with zeros within the buffer that it reads"));
    if (box(p_.exprs[load].AsLoad().index) && box(p_.Accesses(b.dests)[0].index)) return absl::OkStatus();
    return No(absl::StrCat(what, Describe(p_, writer), " copies no box"));
  }

  // Checks that producers write only buffers in rings, and that producers and bulk copies read nothing that the same
  // nest writes, except rings of such children: they may be ahead of the threads that run the other children.
  absl::Status CheckRoles(const std::vector<CarriedBuffer>& carried) const {
    for (size_t c = 0; c < children_.size(); ++c) {
      const bool produces = stages_[c].role == PipelineRole::kProducer;
      if (!RunsAhead(c, carried)) continue;
      const std::string who = absl::StrCat("child ", c, " of ", Describe(p_, loop_),
                                           produces ? " is a producer" : " copies in bulk");
      for (const Id block : children_[c]) {
        for (const Id buffer : WrittenBuffers(p_, block)) {
          if (!produces || IsCarried(buffer, carried)) continue;
          return No(absl::StrCat(who, ", but writes ", Name(buffer), ", which no ring carries"));
        }
        for (const Id buffer : ReadBuffers(p_, block)) {
          const auto in_nest = [&](Id writer) { return NestOf(p_, writer) == NestOf(p_, loop_); };
          const auto ahead = [&](const CarriedBuffer& from) {
            return from.buffer == buffer && RunsAhead(from.writer, carried);
          };
          if (absl::c_any_of(carried, ahead) || absl::c_none_of(Writers(p_, buffer), in_nest) ||
              KILN_DEFECT("pipeline.ahead"))
            continue;
          return No(absl::StrCat(who, ", but reads ", Name(buffer),
                                 ", which the same nest writes: it may be ahead of that"));
        }
      }
    }
    return absl::OkStatus();
  }

  static bool IsCarried(Id buffer, const std::vector<CarriedBuffer>& carried) {
    return absl::c_any_of(carried, [&](const CarriedBuffer& c) { return c.buffer == buffer; });
  }

  // True if the child is a producer or copies in bulk.
  bool RunsAhead(size_t child, const std::vector<CarriedBuffer>& carried) const {
    if (stages_[child].role == PipelineRole::kProducer) return true;
    return absl::c_any_of(carried, [&](const CarriedBuffer& c) {
      return c.writer == static_cast<int>(child) && absl::c_any_of(rings_, [&](const Ring& ring) {
               return ring.buffer == c.buffer && ring.transport == Transport::kBulk;
             });
    });
  }

  const Program& p_;
  Id loop_;
  std::vector<std::vector<Id>> children_;  // the blocks of each child
  absl::Span<const PipelineStage> stages_;
  absl::Span<const Ring> rings_;
};

}  // namespace

std::vector<CarriedBuffer> CarriedBuffers(const Program& program, Id loop) {
  std::vector<CarriedBuffer> carried;
  std::vector<std::vector<Id>> children;
  for (Id child = program.nodes[loop].first; child != kNone; child = program.nodes[child].next)
    children.push_back(BlocksOf(program, child));
  for (size_t c = 0; c < children.size(); ++c) {
    for (const Id block : children[c]) {
      for (const Id buffer : WrittenBuffers(program, block)) {
        const auto same = [&](const CarriedBuffer& other) { return other.buffer == buffer; };
        if (std::any_of(carried.begin(), carried.end(), same)) continue;
        CarriedBuffer next{buffer, static_cast<int>(c), {}};
        for (size_t reader = 0; reader < children.size(); ++reader) {
          const auto reads = [&](Id b) { return absl::c_linear_search(ReadBuffers(program, b), buffer); };
          if (reader != c && std::any_of(children[reader].begin(), children[reader].end(), reads))
            next.readers.push_back(static_cast<int>(reader));
        }
        if (!next.readers.empty()) carried.push_back(std::move(next));
      }
    }
  }
  return carried;
}

absl::Status CheckPipeline(const Program& program, Id loop) { return PipelineCheck(program, loop).Run(); }

}  // namespace kiln
