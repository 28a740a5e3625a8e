// Lesson 4: a Trace is one straight-line execution of a space, as data. It can be printed, parsed and
// replayed. A mutation is a one-line diff, and log P is the log probability that the prior draws the trace.
#include <iostream>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "trace/replay.h"
#include "trace/text.h"

using namespace kiln;

namespace {

Program Scale() {
  Builder b("scale");
  const Id x = b.Input("X", DType::kF32, {96}), y = b.Output("Y", DType::kF32, {96});
  const IndexSum i = Builder::Iter(0);
  b.Compute("scale", {{"i", 96}}, {y, {i}}, b.Mul(b.Load(x, {i}), b.Float(DType::kF32, 2)));
  return b.Finish();
}

constexpr char kText[] =
    "kiln.trace v2\n"
    "b0 = get-block name=\"scale\"\n"
    "l0 = get-loops b0\n"
    "v0 = sample-perfect-tile l0 n=2 @tile -> 12 8\n"
    "l1, l2 = split l0 v0\n"
    "vectorize l2\n"
    "v1 = sample-categorical values=[0 16 64] @unroll -> 16\n"
    "unroll-up-to v1\n";

// Prints the decision of each site and its log probability.
void PrintSites(const Replayed& replayed) {
  for (size_t i = 0; i < replayed.sites.size(); ++i) {
    const ReplayedSite& site = replayed.sites[i];
    std::cout << absl::StrFormat("%-8s %-5s log p = %6.3f, one of %g\n", replayed.name(i),
                                 absl::StrJoin(site.decision, " "), site.log_prob,
                                 site.distribution.SupportSize());
  }
  std::cout << absl::StrFormat("%-14s log P = %6.3f\n\n", "the trace", replayed.LogProb());
}

}  // namespace

int main() {
  const Target target;
  auto trace = ParseTrace(kText);
  if (!trace.ok()) return std::cerr << trace.status() << "\n", 1;
  const Program original = Scale();
  const auto replayed = Replay(*trace, original, target);
  if (!replayed.ok()) return std::cerr << replayed.status() << "\n", 1;
  std::cout << ToString(replayed->program()) << "\n";
  PrintSites(*replayed);

  // Replays the trace with other decisions for its first site. A decision outside of the support is refused with the
  // reason.
  trace->steps[2].decision = {16, 6};
  std::cout << "16 x 6: " << (Replay(*trace, original, target).ok() ? "applies" : "does not apply") << "\n";
  trace->steps[2].decision = {16, 7};
  const absl::Status refused = Replay(*trace, original, target).status();
  std::cout << "16 x 7: " << refused.message() << "\n";
  return refused.code() == absl::StatusCode::kFailedPrecondition ? 0 : 1;
}
