// Stream-Results: writes a large result with non-temporal stores, which bypass the caches. No line of the
// result is loaded before it is written, and the inputs stay in the caches.
//
//   for i: for j: C[i, j] = f(A[i, j])     ->     the same, annotated `stream`
//
// Applies to: results of the program that are stored once, that no block reads, and that are at least
// `caches` times as large as the L2 cache.
// Structure:  stream = no | yes
#include "absl/strings/str_cat.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/program/layout.h"
#include "modules/default_modules.h"
#include "modules/untouched.h"

namespace kiln {
namespace {

absl::Status CheckStreams(Schedule& s, Id block, int64_t caches) {
  const Program& p = s.program();
  const auto no = [&](const auto&... why) {
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), why...));
  };
  if (!WritesOutput(p, block) || p.block(block).monoid != kNone || !Consumers(p, block).empty())
    return no(" stores no last result, once");
  const Id buffer = WrittenBuffers(p, block)[0];
  const int64_t bytes = ElementsOf(p, buffer) * SizeOf(p.buffers[buffer].dtype),
                least = caches * s.target().l2_bytes;
  return bytes < least ? no(" stores ", bytes, " bytes, fewer than ", least) : CheckUntouched(p, block);
}

}  // namespace

BlockModule StreamResults(StreamResultsOptions options) {
  return {"stream-results", [options](Schedule& s, Block block) {
            if (!s.ok() || s.Declines(CheckStreams(s, s.node(block), options.caches))) return;
            if (s.Choose("stream", 2) == 1) s.Annotate(block, kStream, 1);
          }};
}

KILN_MODULE("stream-results", StreamResults, Option("caches", &StreamResultsOptions::caches, From(0)));

}  // namespace kiln
