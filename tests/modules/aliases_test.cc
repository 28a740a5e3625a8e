// Tests names that Kiln has changed (lang/base/aliases.h): old names are accepted, new names are printed, and
// hashes and columns of features stay as they were.
#include "lang/base/aliases.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lang/schedule/primitive.h"
#include "modules/default_modules.h"
#include "modules/space.h"
#include "testing/softmax.h"
#include "trace/enumerate.h"
#include "trace/text.h"

namespace kiln {
namespace {

// Returns the traces of the sketches that a space string generates, or the reason why it is refused.
std::string SketchesOf(const std::string& text) {
  const auto space = ParseSpace(text);
  if (!space.ok()) return std::string(space.status().message());
  const auto found = Enumerate(*space, Softmax(4, 16), Target());
  if (!found.ok()) return std::string(found.status().message());
  std::string traces;
  for (const Sketch& sketch : found->sketches) absl::StrAppend(&traces, Print(sketch.trace));
  return traces;
}

std::string Reprinted(const std::string& trace) {
  const auto parsed = ParseTrace(trace);
  return parsed.ok() ? Print(*parsed) : std::string(parsed.status().message());
}

// Returns the line of a trace that records the choice `name` of a module.
std::string ChoiceLine(absl::string_view module, absl::string_view name) {
  return absl::StrCat("choice \"cpu/", module, "/block/", name, "\" 1 of 2\n");
}

TEST(Aliases, OldNamesAreAcceptedAndNewOnesPrinted) {
  for (const Alias& alias : Aliases()) {
    SCOPED_TRACE(alias.old_name);
    const std::string before(alias.old_name), now(alias.name), module(alias.module);
    switch (alias.kind) {
      case NameKind::kPrimitive:
        ASSERT_NE(FindPrimitive(now), nullptr);
        EXPECT_EQ(FindPrimitive(before), FindPrimitive(now));
        EXPECT_EQ(FindPrimitive(now)->name, now);
        break;
      case NameKind::kChoice:
        EXPECT_EQ(Reprinted(absl::StrCat("kiln.trace v1\n", ChoiceLine(module, before))),
                  absl::StrCat("kiln.trace v2\n", ChoiceLine(module, now)));
        break;
      case NameKind::kModule:
        ASSERT_NE(FindModule(now), nullptr);
        EXPECT_EQ(FindModule(before), FindModule(now));
        EXPECT_EQ(Reprinted(absl::StrCat("kiln.trace v1\n", ChoiceLine(before, "choice"))),
                  absl::StrCat("kiln.trace v2\n", ChoiceLine(now, "choice")));
        break;
      case NameKind::kOption:
        EXPECT_EQ(SketchesOf(absl::StrCat("each-block(", module, " ", before, "=1)")),
                  SketchesOf(absl::StrCat("each-block(", module, " ", now, "=1)")));
        EXPECT_NE(SketchesOf(absl::StrCat("each-block(", module, " ", before, "=1)")).find("kiln.trace v2"),
                  std::string::npos);
        break;
      case NameKind::kSpace:
        EXPECT_EQ(SketchesOf(before), SketchesOf(now));
        EXPECT_NE(SketchesOf(before).find("@cpu/"), std::string::npos);
        break;
    }
  }
}

TEST(Aliases, AnOldSpaceStringGivesTheSameSpace) {
  EXPECT_EQ(
      SketchesOf(
          "skip-padding | pin site=stream to=1 | each-block(stream-results caches=0 | rows-at-once most=2) | "
          "vectorize-rows lanes=8"),
      SketchesOf(
          "drop-padded-terms | pin site=non-temporal to=1 | "
          "each-block(non-temporal-stores l2-multiple=0 | row-blocking max-rows=2) | vectorize-rows lanes=8"));
  EXPECT_EQ(SketchesOf("pin site=stream-results/div/stream to=1 | each-block(stream-results caches=0)"),
            SketchesOf("pin site=stream to=1 | each-block(stream-results caches=0)"));
}

TEST(Aliases, StepsAndChoicesKeepTheSpellingThatIsStored) {
  const auto space = ParseSpace("each-block(non-temporal-stores l2-multiple=0 | row-blocking)");
  ASSERT_TRUE(space.ok()) << space.status();
  const auto found = Enumerate(*space, Softmax(4, 16), Target());
  ASSERT_TRUE(found.ok()) << found.status();
  const Trace& trace = found->sketches.back().trace;
  ASSERT_EQ(trace.choices.size(), 1u);
  EXPECT_TRUE(absl::StartsWith(trace.choices[0].name, "stream-results/"));
  EXPECT_TRUE(absl::EndsWith(trace.choices[0].name, "/stream"));
  EXPECT_EQ(Hash(*ParseTrace(Print(trace))), Hash(trace));
}

TEST(Aliases, NamesOfOthersAreLeftAlone) {
  const std::string own =
      "kiln.trace v2\nchoice \"my-module/block/stream\" 1 of 2\nchoice \"stream\" 0 of 2\n";
  EXPECT_EQ(Reprinted(own), own);
}

}  // namespace
}  // namespace kiln
