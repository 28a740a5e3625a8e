#include "tools/common.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "search/database/sqlite_store.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kUsagePayload = "kiln.usage", kUndecidedPayload = "kiln.undecided",
                            kToldPayload = "kiln.told";

absl::Status With(absl::Status status, absl::string_view payload) {
  if (!status.ok()) status.SetPayload(payload, absl::Cord("1"));
  return status;
}

std::string& Name() {
  static auto* name = new std::string("kiln");
  return *name;
}

}  // namespace

const std::string& ProgramName() { return Name(); }
void SetProgramName(const std::string& name) { Name() = name; }

std::string Quoted(const std::string& word) {
  const auto plain = [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("/._-+=:,", absl::string_view(&c, 1));
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

absl::Status Usage(absl::Status status) { return With(std::move(status), kUsagePayload); }
absl::Status Undecided(absl::Status status) { return With(std::move(status), kUndecidedPayload); }
absl::Status Told(absl::Status status) { return With(std::move(status), kToldPayload); }
bool IsTold(const absl::Status& status) { return status.GetPayload(kToldPayload).has_value(); }

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  if (status.GetPayload(kUsagePayload).has_value()) return kExitUsage;
  if (status.GetPayload(kUndecidedPayload).has_value()) return kExitUndecided;
  return absl::IsCancelled(status) ? kExitInterrupted : kExitFailed;
}

void AddJson(CLI::App& command, bool* json) {
  command.add_flag("--json", *json, "Print one JSON document instead of text");
}

void Print(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

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

std::string PercentText(double part) { return absl::StrFormat("%.0f%%", part * 100); }

std::string CountText(double count) {
  return count < 1e6 ? absl::StrFormat("%.0f", count) : absl::StrFormat("%.2g", count);
}

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      absl::StrAppend(&line, row[c], std::string(widths[c] - row[c].size() + 2, ' '));
    }
    line.resize(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

void AddDatabase(CLI::App& command, std::string* path) {
  command
      .add_option("--db", *path, "The database, one SQLite file; code that was built is kept in FILE.objects")
      ->capture_default_str();
}

absl::StatusOr<std::unique_ptr<Store>> OpenExistingStore(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": there is no such database; `kiln tune` makes one"));
  }
  return OpenStore(path);
}

}  // namespace kiln::tools
