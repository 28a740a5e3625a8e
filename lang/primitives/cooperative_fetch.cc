// cooperative-fetch
//
//   for a in 0..A: for b in 0..B: S[a, b] = X[a, b]
//   thread-y y in 0..Y: thread-x x in 0..T: .. S[..] ..
//   ->
//   for o: thread-y y in 0..Y: thread-x x in 0..T: vectorized v in 0..V: S[f / B, f % B] = X[f / B, f % B]
//   thread-y y in 0..Y: thread-x x in 0..T: .. S[..] ..
//   where f = ((o*Y + y)*T + x)*V + v
//
// The threads of the nest that reads S share the copy from X to S, each in vectors of V elements.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/schedule/nested.h"

namespace kiln {
namespace {

// Returns the serial, data-parallel loops around the block that contain nothing else, outermost first.
std::vector<Id> OwnLoops(const Program& p, Id block) {
  std::vector<Id> loops;
  for (Id at = block; p.IsLoop(p.nodes[at].parent); at = p.nodes[at].parent) {
    const Id loop = p.nodes[at].parent;
    if (p.nodes[loop].first != p.nodes[loop].last || p.loop(loop).kind != LoopKind::kSerial ||
        !p.loop(loop).extent.constant() || !CheckDataParallel(p, loop).ok())
      break;
    loops.insert(loops.begin(), loop);
  }
  return loops;
}

using Axes = std::map<LoopKind, int64_t, std::greater<>>;  // numbers of threads, in the order z, y, x

// Returns the largest divisor of n that is at most `most`.
int64_t LargestDivisor(int64_t n, int64_t most) {
  int64_t divisor = std::min(n, most);
  while (n % divisor != 0) --divisor;
  return divisor;
}

// Returns how many threads on each axis share `work` copies: on x, then y, then z, the largest divisor of what is left
// that the axis has threads for. If each thread would then have more than twice as many copies to make as with all
// threads, returns all threads of the nest; some have nothing to do in the last round.
Axes Sharing(const Threads& threads, int64_t work) {
  Axes all, some;
  if (threads.x > 1) all[LoopKind::kThreadX] = threads.x;
  if (threads.y > 1) all[LoopKind::kThreadY] = threads.y;
  if (threads.z > 1) all[LoopKind::kThreadZ] = threads.z;
  int64_t rest = work;
  for (auto axis = all.rbegin(); axis != all.rend(); ++axis) {
    const int64_t count = LargestDivisor(rest, axis->second);
    if (count > 1) some[axis->first] = count;
    rest /= count;
  }
  const int64_t rounds = (work + threads.Count() - 1) / threads.Count();
  return rest <= 2 * rounds ? some : all;
}

absl::Status CooperativeFetch(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  const int64_t vector = call.numbers(1)[0];
  if (vector < 1 || vector > 64)
    return absl::InvalidArgumentError(absl::StrCat("vectors have 1 .. 64 elements, not ", vector));
  if (p.block(block).monoid != kNone || p.nodes[block].first != kNone)
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " is not a plain store"));
  for (Id at = p.nodes[block].parent; at != kRoot; at = p.nodes[at].parent) {
    if (p.IsLoop(at) && IsThreadAxis(p.loop(at).kind)) {
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, block), " is spread over threads already, by ", Describe(p, at)));
    }
  }
  const std::vector<Id> own = OwnLoops(p, block);
  if (own.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " has no serial loop of its own whose iterations are independent"));
  }
  int64_t extent = 1;
  for (const Id loop : own) extent *= p.loop(loop).extent.Known();
  const int64_t lanes = extent % vector == 0 ? vector : 1;
  const Axes threads = Sharing(ThreadsOf(p, NestOf(p, block)), extent / lanes);

  const Program before = p;
  std::vector<Id> fused = own;
  if (own.size() > 1) {
    const absl::Status status = RunNested(call, "fuse", own, {}, {}, &fused);
    if (!status.ok()) return status;
  }
  std::vector<int64_t> factors{-1};
  for (const auto& [axis, count] : threads) factors.push_back(count);
  factors.push_back(lanes);
  std::vector<Id> parts;
  absl::Status status = RunNested(call, "split", fused, factors, {}, &parts);
  if (status.ok() && KILN_DEFECT("cooperative-fetch.short") && p.loop(parts[0]).extent.Known() > 1)
    p.loop(parts[0]).extent = p.loop(parts[0]).extent.Known() - 1;
  size_t part = 1;
  for (const auto& [axis, count] : threads) {
    if (status.ok())
      status = RunNested(call, "bind", {parts[part++]}, {}, {std::string(ToString(axis))}, nullptr);
  }
  if (status.ok() && lanes > 1 && CheckVectorizable(p, parts.back()).ok())
    p.loop(parts.back()).kind = LoopKind::kVectorized;
  if (status.ok()) status = CheckKeepsOwners(before, p);
  if (!status.ok()) p = before;
  return status;
}

const Primitive kCooperativeFetch{
    .name = "cooperative-fetch",
    .operands = {{"block", OperandKind::kBlock}, {"vector", OperandKind::kFactor}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Late. Distributes a plain store, usually a copy to shared memory, over the threads of the nest "
        "that uses it. Each thread copies `vector` elements at a time if that divides. Fuses the serial "
        "loops of the store, then splits and binds the result. Lanes of warps count as threads even if no "
        "loop is on thread-x. Of each axis, as many threads take part as divide the work, unless that "
        "more than doubles the rounds.\n"
        "for a in 0..A: for b in 0..B: S[a, b] = X[a, b]\n"
        "thread-x x in 0..T: Y[x] = g(S[x, ..])\n->\n"
        "for o: thread-x x in 0..T: vectorized v in 0..V: S[f / B, f % B] = X[f / B, f % B]\n"
        "thread-x x in 0..T: Y[x] = g(S[x, ..])\n"
        "where f = (o*T + x)*V + v\n"
        "Does not apply to a reduction, below a thread axis, or if the block has no serial loop of its "
        "own with independent iterations.",
    .apply = CooperativeFetch,
};
KILN_PRIMITIVE(kCooperativeFetch);

}  // namespace
}  // namespace kiln
