// Program changes that several primitives share. Callers check preconditions first, so these functions cannot
// fail.
#pragma once

#include <functional>
#include <vector>

#include "lang/analysis/region.h"
#include "lang/program/expr_copier.h"
#include "lang/program/program.h"

namespace kiln {

// Rewrites the expressions of a body with new loads, indices and guards. `load` returns the replacement of a
// load (kNone: only its indices change). `iter` returns an iter of the old body in terms of the new body's
// iters.
class BodyRewriter {
 public:
  using LoadRule = std::function<Id(const Expr& load)>;
  using IterRule = std::function<IndexSum(int iter)>;
  // Creates a rewriter with these rules. `extents` are those of the new iters, by position.
  BodyRewriter(Program& program, LoadRule load, IterRule iter, std::vector<int64_t> extents);
  BodyRewriter(const BodyRewriter&) = delete;

  // Rewrites an expression of the body. Returns kNone if an index cannot be expressed; the pools may then
  // contain unused entries, but the tree is unchanged.
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

// True if `iter` can rewrite every index of the expression, which belongs to a block with these iters.
bool CanSubstitute(const Program& program, Id expr, const BodyRewriter::IterRule& iter,
                   const std::vector<int64_t>& extents);

std::vector<int64_t> IterExtents(const Program& program, Id block);

// Removes a node, and the loops around it that become empty.
void RemoveWithEmptyLoops(Program& program, Id node);

// Builds a nest with one new loop for each iter of `block` and the block inside. The iters are bound to
// ranges[i].base + loop. Returns the outermost node, detached.
Id NestOver(Program& program, Id block, const std::vector<DimRange>& ranges, bool tainted);
// Returns the range of all values of each iter of the block.
std::vector<DimRange> WholeRanges(const Program& program, Id block);

// Copies a mark with its live loops replaced. Definitions of dead loops are followed and copied.
Id CloneMark(Program& program, Id mark, const std::function<Source(Id loop)>& replace);

// Adds the block dest[i...] = source[i...] over the whole shape, detached and without loops. Returns its node.
Id AddCopyBlock(Program& program, absl::string_view name, Id source, Id dest);

// Returns the child of `ancestor` that contains `node`. Aborts if there is none.
Id ChildTowards(const Program& program, Id ancestor, Id node);

bool AnyTainted(const Program& program, Id from, Id to_excluded = kRoot);

}  // namespace kiln
