#include "search/features/gpu_access.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lang/analysis/annotations.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

constexpr int64_t kWordBytes = 4, kBanks = 32, kMaxWidth = 16;

// Returns the largest power of two that divides n.
int64_t LargestPowerOfTwo(int64_t n) { return n & -n; }

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Returns the value of a term of an index, scale * (loop / lower % extent), if the loop is in iteration `at`. An extent
// of 0 means no remainder.
int64_t ValueAt(const NestTerm& term, int64_t at) {
  const int64_t digit = at / term.lower;
  return term.scale * (term.extent == 0 ? digit : digit % term.extent);
}

// Returns the iteration in which thread number `t` runs a loop on a thread axis; 0 for any other loop.
int64_t IterationOf(LoopKind kind, int64_t t, const Threads& threads) {
  switch (kind) {
    case LoopKind::kThreadX:
      return t % threads.x;
    case LoopKind::kThreadY:
      return t / threads.x % threads.y;
    case LoopKind::kThreadZ:
      return t / threads.x / threads.y;
    default:
      return 0;
  }
}

// Returns the depth of the innermost vectorized loop with several iterations around a block; -1 if there is none.
int VectorizedDepth(const LoopNestSummary& nests, const NestBlock& block) {
  const auto path = nests.path(block);
  for (int d = block.depth; d-- > 0;)
    if (nests.loops()[path[d]].kind == LoopKind::kVectorized && nests.loops()[path[d]].extent > 1) return d;
  return -1;
}

// Returns the depth of the innermost loop, in the straight-line code around a block (unrolled loops, the last of them
// perhaps partly), along which the access moves by one element. Returns -1 if there is none.
int DepthOfNeighbours(const LoopNestSummary& nests, const NestBlock& block, const NestAccess& access) {
  const auto path = nests.path(block);
  for (int d = block.depth; d-- > 0;) {
    const NestLoop& loop = nests.loops()[path[d]];
    if (IsThreadAxis(loop.kind) || IsBlockAxis(loop.kind)) return -1;
    const int64_t steps = UnrolledSteps(nests, loop);
    if (steps > 1 && nests.Stride(access, d) == 1) return d;
    if (steps < loop.extent) return -1;
  }
  return -1;
}

// Returns the largest power of two up to 16 that divides all addresses of the access, in bytes, while the loop at depth
// `but` is in its first iteration. If the layout has a swizzle, returns at most the bytes that it keeps together: those
// whose addresses differ only in bits below the ones that it changes.
int64_t AlignmentOf(const LoopNestSummary& nests, const NestAccess& access, int64_t element, int but) {
  const Swizzle swizzle = nests.program().buffers[access.buffer].layout.swizzle;
  int64_t all = swizzle.bits > 0 ? std::gcd(kMaxWidth, element << swizzle.to) : kMaxWidth;
  for (const NestAxis& axis : nests.axes(access)) {
    all = std::gcd(all, axis.offset * axis.stride * element);
    for (const NestTerm& term : nests.terms(axis))
      if (nests.loops()[term.loop].depth != but) all = std::gcd(all, term.scale * axis.stride * element);
  }
  return std::abs(all);
}

}  // namespace

int64_t UnrolledSteps(const LoopNestSummary& nests, const NestLoop& loop) {
  if (loop.kind == LoopKind::kUnrolled) return loop.extent;
  if (loop.kind != LoopKind::kSerial) return 1;
  const Program& p = nests.program();
  return std::clamp<int64_t>(AnnotationOf(p, p.loop(loop.node).annotations, kUnrolledSteps), 1, loop.extent);
}

int WarpRequest::Sectors() const {
  std::array<int64_t, 2 * kWarpLanes> touched;
  size_t count = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    touched[count++] = FloorDiv(address[lane], kSectorBytes);
    touched[count++] = FloorDiv(address[lane] + width - 1, kSectorBytes);
  }
  std::sort(touched.begin(), touched.begin() + count);
  return static_cast<int>(std::unique(touched.begin(), touched.begin() + count) - touched.begin());
}

int WarpRequest::BankCycles() const {
  const int64_t words = std::max<int64_t>(1, width / kWordBytes);
  const int together = static_cast<int>(kWarpLanes / words);  // lanes that are served at once
  int cycles = 0;
  for (int first = 0; first < lanes; first += together) {
    std::array<int64_t, kWarpLanes> touched;
    size_t count = 0;
    for (int lane = first; lane < std::min(lanes, first + together); ++lane)
      for (int64_t word = 0; word < words; ++word)
        touched[count++] = FloorDiv(address[lane], kWordBytes) + word;
    std::sort(touched.begin(), touched.begin() + count);
    const auto end = std::unique(touched.begin(), touched.begin() + count);
    std::array<int, kBanks> of_bank = {};
    int most = 1;
    for (auto at = touched.begin(); at != end; ++at)
      most = std::max(most, ++of_bank[static_cast<uint64_t>(*at) % kBanks]);
    cycles += most;
  }
  return std::max(1, cycles);
}

WarpRequest RequestOf(const LoopNestSummary& nests, const NestBlock& block, const NestAccess& access,
                      const Threads& threads) {
  const Buffer& buffer = nests.program().buffers[access.buffer];
  const int64_t element = SizeOf(buffer.dtype);
  WarpRequest request{.width = element, .along = VectorizedDepth(nests, block)};
  const bool vectorized = request.along >= 0;
  if (!vectorized) request.along = DepthOfNeighbours(nests, block, access);
  if (request.along >= 0) {
    const NestLoop& loop = nests.loops()[nests.path(block)[request.along]];
    const int64_t stride = nests.Stride(access, request.along);
    const int64_t together = vectorized ? loop.extent : LargestPowerOfTwo(UnrolledSteps(nests, loop));
    if (stride == 1)
      request.width =
          std::max(element, std::min(together * element, AlignmentOf(nests, access, element, request.along)));
    if (stride != 0) request.pieces = (loop.extent * element + request.width - 1) / request.width;
  }
  std::array<int64_t, 3> extents = {1, 1, 1};  // of the block's loops on thread-x, thread-y, thread-z
  for (const int32_t loop : nests.path(block)) {
    const NestLoop& l = nests.loops()[loop];
    if (IsThreadAxis(l.kind))
      extents[static_cast<int>(l.kind) - static_cast<int>(LoopKind::kThreadX)] = l.extent;
  }
  const bool spread = threads.collective != Owner::kThread && extents[0] == 1;  // lanes share an instance
  for (int64_t t = 0; t < std::min<int64_t>(kWarpLanes, threads.Count()); ++t) {
    if (!spread && t % threads.x >= extents[0]) continue;
    if (t / threads.x % threads.y >= extents[1] || t / threads.x / threads.y >= extents[2]) continue;
    int64_t at = 0;
    for (const NestAxis& axis : nests.axes(access)) {
      int64_t index = axis.offset;
      for (const NestTerm& term : nests.terms(axis)) {
        const NestLoop& l = nests.loops()[term.loop];
        if (IsThreadAxis(l.kind)) index += ValueAt(term, IterationOf(l.kind, t, threads));
      }
      at += index * axis.stride;
    }
    if (spread) at += t % threads.x;
    request.address[request.lanes++] = Swizzled(buffer.layout.swizzle, std::max<int64_t>(0, at)) * element;
  }
  return request;
}

double BytesOf(const LoopNestSummary& nests, const NestAccess& access, absl::Span<const double> running) {
  const double element = static_cast<double>(SizeOf(nests.program().buffers[access.buffer].dtype));
  double rows = 1, run = 1,
         touched = 1;  // runs of elements, the elements from end to end of one, those it touches
  bool whole = true;   // all axes inside this one are touched from end to end
  const auto axes = nests.axes(access);
  for (size_t x = axes.size(); x-- > 0;) {
    const double size = static_cast<double>(std::max<int64_t>(1, axes[x].size));
    double reach = 0, count = 1;
    for (const NestTerm& term : nests.terms(axes[x])) {
      const double lower = static_cast<double>(term.lower);
      const double values = std::min(static_cast<double>(term.values),
                                     std::floor((running[nests.loops()[term.loop].depth] - 1) / lower) + 1);
      reach += std::abs(static_cast<double>(term.scale)) * (values - 1);
      count *= values;
    }
    const double span = std::min(1 + reach, size);
    count = std::min(count, span);
    if (whole) {
      run *= span;
      touched *= count;
    } else {
      rows *= count;
    }
    whole = whole && span == size;
  }
  constexpr double kSector = kSectorBytes;
  return rows * std::min(std::ceil(run * element / kSector), touched) * kSector;
}

}  // namespace kiln
