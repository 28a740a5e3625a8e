// Changes to programs that several primitives share. Callers check preconditions first, so nothing here
// fails.
#pragma once

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lang/analysis/region.h"
#include "lang/program/program.h"

namespace kiln {

// The expressions of a body with loads, indices and guards rewritten. `load` gives the replacement of a load
// (kNone: only its indices change); `iter` gives what an iter of the old body is in terms of the new body's
// iters.
class BodyRewriter {
 public:
  using LoadRule = std::function<Id(const Expr& load)>;
  using IterRule = std::function<Sum(int iter)>;
  // `extents` of the new iters, by position.
  BodyRewriter(Program& program, LoadRule load, IterRule iter, std::vector<int64_t> extents)
      : program_(program), load_(std::move(load)), iter_(std::move(iter)), extents_(std::move(extents)) {}

  // kNone if an index cannot be expressed. The pools may hold leftovers then; the tree is untouched.
  Id Expression(Id expr);
  Range Expressions(Range list);
  Id Index(Id mark);

 private:
  Id Rewrite(Id expr);
  std::optional<Range> Indices(Range marks);
  Program& program_;
  LoadRule load_;
  IterRule iter_;
  std::vector<int64_t> extents_;
  absl::flat_hash_map<Id, Id> known_;  // shared expressions are rewritten once, and stay shared
};

// True if every index of the expression (of a block with these iters) can be rewritten by `iter`.
bool CanSubstitute(const Program& program, Id expr, const BodyRewriter::IterRule& iter,
                   const std::vector<int64_t>& extents);

std::vector<int64_t> IterExtents(const Program& program, Id block);

// Removes a node and the loops around it that it leaves empty.
void RemoveWithEmptyLoops(Program& program, Id node);

// A nest of new loops, one per iter of `block`, ended by the block, whose bindings become ranges[i].base +
// loop. Detached; the outermost node.
Id NestOver(Program& program, Id block, const std::vector<DimRange>& ranges, bool tainted);
// The ranges of all iters whole.
std::vector<DimRange> WholeRanges(const Program& program, Id block);

// A mark that is the same as `mark` with live loops replaced
// (and definitions of dead loops followed and copied).
Id CloneMark(Program& program, Id mark, const std::function<Source(Id loop)>& replace);

// dest[i...] = source[i...] over the whole shape, as a detached block without loops; names it.
Id AddCopyBlock(Program& program, absl::string_view name, Id source, Id dest);

// The child of `ancestor` on the way to `node`.
Id ChildTowards(const Program& program, Id ancestor, Id node);

bool AnyTainted(const Program& program, Id from, Id to_excluded = kRoot);

}  // namespace kiln
