#include "validator/proof/versions.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "lang/program/expr_copier.h"
#include "validator/proof/pairs.h"

namespace kiln::proof {
namespace {

constexpr int kMaxCopies = 16;  // on the way from a store to the block that computes the value

Finding Unknown(std::string why) { return {Answer::kUnknown, std::move(why), {}}; }

// An access of a buffer. A gather may access any element.
struct Use {
  Id block = kNone;
  Range index;
  bool gathers = false, writes = false;
  int version = 0;
};

// Returns the accesses of each buffer, in program order; a block's reads come before its writes.
std::vector<std::vector<Use>> UsesOf(const Spaces& spaces) {
  const Program& p = spaces.program();
  std::vector<std::vector<Use>> uses(p.buffers.size());
  for (const Id block : spaces.blocks()) {
    const BlockNode& b = p.block(block);
    std::vector<Id> work;
    for (const Range list : {b.values, b.initial})
      work.insert(work.end(), p.List(list).begin(), p.List(list).end());
    while (!work.empty()) {
      const Expr& e = p.exprs[work.back()];
      work.pop_back();
      if (e.op == Op::kLoad) {
        uses[e.AsLoad().buffer].push_back({block, e.AsLoad().index});
        continue;
      }
      if (e.op == Op::kGather) uses[e.AsGather().buffer].push_back({block, {}, true});
      work.insert(work.end(), e.Operands().begin(), e.Operands().end());
    }
    for (const Access& dest : p.Accesses(b.dests))
      uses[dest.buffer].push_back({block, dest.index, false, true});
  }
  return uses;
}

// Returns an access as a relation from the instances of its block to the iterations of the first `loops` loops around
// the block, followed by the element. For a gather, or an index that cannot be expressed, the element is any of the
// buffer.
Relation Touched(const Spaces& spaces, const Use& use, Id buffer, size_t loops) {
  const Program& p = spaces.program();
  const Space& space = spaces.of(use.block);
  Relation relation{space.points, {space.at.begin(), space.at.begin() + static_cast<int64_t>(loops)}};
  auto index = use.gathers ? std::nullopt : IndicesAt(p, use.block, use.index, relation.points, space.iters);
  if (!index.has_value()) {
    index.emplace();
    for (const Extent& e : p.Dims(p.buffers[buffer].shape)) index->push_back(relation.points.Add(e.Known()));
  }
  relation.results.insert(relation.results.end(), index->begin(), index->end());
  return relation;
}

// The versions of each buffer of one program: a version ends where a store overwrites all its elements after a read.
class Versions {
 public:
  Versions(Decider& decider, const Program& program)
      : decider_(decider), p_(program), spaces_(program), uses_(UsesOf(spaces_)) {}

  // Finds the versions in the original program. Returns, for each buffer that has several versions, the version that
  // each writer stores.
  std::map<Id, std::map<Id, int>> Find() {
    std::map<Id, std::map<Id, int>> versions;
    for (Id buffer = 0; buffer < static_cast<Id>(uses_.size()); ++buffer) {
      std::vector<const Use*> own;  // writers of the current version
      bool read = false;
      int version = 0;
      std::map<Id, int> writers;
      for (const Use& use : uses_[buffer]) {
        read |= !use.writes && !own.empty();
        if (!use.writes) continue;
        if (read && !p_.block(use.block).accumulates && Covers(buffer, own, {&use})) {
          ++version;
          own.clear();
        }
        read = false;
        own.push_back(&use);
        writers[use.block] = version;
      }
      if (version > 0) versions[buffer] = writers;
    }
    return versions;
  }

  // Assigns each access the version of the buffer that it reads or writes, following the original's versions, and
  // proves that versions do not overlap in time. `original` says whether this program is the original.
  Finding Check(const std::map<Id, std::map<Id, int>>& versions, bool original) {
    for (const auto& [buffer, writers] : versions) {
      int last = -1, most = 0;
      for (const auto& [block, version] : writers) most = std::max(most, version);
      for (Use& use : uses_[buffer]) {
        use.version = !use.writes ? last
                      : original  ? writers.at(use.block)
                                  : VersionOf(use.block, writers, kMaxCopies);
        if (use.version < 0) return Unknown(absl::StrCat("a version of ", Name(buffer), " is not known"));
        if (use.writes) last = use.version;
      }
      Finding finding = Apart(buffer, most);
      if (finding.answer != Answer::kYes) return finding;
    }
    return {};
  }

  // Returns the program with a buffer of its own for each version. `names` maps a buffer of the original and a version
  // to the new buffer; a version without a name keeps its buffer. New buffers come after the first `shared` ones, the
  // original's. A version whose memory iterations share becomes an output.
  Program Rename(const std::map<std::pair<Id, int>, Id>& names, Id shared) const {
    Program now = p_;
    const auto more = static_cast<Id>(names.size());
    std::vector<Buffer> made(names.size());
    for (const auto& [version, name] : names) made[name - shared] = p_.buffers[version.first];
    for (const auto& version : shared_memory_) {  // only temporaries can be private to iterations
      const auto name = names.find(version);
      (name == names.end() ? now.buffers[version.first] : made[name->second - shared]).role = Role::kOutput;
    }
    now.buffers.insert(now.buffers.begin() + shared, made.begin(), made.end());
    const auto moved = [&](Id buffer) { return buffer < shared ? buffer : buffer + more; };
    for (Ring& ring : now.rings) ring.buffer = moved(ring.buffer);
    std::map<std::vector<int32_t>, Range> lists;
    for (const Id block : spaces_.blocks()) {
      const auto named = [&](Id buffer, bool writes) {
        for (const Use& use : uses_[buffer]) {
          if (use.block != block || use.writes != writes) continue;
          const auto name = names.find({buffer, use.version});
          if (name != names.end()) return name->second;
        }
        return moved(buffer);
      };
      ExprCopier copier(now, now, {.buffer = [&](Id buffer) { return named(buffer, false); }});
      const auto renamed = [&](Range list) {
        std::vector<int32_t> exprs;
        for (const Id expr : p_.List(list)) exprs.push_back(copier.Copy(expr));
        const auto [known, fresh] = lists.try_emplace(exprs);
        if (fresh) known->second = now.AddList(exprs);
        return known->second;
      };
      const BlockNode old = p_.block(block);
      const Range values = renamed(old.values), initial = renamed(old.initial);
      const Range dests{static_cast<int32_t>(now.accesses.size()), old.dests.count};
      for (const Access& dest : p_.Accesses(old.dests))
        now.accesses.push_back({named(dest.buffer, true), dest.index});
      BlockNode& b = now.block(block);
      b.values = values;
      b.initial = old.initial.count == 0 ? old.initial : initial;
      b.dests = dests;
      if (b.provenance.kind == Provenance::Kind::kCopy) b.provenance.origin = moved(b.provenance.origin);
    }
    return now;
  }

 private:
  absl::string_view Name(Id buffer) const { return p_.Text(p_.buffers[buffer].name); }

  bool Covers(Id buffer, const std::vector<const Use*>& covered, const std::vector<const Use*>& covering) {
    std::vector<Relation> by;
    for (const Use* use : covering) by.push_back(Touched(spaces_, *use, buffer, 0));
    return std::all_of(covered.begin(), covered.end(), [&](const Use* use) {
      return decider_.Covers(Touched(spaces_, *use, buffer, 0), by).answer == Answer::kYes;
    });
  }

  // Returns the version that a block writes: that of the block that it comes from or, for a copy, of the block that
  // wrote the copied data. Returns -1 if it is not known.
  int VersionOf(Id block, const std::map<Id, int>& writers, int copies) const {
    const Provenance& from = p_.block(block).provenance;
    if (from.kind != Provenance::Kind::kCopy) {
      const auto known = writers.find(from.origin);
      return known == writers.end() ? -1 : known->second;
    }
    for (const Use& use : uses_[from.origin]) {
      if (use.writes && use.block != block && copies > 0) return VersionOf(use.block, writers, copies - 1);
    }
    return -1;
  }

  // Proves that all accesses of one version of a buffer come before the stores of later versions, element by element.
  // Also requires that the last version of a result writes all elements that earlier ones write. Fails for a buffer in
  // a ring. Records the versions whose memory iterations share (shared_memory_).
  Finding Apart(Id buffer, int last) {
    const bool result = p_.buffers[buffer].role != Role::kTemporary;
    const auto rings = [&](const Ring& ring) { return ring.buffer == buffer; };
    if (std::any_of(p_.rings.begin(), p_.rings.end(), rings))
      return Unknown(absl::StrCat("versions of ", Name(buffer), " share a ring"));
    std::vector<const Use*> final;
    for (const Use& use : uses_[buffer]) {
      if (use.writes && use.version == last) final.push_back(&use);
    }
    for (const Use& use : uses_[buffer]) {
      if (result && use.writes && use.version < last && !Covers(buffer, {&use}, final))
        return Unknown(absl::StrCat("a version of ", Name(buffer), " is not written anew"));
      if (SharesMemory(buffer, use)) shared_memory_.insert({buffer, use.version});
      for (const Use& later : uses_[buffer]) {
        if (!later.writes || use.version >= later.version) continue;
        Finding finding = Before(buffer, use, later);
        if (finding.answer != Answer::kYes) return finding;
      }
    }
    return {};
  }

  // True if iterations that run at once access this version of the buffer although a block outside their loop uses the
  // buffer. All iterations then share the version's memory.
  bool SharesMemory(Id buffer, const Use& use) const {
    for (const Id loop : spaces_.of(use.block).loops) {
      if (!MayRunAtOnce(p_.loop(loop).kind)) continue;
      const auto outside = [&](const Use& other) { return !Below(loop, other.block); };
      if (std::any_of(uses_[buffer].begin(), uses_[buffer].end(), outside)) return true;
    }
    return false;
  }

  bool Below(Id node, Id block) const {
    return spaces_.place(node).begin <= spaces_.place(block).begin &&
           spaces_.place(block).begin < spaces_.place(node).end;
  }

  Finding Before(Id buffer, const Use& use, const Use& later) {
    const size_t common = spaces_.Common(use.block, later.block);
    const std::vector<Id>& loops = spaces_.of(use.block).loops;
    const Finding mixed = Unknown(absl::StrCat("versions of ", Name(buffer), " are not proven to be apart"));
    // Gives up if stores of the later version may begin before the use: a reduction begins to store when its loop is
    // entered, and children of a pipelined loop overlap.
    const Id start = p_.block(later.block).monoid == kNone ? kNone : spaces_.StartOf(later.block);
    if (start != kNone && Below(start, use.block)) return mixed;
    if (common > 0 && use.block != later.block && p_.loop(loops[common - 1]).kind == LoopKind::kPipelined)
      return mixed;
    Pairs pairs(Touched(spaces_, use, buffer, common), Touched(spaces_, later, buffer, common), common);
    for (size_t l = 0; l < common; ++l) {
      const LoopNode& loop = p_.loop(loops[l]);
      const bool at_once = MayRunAtOnce(loop.kind);
      const bool own = at_once && p_.buffers[buffer].role == Role::kTemporary &&
                       std::all_of(uses_[buffer].begin(), uses_[buffer].end(),
                                   [&](const Use& other) { return Below(loops[l], other.block); });
      if (!own && decider_.Empty(pairs.Earlier(l, loop.extent.Known())).answer != Answer::kYes) return mixed;
      if (!own && at_once && decider_.Empty(pairs.Later(l, loop.extent.Known())).answer != Answer::kYes)
        return mixed;
      pairs.Equate(l);
    }
    const bool after = use.block == later.block ? !use.writes : spaces_.Before(use.block, later.block);
    return after || decider_.Empty(pairs.points()).answer == Answer::kYes ? Finding() : mixed;
  }

  Decider& decider_;
  const Program& p_;
  const Spaces spaces_;
  std::vector<std::vector<Use>> uses_;
  std::set<std::pair<Id, int>> shared_memory_;  // (buffer, version)
};

}  // namespace

bool MayWriteAnew(const Program& original) {
  std::vector<int> writers(original.buffers.size(), 0);
  for (const Node& node : original.nodes) {
    if (node.kind != Node::Kind::kBlock) continue;
    for (const Access& dest : original.Accesses(original.blocks[node.index].dests)) ++writers[dest.buffer];
  }
  return std::any_of(writers.begin(), writers.end(), [](int count) { return count > 1; });
}

Finding SeparateVersions(Decider& decider, Program& original, Program& scheduled) {
  Versions first(decider, original), second(decider, scheduled);
  const std::map<Id, std::map<Id, int>> versions = first.Find();
  if (versions.empty()) return {};
  Finding finding = first.Check(versions, true);
  if (finding.answer == Answer::kYes) finding = second.Check(versions, false);
  if (finding.answer != Answer::kYes) return finding;
  const auto shared = static_cast<Id>(original.buffers.size());
  std::map<std::pair<Id, int>, Id> names;
  for (const auto& [buffer, writers] : versions) {
    int last = 0;
    for (const auto& [block, version] : writers) last = std::max(last, version);
    for (int version = 0; version < last; ++version)
      names[{buffer, version}] = shared + static_cast<Id>(names.size());
  }
  Program one = first.Rename(names, shared), other = second.Rename(names, shared);
  original = std::move(one);
  scheduled = std::move(other);
  return {};
}

}  // namespace kiln::proof
