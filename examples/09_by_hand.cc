// Lesson 9: kernels scheduled by hand (by_hand.h). A GEMM with a packed operand, convolutions in both layouts and a
// depthwise one, a dense layer with GELU, a softmax and a layer norm. The lesson turns the trace of each schedule into
// text and back and replays it. It measures the result and the unscheduled program on this machine, and fails if the
// result is not faster.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "backends/measure/measurer.h"
#include "examples/by_hand.h"
#include "lang/text/text.h"
#include "trace/replay.h"
#include "trace/text.h"

using namespace kiln;

namespace {

absl::Status Show(const by_hand::Lesson& lesson, CpuMeasurer& measurer) {
  const auto imported = ImportFile(lesson.file);
  if (!imported.ok()) return imported.status();
  const Program& original = imported->program;
  RandomDice dice(Engine{0});
  RandomChooser nobody(dice);
  Schedule s(original, measurer.target(), nobody);
  lesson.schedule(s);
  if (!s.ok()) return s.status();

  const auto trace = ParseTrace(Print(Trace::Of(s)));
  if (!trace.ok()) return trace.status();
  const auto replayed = Replay(*trace, original, measurer.target());
  if (!replayed.ok()) return replayed.status();
  if (ToString(replayed->program()) != ToString(s.program()))
    return absl::InternalError("replayed it is another program");

  const MeasureRequest requests[] = {{.original = &original, .scheduled = &original},
                                     {.original = &original, .scheduled = &replayed->program()}};
  const std::vector<MeasureResult> results = measurer.Measure(requests);
  for (const MeasureResult& result : results) {
    if (!result.ok()) return absl::InternalError(absl::StrCat(lesson.file, ": ", result.error));
  }
  const double plain = results[0].samples[0], by_hand = results[1].samples[0];
  std::cout << lesson.file << ": " << plain * 1e3 << " ms as it is, " << by_hand * 1e3 << " ms by hand, "
            << plain / by_hand << " times as fast\n";
  if (by_hand < plain) return absl::OkStatus();
  return absl::InternalError("by hand it is slower");
}

}  // namespace

int main() {
  auto measurer = CpuMeasurer::Start({.run_seconds = 60});  // one unscheduled program takes seconds
  if (!measurer.ok()) return std::cerr << measurer.status() << "\n", 1;
  for (const by_hand::Lesson& lesson : by_hand::kLessons) {
    if (const absl::Status shown = Show(lesson, *measurer); !shown.ok()) {
      std::cerr << lesson.file << ": " << shown << "\n";
      return 1;
    }
  }
}
