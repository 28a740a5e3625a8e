#include "tools/common.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "search/database/sqlite_store.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kUsagePayload = "kiln.usage", kUndecidedPayload = "kiln.undecided",
                            kToldPayload = "kiln.told", kPartialPayload = "kiln.partial";

std::atomic<bool> has_printed_json = false;

absl::Status With(absl::Status status, absl::string_view payload) {
  if (!status.ok()) status.SetPayload(payload, absl::Cord("1"));
  return status;
}

struct Command {
  std::string name = "kiln", typed;
};

Command& TheCommand() {
  static auto* command = new Command;
  return *command;
}

}  // namespace

const std::string& ProgramName() { return TheCommand().name; }
const std::string& TypedCommand() { return TheCommand().typed; }

void SetCommand(int argc, const char* const* argv) {
  Command& command = TheCommand();
  if (argc > 0) command.name = argv[0];
  command.typed = Quoted(command.name);
  bool reads_input = false;
  for (int i = 1; i < argc; ++i) {
    absl::StrAppend(&command.typed, " ", Quoted(argv[i]));
    reads_input |= absl::string_view(argv[i]) == "-";
  }
  if (reads_input) command.typed += " < FILE  # the same file";
}

std::string Quoted(const std::string& word) {
  const auto plain = [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("/._-+=:,", absl::string_view(&c, 1));
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

absl::Status Usage(absl::Status status) { return With(std::move(status), kUsagePayload); }
absl::Status Undecided(absl::Status status) { return With(std::move(status), kUndecidedPayload); }
absl::Status Partial(absl::Status status) { return With(std::move(status), kPartialPayload); }
absl::Status Told(absl::Status status) { return With(std::move(status), kToldPayload); }
bool IsTold(const absl::Status& status) { return status.GetPayload(kToldPayload).has_value(); }

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  if (status.GetPayload(kUsagePayload).has_value()) return kExitUsage;
  if (status.GetPayload(kUndecidedPayload).has_value()) return kExitUndecided;
  if (status.GetPayload(kPartialPayload).has_value()) return kExitInterrupted;
  return absl::IsCancelled(status) ? kExitInterrupted : kExitFailed;
}

CLI::Validator NumberFrom(double least, double most) {
  const std::string range =
      most > 1e18 ? absl::StrCat("of at least ", least) : absl::StrCat("from ", least, " to ", most);
  return CLI::Validator(
      [=](std::string& text) {
        double number = 0;
        const bool in_range = absl::SimpleAtod(text, &number) && number >= least && number <= most;
        return in_range ? std::string()
                        : absl::StrCat("\"", text, "\" is given; it must be a number ", range);
      },
      "");
}

void AddJson(CLI::App& command, bool* json) {
  command.add_flag("--json", *json, "Print one JSON document instead of text");
}

bool HasPrintedJson() { return has_printed_json; }

void Print(const Json& json) {
  static auto* const printing = new std::mutex;
  const std::lock_guard lock(*printing);
  if (has_printed_json.exchange(true)) return;
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
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

bool MayChange(const std::string& database) {
  const std::filesystem::path folder = std::filesystem::absolute(database).parent_path();
  const auto writable = [](const std::string& path) {
    return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
  };
  return writable(database) && writable(folder);
}

namespace {

// SQLite writes beside a file that it reads, and an older file is migrated: a copy, with the log of what is
// not yet in the file, allows both. It has no name once it is open.
absl::StatusOr<std::unique_ptr<Store>> OpenCopy(const std::string& path) {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return absl::UnavailableError(absl::StrCat("cannot make ", folder, ": ", std::strerror(errno)));
  const auto remove = absl::MakeCleanup([&] {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  });
  for (const char* part : {"", "-wal"}) {
    std::error_code error;
    if (*part != 0 && !std::filesystem::exists(path + part, error)) continue;
    std::filesystem::copy_file(path + part, folder + "/kiln.db" + part, error);
    if (error) return absl::UnavailableError(absl::StrCat(path, part, " cannot be read: ", error.message()));
    std::filesystem::permissions(folder + "/kiln.db" + part, std::filesystem::perms::owner_all, error);
  }
  auto store = OpenStore(folder + "/kiln.db");
  if (store.ok()) return store;
  return absl::Status(store.status().code(),
                      absl::StrCat(path, " (read through a copy): ", store.status().message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenExistingStore(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": there is no such database; `kiln tune` makes one"));
  }
  return MayChange(path) ? OpenStore(path) : OpenCopy(path);
}

}  // namespace kiln::tools
