#include "tools/flags_text.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "search/database/store.h"
#include "search/measure/measurer.h"
#include "tools/common.h"
#include "validator/proof/proof.h"

namespace kiln::tools {
namespace {

struct Word {
  absl::string_view flag, text;
};

// Those with an empty text are told by the count of quiet samples or by TrustText, or are as it always is.
constexpr Word kWords[] = {{"contract", "multiply-adds fused"},
                           {"reassociated", "sums reordered"},
                           {kColdFlag, "cold caches"},
                           {kRaceFlag, "raced"},
                           {"spot-checked", "chosen elements compared"},
                           {"uninterpreted", "the original not checked by the interpreter"},
                           {"prepare", "constants prepared"},
                           {kNoisyFlag, "noisy"},
                           {kProvenFlag, ""},
                           {"relative", ""},
                           {"disturbed", ""}};

std::string TextOfFlag(absl::string_view flag) {
  for (const Word& word : kWords)
    if (word.flag == flag) return std::string(word.text);
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(flag, absl::MaxSplits('=', 1));
  const auto& [name, number] = parts;
  if (name == "threads") return absl::StrCat(number, number == "1" ? " thread" : " threads");
  if (name == "others")
    return absl::StrCat(number, number == "1" ? " thread" : " threads", " of other programs");
  if (name == "retaken" || name == "preempted") return "";
  return std::string(flag);
}

}  // namespace

std::string QuietText(const Quiet& quiet) {
  return quiet.samples == 0 ? "" : absl::StrCat(quiet.quiet, " of ", quiet.samples, " samples quiet");
}

std::string FlagsText(const std::string& flags, const Quiet& quiet) {
  std::vector<std::string> texts;
  for (const absl::string_view flag : absl::StrSplit(flags, ' ', absl::SkipEmpty())) {
    std::string text = TextOfFlag(flag);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  if (quiet.samples > 0) {
    texts.push_back(QuietText(quiet));
  } else if (HasFlag(flags, "disturbed")) {
    texts.push_back("most samples disturbed");
  }
  return absl::StrJoin(texts, ", ");
}

std::string FlagsText(const RecordRow& record) {
  return FlagsText(record.flags, QuietOf(record.taken, record.flags));
}

std::string NoiseText(const std::string& flags, const Quiet& quiet, double raced, double searched) {
  if (!HasFlag(flags, kNoisyFlag)) return "";
  std::vector<std::string> reasons;
  if (RaceDiffers(raced, searched))
    reasons.push_back(absl::StrCat("the search timed this program at ", TimeText(searched), ", the race at ",
                                   TimeText(raced)));
  if (!quiet.Mostly()) reasons.push_back(absl::StrCat("only ", QuietText(quiet)));
  const double others = FlagNumber(flags, "others");
  if (others > 0)
    reasons.push_back(
        absl::StrCat(others, others == 1 ? " thread" : " threads", " of other programs wanted the cores"));
  if (reasons.empty()) reasons.push_back("something else used this machine while it was timed");
  return absl::StrJoin(reasons, "; ");
}

}  // namespace kiln::tools
