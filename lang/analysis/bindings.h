// Resolves the iters of a block to sums over the loops that run now. Splitting and fusing leave bindings
// alone, and give the replaced loops a definition. Resolving follows the definitions and simplifies.
#pragma once

#include <vector>

#include "lang/base/check.h"
#include "lang/program/program.h"

namespace kiln {

// A condition that is not always true: 0 <= value < extent. An extent that is a parameter counts as its upper
// bound, here and in Extents.
struct Guard {
  Sum value;
  int64_t extent = 0;
};

// Extents of live loops, of iters of `block` (kIter; pass kNone where none occur), and of marks.
class Extents {
 public:
  explicit Extents(const Program& program, Id block = kNone) : program_(program), block_(block) {}
  int64_t operator()(Source source) const {
    if (source.kind == Source::Kind::kLoop) return program_.loop(source.id).extent.UpperBound();
    if (source.kind == Source::Kind::kMark) return program_.marks[source.id].extent.UpperBound();
    KILN_CHECK(block_ != kNone, "an iter outside of any block");
    return program_.Iters(program_.block(block_).iters)[source.id].extent.UpperBound();
  }

 private:
  const Program& program_;
  Id block_;
};

// Resolves marks of one scope; `guards` collects (once each) the marks on the way that are not proven to lie
// in their extents. Where the algebra cannot express a division, the result keeps Source::Mark for the mark
// divided, whose own value is Resolve of it.
class Resolver {
 public:
  // `scope`: the enclosing block whose iters bindings may use, kNone at the root.
  explicit Resolver(const Program& program, Id scope = kNone) : program_(program), extents_(program, scope) {}

  Sum Resolve(Id mark, Interval* bounds = nullptr);
  // What a source stands for: a live loop or an iter itself, a dead loop's definition, a mark's value.
  Sum Resolve(Source source);
  // Resolve for a mark that must lie in its extent for an instance to exist.
  Sum ResolveChecked(Id mark);

  const std::vector<Guard>& guards() const { return guards_; }
  const Extents& extents() const { return extents_; }

 private:
  Id Definition(Source source) const;
  const Program& program_;
  Extents extents_;
  std::vector<Guard> guards_;
};

// The iters of a block as sums over live loops, through the iters of the blocks around it, and the guards of
// its existence, domain marks and those of the blocks around it included. Making them is most of what an
// analysis of regions costs: ask once.
struct Bindings {
  Id block = kNone;
  std::vector<Sum> iters;
  std::vector<Guard> guards;
};
Bindings ResolveBindings(const Program& program, Id block);

// How far a mark over the iters of a block (kNone: over loops alone) moves from one iteration of a live loop
// to the next, all others standing still; nullopt where that is not seen without resolving.
std::optional<int64_t> StepOf(const Program& program, Id block, Id mark, Id loop);

// The innermost block around a node, or kNone.
Id EnclosingBlock(const Program& program, Id node);

// The loops around a node, those around its enclosing blocks included, outermost first.
std::vector<Id> LoopsAround(const Program& program, Id node);

// The live loops that feed the iters of a kind, as flags by node id of `LoopsAround(block)` order.
std::vector<bool> Feeds(const Program& program, Id block, IterKind kind);

}  // namespace kiln
