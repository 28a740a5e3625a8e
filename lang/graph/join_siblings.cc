#include "lang/graph/join_siblings.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"
#include "lang/graph/alike.h"
#include "lang/graph/constant_exprs.h"
#include "lang/program/layout.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// Blocks that can be joined to one: they differ only in constants that the iter number `iter` of each walks, and in the
// extent of this iter.
struct Stage {
  std::vector<Id> blocks = {};
  int iter = -1;
  std::vector<int64_t> extents = {};             // of that iter, by block
  int result_dim = -1;                           // of the results: where the iter walks
  std::map<Id, std::vector<Id>> constants = {};  // by constant of the first block: those of all blocks
  std::map<Id, int> constant_dims = {};  // by constant of the first block: the dimension that the iter walks
};

int64_t Total(const Stage& stage) {
  int64_t total = 0;
  for (const int64_t extent : stage.extents) total += extent;
  return total;
}

class Joiner {
 public:
  explicit Joiner(Program& program) : p_(program), constants_(program) {}

  int Run() {
    int count = 0;
    std::vector<Id> sums;
    for (const Id block : Blocks(p_)) {
      if (IsSimpleSum(p_, block)) sums.push_back(block);
    }
    for (size_t first = 0; first < sums.size(); ++first) {
      for (int iter = 0; p_.IsBlock(sums[first]) && iter < p_.block(sums[first]).iters.count; ++iter) {
        const Stage stage = SiblingsOf(sums, first, iter);
        if (stage.blocks.size() < 2 || !Join(stage)) continue;
        count += static_cast<int>(stage.blocks.size()) - 1;
        break;
      }
    }
    return count;
  }

 private:
  Stage SiblingsOf(const std::vector<Id>& sums, size_t first, int iter) const {
    Stage stage{.blocks = {sums[first]}, .iter = iter};
    for (size_t other = first + 1; other < sums.size(); ++other) {
      if (!p_.IsBlock(sums[other])) continue;
      Stage more = stage;
      more.blocks.push_back(sums[other]);
      if (Matches(more, {})) stage = more;
    }
    return stage;
  }

  // Returns the dimension of an access that the iter indexes alone, from its first to its last element. Returns -1 if
  // no dimension depends on the iter, and nullopt if it is used in another way.
  std::optional<int> DimOf(Id buffer, Range index, int iter, int64_t extent) const {
    int found = -1;
    for (int d = 0; d < index.count; ++d) {
      const IndexSum sum = p_.SumOf(p_.List(index)[d]);
      const bool uses = absl::c_any_of(sum.splits, [&](const IndexSplit& s) { return s.source.id == iter; });
      if (!uses) continue;
      const bool alone =
          sum == IndexSum::Of(Source::Iter(iter)) && p_.Dims(p_.buffers[buffer].shape)[d].Known() == extent;
      if (!alone || found >= 0) return std::nullopt;
      found = d;
    }
    return found;
  }

  // True if the last block of the stage differs from the first only in the constants that the stage's iter walks, and
  // in the extent of that iter. Then adds the block's extent and constants to the stage. `inputs` are the results of
  // the stage before, by block: each block may read its own.
  bool Matches(Stage& stage, const std::vector<Id>& inputs) const {
    const Id a = stage.blocks.front(), b = stage.blocks.back();
    const BlockNode &x = p_.block(a), &y = p_.block(b);
    if (x.iters.count != y.iters.count || stage.iter >= x.iters.count || x.monoid != y.monoid ||
        x.initial.count != y.initial.count)
      return false;
    for (int i = 0; i < x.iters.count; ++i) {
      const Iter &u = p_.Iters(x.iters)[i], &v = p_.Iters(y.iters)[i];
      if (u.kind != v.kind || (i != stage.iter && u.extent.Known() != v.extent.Known())) return false;
    }
    if (p_.Iters(x.iters)[stage.iter].kind != IterKind::kSpatial) return false;
    const int64_t extent_a = p_.Iters(x.iters)[stage.iter].extent.Known();
    const int64_t extent_b = p_.Iters(y.iters)[stage.iter].extent.Known();
    if (stage.extents.empty()) stage.extents.push_back(extent_a);
    stage.extents.push_back(extent_b);
    const Id to_a = ResultOf(p_, a), to_b = ResultOf(p_, b);
    const std::optional<int> dim = DimOf(to_a, ResultIndex(p_, a), stage.iter, extent_a);
    if (!dim.has_value() || *dim < 0 || DimOf(to_b, ResultIndex(p_, b), stage.iter, extent_b) != dim ||
        !SameIndex(p_, ResultIndex(p_, a), ResultIndex(p_, b)) || !SameShape(to_a, to_b, *dim))
      return false;
    stage.result_dim = *dim;
    const Id in_a = inputs.empty() ? kNone : inputs.front();
    const Id in_b = inputs.empty() ? kNone : inputs[stage.blocks.size() - 1];
    const bool same =
        SameExpr(p_.List(x.values)[0], p_.List(y.values)[0], stage, in_a, in_b) &&
        (x.initial.count == 0 || SameExpr(p_.List(x.initial)[0], p_.List(y.initial)[0], stage, in_a, in_b));
    return same && (!stage.constants.empty() || !inputs.empty());
  }

  bool SameShape(Id a, Id b, int except) const {
    const auto x = p_.Dims(p_.buffers[a].shape), y = p_.Dims(p_.buffers[b].shape);
    if (x.size() != y.size() || p_.buffers[a].dtype != p_.buffers[b].dtype) return false;
    for (size_t d = 0; d < x.size(); ++d) {
      if (static_cast<int>(d) != except && x[d].Known() != y[d].Known()) return false;
    }
    return true;
  }

  bool SameExpr(Id a, Id b, Stage& stage, Id in_a, Id in_b) const {
    const auto load = [&](const Expr& x, const Expr& y) { return SameLoad(x, y, stage, in_a, in_b); };
    const auto guard = [&](Range marks) { return !Uses(marks, stage.iter); };
    return kiln::SameExpr(p_, a, b, {load, guard});
  }

  bool Uses(Range marks, int iter) const {
    return absl::c_any_of(p_.List(marks), [&](Id mark) {
      return absl::c_any_of(p_.SumOf(mark).splits, [&](const IndexSplit& s) { return s.source.id == iter; });
    });
  }

  bool SameLoad(const Expr& x, const Expr& y, Stage& stage, Id in_a, Id in_b) const {
    const auto [a, index_a] = x.AsLoad();
    const auto [b, index_b] = y.AsLoad();
    if (!SameIndex(p_, index_a, index_b)) return false;
    if (!Uses(index_a, stage.iter)) return a == b;
    const std::optional<int> dim = DimOf(a, index_a, stage.iter, stage.extents.front());
    if (!dim.has_value() || DimOf(b, index_b, stage.iter, stage.extents.back()) != dim) return false;
    if (a == in_a) return b == in_b;
    if (!constants_.IsGiven(a) || !constants_.IsGiven(b) || !SameShape(a, b, *dim) ||
        LoadsOf(p_, stage.blocks.front(), a).size() != 1)
      return false;
    std::vector<Id>& list = stage.constants[a];
    if (list.empty()) list.push_back(a);
    if (list.size() + 1 == stage.blocks.size()) list.push_back(b);
    stage.constant_dims[a] = *dim;
    return list.size() == stage.blocks.size() && list.back() == b;
  }

  // Returns the stage of the stores that read the results of a stage, if each result has a store of its own as its only
  // reader. Returns an empty stage if no result has a store as its only reader, or if the first store reshapes. Returns
  // nullopt if only some results have one, if one store reads several results, if the stores differ in more than
  // constants, or if a reader gathers.
  std::optional<Stage> NextStage(const Stage& stage) const {
    Stage next;
    std::vector<Id> inputs;
    int stores = 0;
    for (const Id block : stage.blocks) {
      const Id result = ResultOf(p_, block);
      inputs.push_back(result);
      const std::vector<Id> readers = Readers(p_, result);
      for (const Id reader : readers) {
        if (GathersFrom(p_, reader, result)) return std::nullopt;
      }
      const bool is_store =
          readers.size() == 1 && IsSimpleStore(p_, readers[0]) && LoadsOf(p_, readers[0], result).size() == 1;
      stores += is_store ? 1 : 0;
      next.blocks.push_back(readers.empty() ? kNone : readers[0]);
    }
    if (stores == 0) return Stage{};
    if (stores < static_cast<int>(stage.blocks.size())) return std::nullopt;
    const Expr& read = p_.exprs[LoadsOf(p_, next.blocks[0], inputs[0])[0]];
    const std::optional<SimpleIndex> along =
        AsSimpleIndex(p_, p_.List(read.AsLoad().index)[stage.result_dim]);
    if (!along.has_value()) return Stage{};  // it reshapes
    const std::vector<Id> blocks = next.blocks;
    if (std::set<Id>(blocks.begin(), blocks.end()).size() != blocks.size()) return std::nullopt;
    next = {.blocks = {blocks[0]}, .iter = along->iter};
    for (size_t i = 1; i < blocks.size(); ++i) {
      next.blocks.push_back(blocks[i]);
      if (!Matches(next, inputs)) return std::nullopt;
    }
    return next;
  }

  JoinEstimate Estimate(const Stage& sums) const {
    JoinEstimate estimate;
    for (const Id block : sums.blocks) {
      estimate.AddSums(IterExtents(p_, block), 1);
      if (block == sums.blocks.front()) continue;
      estimate.SaveCalls(1);
      for (const Id b : ReadBuffers(p_, block)) {
        if (!constants_.IsConstant(b)) estimate.SaveReads(BytesOf(p_, b), 1);
      }
    }
    return estimate;
  }

  bool Join(const Stage& sums) {
    if (!Estimate(sums).Gains()) return false;
    std::vector<Stage> stages = {sums};
    while (true) {
      const std::optional<Stage> next = NextStage(stages.back());
      if (!next.has_value() && stages.size() == 1) return false;
      if (!next.has_value() || next->blocks.empty()) break;
      stages.push_back(*next);
    }
    const std::vector<Id> results = Results(stages.back());
    Id from = kNone, to = kNone;
    for (const Stage& stage : stages) {
      const Id result = ResultOf(p_, stage.blocks.front());
      to = Apply(stage, from, to);
      from = result;
    }
    ReadSlices(stages.back(), results, to);
    return true;
  }

  // Replaces the blocks of a stage by one block, which reads the joined constants, and the buffer `to` where the first
  // block read `from`. Returns the buffer that it writes.
  Id Apply(const Stage& stage, Id from, Id to) {
    const Id block = stage.blocks.front(), place = p_.AddLoop("place", Extent(1));
    std::map<Id, Id> now = {{from, to}};  // by buffer of the first block
    for (const auto& [constant, all] : stage.constants)
      now[constant] = JoinedConstant(all, stage.constant_dims.at(constant));
    p_.InsertBefore(ChildTowards(p_, kRoot, block), place);
    const Id joined = AddLike(ResultOf(p_, block), stage.result_dim, Total(stage), /*is_constant=*/false);
    std::vector<int64_t> extents = IterExtents(p_, block);
    extents[stage.iter] = Total(stage);
    BodyRewriter body(
        p_,
        [&](const Expr& e) {
          const auto [buffer, index] = e.AsLoad();
          const auto other = now.find(buffer);
          if (buffer == kNone || other == now.end()) return kNone;
          return p_.AddExpr(Expr::Load(e.dtype, other->second, IndexOf(other->second, index, {})));
        },
        [](int i) { return IndexSum::Of(Source::Iter(i)); }, extents);
    const BlockNode old = p_.block(block);
    const Range written = IndexOf(joined, ResultIndex(p_, block), {});
    BlockNode node = old;
    node.values = body.Expressions(old.values);
    if (old.initial.count != 0) node.initial = body.Expressions(old.initial);
    node.dests = {static_cast<int32_t>(p_.accesses.size()), 1};
    p_.accesses.push_back({joined, written});
    node.iters.begin = static_cast<int32_t>(p_.iters.size());
    for (int i = 0; i < old.iters.count; ++i) {
      Iter iter = p_.iters[old.iters.begin + i];
      iter.extent = Extent(extents[i]);
      p_.iters.push_back(iter);
    }
    for (const Id member : stage.blocks) {
      RemoveWithEmptyLoops(p_, member);
      if (member != block) p_.Kill(member);
    }
    p_.block(block) = node;
    p_.Replace(place, NestOver(p_, block, WholeRanges(p_, block), false));
    return joined;
  }

  std::vector<Id> Results(const Stage& stage) const {
    std::vector<Id> results;
    for (const Id block : stage.blocks) results.push_back(ResultOf(p_, block));
    return results;
  }

  // Makes all readers of the results read slices of the joined result.
  void ReadSlices(const Stage& stage, const std::vector<Id>& results, Id joined) {
    int64_t offset = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      for (const Id reader : Readers(p_, results[i])) {
        BodyRewriter body(
            p_,
            [&](const Expr& e) {
              const auto [buffer, index] = e.AsLoad();
              if (buffer != results[i]) return kNone;
              return p_.AddExpr(
                  Expr::Load(e.dtype, joined, IndexOf(joined, index, {stage.result_dim, offset})));
            },
            [](int n) { return IndexSum::Of(Source::Iter(n)); }, IterExtents(p_, reader));
        const Range values = body.Expressions(p_.block(reader).values);
        p_.block(reader).values = values;
        const Range initial = body.Expressions(p_.block(reader).initial);
        p_.block(reader).initial = initial;
      }
      offset += stage.extents[i];
    }
  }

  struct Shift {
    int dim = -1;
    int64_t offset = 0;
  };
  // Returns an index for another buffer: the given one, with a dimension shifted.
  Range IndexOf(Id buffer, Range index, Shift shift) {
    const auto shape = p_.Dims(p_.buffers[buffer].shape);
    std::vector<int32_t> marks;
    for (int d = 0; d < index.count; ++d) {
      IndexSum sum = p_.SumOf(p_.List(index)[d]);
      if (d == shift.dim) sum.offset += shift.offset;
      marks.push_back(p_.AddMark(sum, shape[d]));
    }
    return p_.AddList(marks);
  }

  Id AddLike(Id buffer, int dim, int64_t extent, bool is_constant) {
    const auto dims = p_.Dims(p_.buffers[buffer].shape);
    std::vector<Extent> shape(dims.begin(), dims.end());
    shape[dim] = Extent(extent);
    return constants_.Add(absl::StrCat(p_.Text(p_.buffers[buffer].name), ".joined"), p_.buffers[buffer].dtype,
                          shape, is_constant);
  }

  Id JoinedConstant(const std::vector<Id>& parts, int dim) {
    if (const auto known = joined_constants_.find({parts, dim}); known != joined_constants_.end())
      return known->second;
    int64_t total = 0;
    for (const Id part : parts) total += p_.Dims(p_.buffers[part].shape)[dim].Known();
    const Id joined = AddLike(parts.front(), dim, total, /*is_constant=*/true);
    const Id before = FirstUser(parts);
    int64_t offset = 0;
    for (const Id part : parts) {
      const auto dims = p_.Dims(p_.buffers[part].shape);
      const std::vector<Extent> shape(dims.begin(), dims.end());
      std::vector<IndexSum> read, written;
      for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
        read.push_back(IndexSum::Of(Source::Iter(d)));
        written.push_back(d == dim ? read.back() + IndexSum::Constant(offset) : read.back());
      }
      constants_.AddCopy("join", shape, part, read, joined, written, before);
      offset += shape[dim].Known();
    }
    return joined_constants_[{parts, dim}] = joined;
  }

  // Returns the first nest that reads one of the constants `parts` and does not itself compute constants; kNone if
  // there is none.
  Id FirstUser(const std::vector<Id>& parts) const {
    for (Id nest = p_.nodes[kRoot].first; nest != kNone; nest = p_.nodes[nest].next) {
      for (const Id block : BlocksOf(p_, nest)) {
        const bool reads = absl::c_any_of(parts, [&](Id b) { return Reads(p_, block, b); });
        if (reads && !constants_.IsConstant(ResultOf(p_, block))) return nest;
      }
    }
    return kNone;
  }

  Program& p_;
  ConstantBuffers constants_;
  std::map<std::pair<std::vector<Id>, int>, Id> joined_constants_;
};

}  // namespace

void JoinEstimate::AddSums(const std::vector<int64_t>& extents, double count) {
  constexpr double kFlopsPerCycle = 64;
  for (const int64_t extent : extents) count *= static_cast<double>(extent);
  all += 2 * count / kFlopsPerCycle;
}
void JoinEstimate::SaveCalls(double count) {
  constexpr double kCyclesOfACall = 300;
  saved += count * kCyclesOfACall;
}
void JoinEstimate::SaveReads(int64_t bytes, double count) {
  constexpr double kBytesPerCycle = 64, kNearBytes = 1 << 20;
  if (static_cast<double>(bytes) > kNearBytes) saved += count * static_cast<double>(bytes) / kBytesPerCycle;
}

int JoinSiblings(Program& program) { return Joiner(program).Run(); }

}  // namespace kiln
