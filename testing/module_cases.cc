#include "testing/module_cases.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lang/base/check.h"
#include "lang/reference/shadow.h"
#include "lang/text/text.h"
#include "lang/verify/verify.h"
#include "modules/space.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

Enumeration EnumerationOf(absl::string_view space, const Program& program, const Target& target) {
  const auto parsed = ParseSpace(space);
  KILN_CHECK(parsed.ok(), parsed.status().ToString());
  auto enumeration = Enumerate(*parsed, program, target, {.space = std::string(space)});
  KILN_CHECK(enumeration.ok(), enumeration.status().ToString());
  return *std::move(enumeration);
}

}  // namespace

std::string SketchesText(absl::string_view space, const Program& program, const Target& target) {
  const Enumeration enumeration = EnumerationOf(space, program, target);
  std::string text = absl::StrCat("space: ", space, "\n", ToString(program));
  for (size_t i = 0; i < enumeration.sketches.size(); ++i) {
    const Sketch& sketch = enumeration.sketches[i];
    absl::StrAppend(&text, "\nsketch ", i + 1, " of ", enumeration.sketches.size(), "\n",
                    Print(sketch.trace));
    for (const SketchSite& site : sketch.sites)
      absl::StrAppend(&text, "site ", site.name, ": ", site.support, "\n");
  }
  for (const DroppedSequence& dropped : enumeration.dropped)
    absl::StrAppend(
        &text, "\ndropped: ",
        absl::string_view(dropped.reason.message()).substr(0, dropped.reason.message().find('\n')), "\n");
  if (!enumeration.declined.empty()) text += "\n";
  for (const auto& declined : enumeration.declined)
    absl::StrAppend(&text, "declined: ", declined.where, ": ", declined.why, "\n");
  return text;
}

void ExpectSketchesCompute(absl::string_view space, const Program& program, const Target& target, int draws) {
  const auto wanted = RunShadow(program);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  for (const Sketch& sketch : EnumerationOf(space, program, target).sketches) {
    int applied = 0;
    for (int draw = 0; draw < draws; ++draw) {
      RandomDice dice(Engine{static_cast<uint64_t>(draw)});
      RandomChooser chooser(dice);
      const auto replayed = Replay(sketch.trace, program, target, chooser);
      if (!replayed.ok() && absl::IsFailedPrecondition(replayed.status())) continue;
      ASSERT_TRUE(replayed.ok()) << replayed.status();
      ++applied;
      const absl::Status verified = Verify(replayed->program());
      const absl::Status same = CheckShadow(replayed->program(), *wanted);
      ASSERT_TRUE(verified.ok() && same.ok())
          << verified << same << "\n"
          << Print(WithDecisions(*replayed)) << ToString(replayed->program());
    }
    EXPECT_GT(applied, 0) << Print(sketch.trace);
  }
}

}  // namespace kiln
