#include "api/text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "lang/base/aliases.h"
#include "trace/text.h"

namespace kiln::api {

std::string TimeText(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds >= 1) return absl::StrFormat("%.2f s", seconds);
  if (seconds >= 1e-3) return absl::StrFormat("%.3g ms", seconds * 1e3);
  return absl::StrFormat("%.3g us", seconds * 1e6);
}

std::string RateText(double flops, double seconds) {
  if (!(flops > 0) || !std::isfinite(seconds) || seconds <= 0) return "-";
  return absl::StrFormat("%.3g GFLOP/s", flops / seconds * 1e-9);
}

std::string CyclesText(double cycles) { return absl::StrFormat("%.0f cycles", cycles); }

std::string PercentText(double part) { return absl::StrFormat("%.0f%%", part * 100); }

std::string CountText(double count) {
  return count < 1e6 ? absl::StrFormat("%.0f", count) : absl::StrFormat("%.2g", count);
}

std::string CoresText(int cores) { return absl::StrCat(cores, cores == 1 ? " core" : " cores"); }

std::string FailuresText(const std::map<std::string, int>& failures) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : failures) parts.push_back(absl::StrCat(count, " ", name));
  return absl::StrJoin(parts, ", ");
}

std::string TraceText(const Trace& trace) { return Print(trace); }
std::string NameText(absl::string_view name) { return CurrentPath(name); }

std::string Quoted(const std::string& word) {
  const auto plain = [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("/._-+=:,", absl::string_view(&c, 1));
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace kiln::api
