// Pad-For-Threads: pads extents of a contraction that have few divisors, so that more tiles divide them.
//
//   for i < 197: for j < 64: for k < 64: C[i, j] sum= A[i, k] * B[k, j]
//   ->
//   for i < 200: for k < 64: A.pad[i, k] = (i < 197 ? A[i, k] : 0)
//   for i < 200: for j < 64: for k < 64: C.pad[i, j] sum= A.pad[i, k] * B[k, j]
//   for i < 197: for j < 64: C[i, j] = C.pad[i, j]
//
// It comes before tile-for-threads, which makes the padded copies where it loads operands, and crops the result where
// it stores sums.
//
// Applies to: unscheduled contractions, on GPUs, that initialize their result and whose reads are at iters. Pads each
// extent up to 65536 with fewer than six divisors if a multiple of 4, at most 12.5% longer, has at least twice as many
// divisors. Declines if there is no such extent. Structure: pad = no | yes
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/placement.h"
#include "modules/gpu/gpu.h"
#include "modules/module.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

constexpr int64_t kFew = 6;             // extents with fewer divisors may be padded
constexpr int64_t kWaste = 8;           // by at most the extent / kWaste
constexpr int64_t kMultiple = 4;        // to a multiple of this number, for vectors
constexpr int64_t kLargest = 64 << 10;  // longer extents are not padded

int64_t DivisorsOf(int64_t n) {
  int64_t divisors = 0;
  for (int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) divisors += d * d == n ? 1 : 2;
  return divisors;
}

// Returns the least padded extent that has at least twice as many divisors as the extent, and at least half as many as
// every other candidate. Candidates are multiples of 4 that are at most 12.5% longer. Returns the extent itself if
// there is none, or if the extent has at least six divisors or is longer than 65536.
int64_t Padded(int64_t extent) {
  const int64_t own = DivisorsOf(extent), last = extent + extent / kWaste;
  if (own >= kFew || extent > kLargest) return extent;
  const int64_t first = (extent / kMultiple + 1) * kMultiple;
  int64_t best = 0;
  for (int64_t n = first; n <= last; n += kMultiple) best = std::max(best, DivisorsOf(n));
  for (int64_t n = first; n <= last; n += kMultiple)
    if (DivisorsOf(n) >= std::max(2 * own, (best + 1) / 2)) return n;
  return extent;
}

}  // namespace

void PadForThreads(Schedule& s, Block block) {
  if (!s.ok() || s.target().gpu == nullptr || s.Skip(CheckReduces(s.program(), s.node(block))) ||
      s.Skip(CheckReadsAtIters(s.program(), s.node(block))))
    return;
  const Program& p = s.program();
  std::vector<int64_t> multiples;
  for (const Iter& iter : p.Iters(p.block(s.node(block)).iters)) {
    const int64_t extent = iter.extent.Known(), padded = Padded(extent);
    multiples.push_back(padded == extent ? 1 : padded);
  }
  if (s.Skip(absl::c_all_of(multiples, [](int64_t m) { return m == 1; })
                 ? absl::FailedPreconditionError(absl::StrCat(
                       Describe(p, s.node(block)), " has no extent that padding gives many divisors"))
                 : absl::OkStatus()))
    return;
  if (s.Choose("pad", {"no", "yes"}) == 1) s.PadEinsum(block, multiples);
}

KILN_MODULE("pad-for-threads", PadForThreads);

}  // namespace kiln
