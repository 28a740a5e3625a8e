// What the subcommands of kiln share: exit codes, errors, JSON, numbers for people, the store.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "search/database/store.h"

namespace kiln::tools {

inline constexpr int kExitOk = 0, kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 3, kExitUndecided = 4;

using Json = nlohmann::ordered_json;

// What a subcommand does once the command line is parsed. Errors are printed by the caller.
using Action = std::function<absl::Status()>;

// The same error as a mistake in the command line: exit code 2.
absl::Status Usage(absl::Status status);
// The same status with exit code 4.
absl::Status Undecided(absl::Status status);
// The same error with exit code 3: the database holds partial results.
absl::Status Partial(absl::Status status);
// The same error, of which standard output has said all: it is not printed.
absl::Status Told(absl::Status status);
bool IsTold(const absl::Status& status);
// 0; 2 for Usage, 3 for kCancelled and Partial, 4 for Undecided, 1 for all else.
int ExitCode(const absl::Status& status);

// How kiln was called, so that commands in messages can be typed as they stand.
const std::string& ProgramName();
// The whole command, to be typed again in the same folder.
const std::string& TypedCommand();
void SetCommand(int argc, const char* const* argv);
// As one word of a shell.
std::string Quoted(const std::string& word);

// Checks that an option is a number of this range; NaN is none.
CLI::Validator NumberFrom(double least, double most);

// Adds --json.
void AddJson(CLI::App& command, bool* json);
// The one document on standard output; nothing if there was one. Any thread; it returns once that is written.
void Print(const Json& json);
bool HasPrintedJson();

// "1.53 ms", "24.1 us"; "-" if it is not finite.
std::string TimeText(double seconds);
// "97.2 GFLOP/s"; "-" if one is not known.
std::string RateText(double flops, double seconds);
std::string PercentText(double part);
// "1.2e+09"; small ones in full.
std::string CountText(double count);

// Columns as wide as their widest cell, parted by two spaces; the first row is the heading.
std::string Table(const std::vector<std::vector<std::string>>& rows);

// Adds --db, which is kiln.db by default.
void AddDatabase(CLI::App& command, std::string* path);
// Whether this user may write the database and beside it.
bool MayChange(const std::string& database);
// kNotFound if there is no such file: only `kiln tune` makes one.
// One that may not be changed is read through a copy.
absl::StatusOr<std::unique_ptr<Store>> OpenExistingStore(const std::string& path);

}  // namespace kiln::tools
