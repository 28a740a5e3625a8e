#include "api/internal/store/flags_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/text.h"

namespace kiln::api {
namespace {

std::string Count(int n, absl::string_view what) {
  return n == 0 ? "" : absl::StrCat(n, n == 1 ? " thread" : " threads", what);
}

}  // namespace

std::string QuietText(const Quiet& quiet) {
  return quiet.samples == 0 ? "" : absl::StrCat(quiet.quiet, " of ", quiet.samples, " samples quiet");
}

std::string FlagsText(const RecordFlags& flags, const Quiet& quiet) {
  std::vector<std::string> texts = {
      flags.is_static ? "static" : "",
      Count(flags.threads, ""),
      flags.contract ? "multiply-adds fused" : "",
      flags.reassociated ? "sums reordered" : "",
      flags.cold ? "cold caches" : "",
      flags.in_model ? "timed as within a model" : "",
      flags.spot_checked ? "chosen elements compared" : "",
      flags.uninterpreted ? "the original not checked by the interpreter" : "",
      flags.prepare ? "constants prepared" : "",
      Count(flags.others, " of other programs"),
      flags.noisy ? "noisy" : "",
      flags.emulated ? "emulated" : "",
      flags.race && !flags.is_static ? "raced" : "",
      flags.policies.AreUsual() ? "" : absl::StrCat("without ", flags.policies.WithoutText())};
  texts.insert(texts.end(), flags.unknown.begin(), flags.unknown.end());
  texts.push_back(quiet.samples == 0 && flags.disturbed ? "most samples disturbed" : QuietText(quiet));
  std::erase(texts, "");
  return absl::StrJoin(texts, ", ");
}

std::string FlagsText(const RecordRow& record) {
  return FlagsText(record.flags, QuietOf(record.raw_samples, record.flags));
}

std::string NoiseText(const RecordFlags& flags, const Quiet& quiet, double raced, double searched) {
  if (!flags.noisy) return "";
  std::vector<std::string> reasons;
  if (RaceDiffers(raced, searched))
    reasons.push_back(absl::StrCat("the search timed this program at ", TimeText(searched), ", the race at ",
                                   TimeText(raced)));
  if (!quiet.Mostly()) reasons.push_back(absl::StrCat("only ", QuietText(quiet)));
  if (flags.others > 0) reasons.push_back(Count(flags.others, " of other programs wanted the cores"));
  if (reasons.empty()) reasons.push_back("something else used this machine while it was timed");
  return absl::StrJoin(reasons, "; ");
}

}  // namespace kiln::api
