#include "testing/module_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/base/aliases.h"
#include "lang/reference/symbolic.h"
#include "lang/text/text.h"
#include "lang/verify/verify.h"
#include "modules/space.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

absl::StatusOr<Enumeration> EnumerationOf(absl::string_view space, const Program& program,
                                          const Target& target) {
  const auto parsed = ParseSpace(space);
  if (!parsed.ok()) return parsed.status();
  return Enumerate(*parsed, program, target, {.space = std::string(space)});
}

absl::string_view FirstLine(absl::string_view text) { return text.substr(0, text.find('\n')); }

absl::string_view LastPart(absl::string_view name) { return name.substr(name.rfind('/') + 1); }

// Returns true if `name` is the stored name of a site or choice, or its last part, in either spelling
// (lang/base/aliases.h).
bool IsNamed(absl::string_view stored, absl::string_view name) {
  const std::string current = CurrentPath(stored);
  return stored == name || LastPart(stored) == name || current == name || LastPart(current) == name;
}

// Returns the alternative that a structural choice picked: its name, such as "registers", or its number if the module
// names no alternatives.
std::string AlternativeOf(const StructuralChoice& choice) {
  return choice.alternative.empty() ? absl::StrCat(choice.picked) : choice.alternative;
}

bool IsShown(const Sketch& sketch, const ShownSketches& shown) {
  return std::all_of(shown.choices.begin(), shown.choices.end(), [&](const auto& wanted) {
    return std::any_of(sketch.trace.choices.begin(), sketch.trace.choices.end(), [&](const auto& made) {
      return IsNamed(made.name, wanted.first) && wanted.second == AlternativeOf(made);
    });
  });
}

// Sets the given decisions in a sketch. Returns its trace and the scheduled program as text, or "error: ..." if a site
// is missing or a step does not apply.
std::string ScheduledText(Trace trace, const ShownSketches& shown, const Program& program,
                          const Target& target) {
  for (const auto& [site, decision] : shown.decisions) {
    bool found = false;
    for (Step& step : trace.steps) {
      if (step.site.empty() || !IsNamed(step.site, site)) continue;
      step.decision.assign(decision.begin(), decision.end());
      found = true;
    }
    if (!found) return absl::StrCat("error: there is no site ", site, "\n");
  }
  const auto replayed = Replay(trace, program, target);
  if (!replayed.ok()) return absl::StrCat("error: ", FirstLine(replayed.status().message()), "\n");
  return absl::StrCat(Print(trace), "\n", ToString(replayed->program()));
}

}  // namespace

std::string SketchesText(absl::string_view space, const Program& program, const Target& target,
                         const ShownSketches& shown) {
  const auto enumeration = EnumerationOf(space, program, target);
  if (!enumeration.ok()) return absl::StrCat("error: ", FirstLine(enumeration.status().message()), "\n");
  std::vector<std::string> parts;
  for (const Sketch& sketch : enumeration->sketches) {
    if (!IsShown(sketch, shown)) continue;
    std::string& part = parts.emplace_back("sketch");
    for (const auto& choice : sketch.trace.choices)
      absl::StrAppend(&part, " ", LastPart(CurrentPath(choice.name)), "=", AlternativeOf(choice));
    part += "\n";
    if (!shown.decisions.empty()) {
      part += ScheduledText(sketch.trace, shown, program, target);
      continue;
    }
    part += Print(sketch.trace);
    for (const SketchSite& site : sketch.sites)
      absl::StrAppend(&part, "site ", CurrentPath(site.name), ": ", site.support, "\n");
  }
  if (parts.empty() && !enumeration->sketches.empty())
    parts.emplace_back("error: no sketch has these choices\n");
  std::set<std::string> dropped;
  for (const DroppedSequence& sequence : enumeration->dropped)
    dropped.insert(absl::StrCat("dropped: ", FirstLine(sequence.reason.message()), "\n"));
  if (!dropped.empty()) parts.push_back(absl::StrJoin(dropped, ""));
  std::string declined;
  for (const auto& block : enumeration->declined)
    absl::StrAppend(&declined, "declined: ", block.where, ": ", block.why, "\n");
  if (!declined.empty()) parts.push_back(std::move(declined));
  return absl::StrJoin(parts, "\n");
}

void ExpectSketchesCompute(absl::string_view space, const Program& program, const Target& target, int draws) {
  const auto wanted = RunSymbolic(program);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  const auto enumeration = EnumerationOf(space, program, target);
  ASSERT_TRUE(enumeration.ok()) << enumeration.status();
  for (const Sketch& sketch : enumeration->sketches) {
    int applied = 0;
    for (int draw = 0; draw < draws; ++draw) {
      RandomDice dice(Engine{static_cast<uint64_t>(draw)});
      RandomChooser chooser(dice);
      const auto replayed = Replay(sketch.trace, program, target, chooser);
      if (!replayed.ok() && absl::IsFailedPrecondition(replayed.status())) continue;
      ASSERT_TRUE(replayed.ok()) << replayed.status();
      ++applied;
      const absl::Status verified = Verify(replayed->program());
      const absl::Status same = CheckSymbolic(replayed->program(), *wanted);
      ASSERT_TRUE(verified.ok() && same.ok())
          << verified << same << "\n"
          << Print(WithDecisions(*replayed)) << ToString(replayed->program());
    }
    EXPECT_GT(applied, 0) << Print(sketch.trace);
  }
}

}  // namespace kiln
