// Changes of programs that several primitives share: copies of bodies with other iters and loads, nests around blocks,
// copies of marks, removal of nodes. Callers check preconditions first, so these functions return no errors.
#pragma once

#include <functional>
#include <vector>

#include "lang/analysis/region.h"
#include "lang/program/expr_copier.h"
#include "lang/program/program.h"

namespace kiln {

// Copies expressions of a body with new loads, indices and guards. `load` returns what replaces a load; if it returns
// kNone, only the indices of the load change. `iter` returns an iter of the old body as a sum over the new body's
// iters.
class BodyRewriter {
 public:
  using LoadRule = std::function<Id(const Expr& load)>;
  using IterRule = std::function<IndexSum(int iter)>;
  // Creates a rewriter with the rules `load` and `iter`. `extents` are those of the new body's iters, by position.
  BodyRewriter(Program& program, LoadRule load, IterRule iter, std::vector<int64_t> extents);
  BodyRewriter(const BodyRewriter&) = delete;

  // Returns the rewritten copy of an expression. Returns kNone if an index cannot be expressed in the new iters; the
  // program's pools may then contain unused entries, but its tree is unchanged.
  Id Expression(Id expr) { return copier_.Copy(expr); }
  Range Expressions(Range list) { return copier_.Copy(list); }
  Id Index(Id mark);

 private:
  Program& program_;
  LoadRule load_;
  IterRule iter_;
  std::vector<int64_t> extents_;
  ExprCopier copier_;
};

// True if every index and bound in the expression can be expressed when `iter` replaces the iters of its block.
// `extents` are those of the iters in which the results of `iter` are written.
bool CanSubstitute(const Program& program, Id expr, const BodyRewriter::IterRule& iter,
                   const std::vector<int64_t>& extents);

std::vector<int64_t> IterExtents(const Program& program, Id block);

// Detaches a node from the tree, and kills the loops around it that become empty.
void RemoveWithEmptyLoops(Program& program, Id node);

// Builds a nest around `block` with one new loop for each of its iters, and binds iter i to ranges[i].base + loop i.
// The loop has ranges[i].extent iterations. Returns the outermost node, detached.
Id NestOver(Program& program, Id block, const std::vector<DimRange>& ranges, bool tainted);
// Returns the range 0 .. extent-1 for each iter of the block.
std::vector<DimRange> WholeRanges(const Program& program, Id block);

// Copies a mark (an index value, lang/program/nodes.h) with each live loop in it replaced. A loop that was split or
// fused is dead; its definition is copied in the same way.
Id CloneMark(Program& program, Id mark, const std::function<Source(Id loop)>& replace);

// Adds the block dest[i...] = source[i...] over the whole shape, detached and without loops. Returns its node.
Id AddCopyBlock(Program& program, absl::string_view name, Id source, Id dest);

// Returns the child of `ancestor` that contains `node`. Aborts if there is none.
Id ChildTowards(const Program& program, Id ancestor, Id node);

bool AnyTainted(const Program& program, Id from, Id to_excluded = kRoot);

}  // namespace kiln
