// Resolves the iters of a block to sums over the live loops. Splitting and fusing leave the bindings of iters as they
// are: they define each loop that they replace in terms of the new loops. Resolving follows these definitions,
// simplifies the result, and collects the conditions that are not proven to hold (guards).
#pragma once

#include <vector>

#include "lang/base/check.h"
#include "lang/program/program.h"

namespace kiln {

// A condition that may fail: 0 <= value < extent. A parametric extent is replaced by its upper bound, here
// and in Extents.
struct Guard {
  IndexSum value;
  int64_t extent = 0;
};

// Looks up the extents of live loops, of marks, and of the iters of `block` (kNone if no iters occur: then an iter
// aborts).
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

// Rewrites marks of one scope as sums over live loops and over the iters of the block around the scope. `guards`
// collects, once each, the marks on the way that are not proven to lie within their extents. If the index algebra
// cannot express a division, the result keeps Source::Mark for the dividend; Resolve of that mark gives the dividend's
// value.
class Resolver {
 public:
  // Creates a resolver for one scope: the enclosing block whose iters the bindings may use; kNone at the
  // root.
  explicit Resolver(const Program& program, Id scope = kNone) : program_(program), extents_(program, scope) {}

  IndexSum Resolve(Id mark, Interval* bounds = nullptr);
  // Returns the value of a source. The value of a live loop or an iter is the source itself. Dead loops and marks are
  // replaced by their definitions, with a guard for each definition that may leave its extent.
  IndexSum Resolve(Source source);
  // Returns the value of a mark, as Resolve does, and adds a guard unless the mark is proven to lie within its extent.
  // For marks that must lie within their extents for an instance to exist.
  IndexSum ResolveChecked(Id mark);

  const std::vector<Guard>& guards() const { return guards_; }
  const Extents& extents() const { return extents_; }

 private:
  Id Definition(Source source) const;
  const Program& program_;
  Extents extents_;
  std::vector<Guard> guards_;
};

// The iters of a block as sums over live loops, through the iters of enclosing blocks. `guards` are the conditions
// under which an instance exists, without those that are proven to hold. They include domain marks and the guards of
// enclosing blocks. ResolveBindings is most of the cost of a region analysis: call it once and reuse the result.
struct Bindings {
  Id block = kNone;
  std::vector<IndexSum> iters;
  std::vector<Guard> guards;
};
Bindings ResolveBindings(const Program& program, Id block);

// Returns by how much a mark over the iters of a block (kNone: over loops alone) changes from one iteration of a live
// loop to the next while all other loops are fixed. Does not resolve the mark: returns nullopt if a division or a
// remainder applies to something that changes.
std::optional<int64_t> StepOf(const Program& program, Id block, Id mark, Id loop);

// Returns the innermost block around a node, the node itself excluded; kNone if there is none.
Id EnclosingBlock(const Program& program, Id node);

// Returns the loops around a node, including those around its enclosing blocks, outermost first.
std::vector<Id> LoopsAround(const Program& program, Id node);

// Returns, for each loop of LoopsAround(block), in that order, true if it feeds an iter of the given kind. Does not
// simplify: a loop that results from fusing and splitting feeds all iters that the fused loop fed.
std::vector<bool> Feeds(const Program& program, Id block, IterKind kind);

}  // namespace kiln
