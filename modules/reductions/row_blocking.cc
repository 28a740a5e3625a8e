// Row-Blocking: computes a few rows of a result together. At the end of a row, a tree combines the lanes; with several
// rows the CPU loads the next row while that tree runs.
//
//   for i: for k: S[i] sum= f(i, k);  for i: for j: C[i, j] = g(i, j, S[i])
//   ->
//   for i: for k: S[i] sum= f(i, k);  for i0: for i1: for j: C[2*i0 + i1, j] = g(i, j, S[2*i0 + i1])
//
// Row reductions may then be placed below i0 by random-compute-location.
//
// Applies to: results of the program, under Policy::kRowBlocking, whose blocks are unscheduled, have a loop, are no
// reductions, and read a row reduction with more than one result. Splits the outermost loop of the block.
// Structure:  none; one sampling site decides the number of rows, up to `max-rows`
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/program/layout.h"
#include "modules/default_modules.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

absl::Status CheckReadsRows(const Program& p, Id block) {
  const std::vector<Id> made = Producers(p, block);
  const bool reads = std::any_of(made.begin(), made.end(), [&](Id producer) {
    return IsContiguousReduction(p, producer) && ElementsOf(p, WrittenBuffers(p, producer)[0]) > 1;
  });
  return reads && WritesOutput(p, block) && p.block(block).monoid == kNone && !LoopsAround(p, block).empty()
             ? CheckUnscheduled(p, block)
             : absl::FailedPreconditionError(
                   absl::StrCat(Describe(p, block), " is not an output computed from reductions of rows"));
}

}  // namespace

BlockModule RowBlocking(RowBlockingOptions options) {
  return {"row-blocking", [options](Schedule& s, Block block) {
            if (!s.ok() || !s.target().policies.Has(Policy::kRowBlocking) ||
                s.Skip(CheckReadsRows(s.program(), s.node(block))))
              return;
            const Loop rows = s.GetLoops(block)[0];
            s.Split(rows, {s.SamplePerfectTile(rows, {.parts = 2, .innermost = options.max_rows}, "rows")});
          }};
}

KILN_MODULE("row-blocking", RowBlocking, Option("max-rows", &RowBlockingOptions::max_rows, From(1)));

}  // namespace kiln
