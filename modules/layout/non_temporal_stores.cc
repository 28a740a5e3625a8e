// Non-Temporal-Stores: stores a large result with instructions that bypass the caches. With plain stores, each cache
// line of the result would be read before it is written, and would displace data that is read again.
//
//   for i: for j: C[i, j] = f(A[i, j])     ->     the same, annotated `stream`
//
// Applies to: unscheduled blocks, under Policy::kNonTemporalStores, that are no reductions and store a result of the
// program that no block reads and that is at least `l2-multiple` times as large as the L2 cache.
// Structure:  non-temporal = no | yes
#include "absl/strings/str_cat.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/program/layout.h"
#include "modules/default_modules.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

absl::Status CheckStreams(Schedule& s, Id block, int64_t l2_multiple) {
  const Program& p = s.program();
  const auto no = [&](const auto&... why) {
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), why...));
  };
  if (!WritesOutput(p, block) || p.block(block).monoid != kNone || !Consumers(p, block).empty())
    return no(" stores no last result, once");
  const Id buffer = WrittenBuffers(p, block)[0];
  const int64_t bytes = ElementsOf(p, buffer) * SizeOf(p.buffers[buffer].dtype),
                least = l2_multiple * s.target().l2_bytes;
  return bytes < least ? no(" stores ", bytes, " bytes, fewer than ", least) : CheckUnscheduled(p, block);
}

}  // namespace

BlockModule NonTemporalStores(NonTemporalStoresOptions options) {
  return {"non-temporal-stores", [options](Schedule& s, Block block) {
            if (!s.ok() || !s.target().policies.Has(Policy::kNonTemporalStores) ||
                s.Skip(CheckStreams(s, s.node(block), options.l2_multiple)))
              return;
            if (s.Choose("non-temporal", {"no", "yes"}) == 1) s.Annotate(block, kNonTemporal, 1);
          }};
}

KILN_MODULE("non-temporal-stores", NonTemporalStores,
            Option("l2-multiple", &NonTemporalStoresOptions::l2_multiple, From(0)));

}  // namespace kiln
