// What the subcommands of kiln share: exit codes, errors, JSON, options.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/model.h"
#include "api/tuning.h"

namespace kiln::tools {

inline constexpr int kExitOk = 0, kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 3, kExitUndecided = 4;

// What a subcommand does once the command line is parsed. Errors are printed by the caller.
using Action = std::function<absl::Status()>;

// The same status with exit code 4.
absl::Status Undecided(absl::Status status);
// The same error with exit code 3: the database holds partial results.
absl::Status Partial(absl::Status status);
// The same error, of which standard output has said all: it is not printed.
absl::Status Told(absl::Status status);
bool IsTold(const absl::Status& status);
// 0; 2 for api::Mistake, 3 for kCancelled and Partial, 4 for Undecided, 1 for all else.
int ExitCode(const absl::Status& status);

// How kiln was called, so that commands in messages can be typed as they stand.
const std::string& ProgramName();
// The whole command, to be typed again in the same folder.
const std::string& TypedCommand();
void SetCommand(int argc, const char* const* argv);
// Checks that an option is a number of this range; NaN is none.
CLI::Validator NumberFrom(double least, double most);

// Adds --json.
void AddJson(CLI::App& command, bool* json);
// The one document on standard output; nothing if there was one. Any thread; it returns once that is written.
void Print(const std::string& json);
bool HasPrintedJson();

// Columns as wide as their widest cell, parted by two spaces; the first row is the heading.
std::string Table(const std::vector<std::vector<std::string>>& rows);

// Adds --db, which is kiln.db by default.
void AddDatabase(CLI::App& command, std::string* path);
// FILE and --function.
void AddFile(CLI::App& command, api::Source* source);
// ID and --db.
void AddRecord(CLI::App& command, int64_t* id, std::string* database);
// --target, one of api::TargetNames().
CLI::Option* AddTarget(CLI::App& command, std::string* name, const std::string& help);
void AddFeatures(CLI::App& command, std::string* features);
// --space and --plugin.
void AddSpaceOptions(CLI::App& command, api::SpaceSettings* space);

// Says on standard error where fewer cores may be used than --threads asks for.
void NoteCores(int threads, int cores);

}  // namespace kiln::tools
