#include "search/database/record_flags.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kiln {
namespace {

using F = RecordFlags;

// How text names a field of RecordFlags: `name` alone for a flag that is set, NAME=N for a positive number.
struct Word {
  absl::string_view name;
  bool F::* flag = nullptr;
  int F::* number = nullptr;
};

constexpr Word kWords[] = {
    {.name = "threads", .number = &F::threads},
    {.name = "contract", .flag = &F::contract},
    {.name = "reassociated", .flag = &F::reassociated},
    {.name = "cold-cache", .flag = &F::cold},
    {.name = "in-model", .flag = &F::in_model},
    {.name = "relative", .flag = &F::relative},
    {.name = "spot-checked", .flag = &F::spot_checked},
    {.name = "uninterpreted", .flag = &F::uninterpreted},
    {.name = "prepare", .flag = &F::prepare},
    {.name = "disturbed", .flag = &F::disturbed},
    {.name = "retaken", .number = &F::retaken},
    {.name = "preempted", .number = &F::preempted},
    {.name = "others", .number = &F::others},
    {.name = "noisy", .flag = &F::noisy},
    {.name = "race", .flag = &F::race},
    {.name = "proven", .flag = &F::proven},
    {.name = "static", .flag = &F::is_static},
    {.name = "emulated", .flag = &F::emulated},
};
constexpr absl::string_view kWithout = "without=";
constexpr Word kOldSpellings[] = {{.name = "contraction", .flag = &F::contract}};

bool Read(const Word& word, absl::string_view text, RecordFlags& flags) {
  if (!absl::ConsumePrefix(&text, word.name)) return false;
  if (word.flag != nullptr) return text.empty() && (flags.*word.flag = true);
  int number = 0;
  if (!absl::ConsumePrefix(&text, "=") || !absl::SimpleAtoi(text, &number) || number <= 0) return false;
  flags.*word.number = number;
  return true;
}

}  // namespace

RecordFlags RecordFlags::Parse(absl::string_view text) {
  RecordFlags flags;
  for (absl::string_view part : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    absl::string_view names = part;
    if (absl::ConsumePrefix(&names, kWithout)) {
      if (const auto policies = Policies::Without(names); policies.ok()) {
        flags.policies = *policies;
        continue;
      }
    }
    bool known = false;
    for (const Word& word : kWords) known = known || Read(word, part, flags);
    for (const Word& word : kOldSpellings) known = known || Read(word, part, flags);
    if (!known) flags.unknown.emplace_back(part);
  }
  return flags;
}

std::string RecordFlags::Print() const {
  std::vector<std::string> words;
  for (const Word& word : kWords) {
    if (word.flag != nullptr && this->*word.flag) words.emplace_back(word.name);
    if (word.number != nullptr && this->*word.number > 0)
      words.push_back(absl::StrCat(word.name, "=", this->*word.number));
  }
  if (!policies.AreUsual()) words.push_back(absl::StrCat(kWithout, policies.WithoutText()));
  words.insert(words.end(), unknown.begin(), unknown.end());
  return absl::StrJoin(words, " ");
}

}  // namespace kiln
