// Shared by the subcommands of kiln: exit codes, errors, JSON, options.
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

// The work of a subcommand after the command line is parsed. The caller prints its error.
using Action = std::function<absl::Status()>;

// Marks an error so that the command exits with code 4: undecided. OK stays OK.
absl::Status Undecided(absl::Status status);
// Marks an error so that the command exits with code 3: the database holds partial results. OK stays OK.
absl::Status Partial(absl::Status status);
// Marks an error that standard output has reported already, so that it is not printed again.
absl::Status AlreadyPrinted(absl::Status status);
bool IsAlreadyPrinted(const absl::Status& status);
// Returns the exit code: 0 for OK, 2 for api::Mistake, 3 for kCancelled and Partial, 4 for Undecided, 1 for
// other errors.
int ExitCode(const absl::Status& status);

// Returns the name by which kiln was called. Commands in messages use it, so that users can type them as printed.
const std::string& ProgramName();
// Returns the whole command line, which the user can type again in the same folder. If an argument is "-" (standard
// input), " < FILE" and a remark follow.
const std::string& TypedCommand();
void SetCommand(int argc, const char* const* argv);
// Checks that an option is a number from `least` to `most`, both included. NaN is invalid.
CLI::Validator NumberFrom(double least, double most);

// Adds the option --json: print one JSON document in place of text.
void AddJson(CLI::App& command, bool* json);
// Prints the one JSON document of the command on standard output. Does nothing if one was printed already or is
// reserved. Any thread may call this; it returns once the document is written.
void Print(const std::string& json);
// Reserves the one JSON document for PrintReserved, so that Print does nothing from now on. Returns false if the
// document was printed already. An interrupt that ends the command reserves it, so that the document of work that
// finishes at the same moment does not hide that the command was interrupted.
bool ReserveJson();
void PrintReserved(const std::string& json);

// Formats a table. Columns are as wide as their widest cell, with two spaces between. The first row is the
// heading.
std::string Table(const std::vector<std::vector<std::string>>& rows);

// Adds the option --db, the path of the database.
void AddDatabase(CLI::App& command, std::string* path);
// Adds the argument FILE, and the options --function and --inputs that say how it is imported.
void AddFile(CLI::App& command, api::Source* source);
void AddInputs(CLI::App& command, std::string* inputs);
// Adds the argument ID, the number of a record, and the option --db.
void AddRecord(CLI::App& command, int64_t* id, std::string* database);
// Adds the option --target, one of api::TargetNames().
CLI::Option* AddTarget(CLI::App& command, std::string* name, const std::string& help);
void AddFeatures(CLI::App& command, std::string* features);
// Adds the option --without, names of policies to switch off, or on if "+" stands before the name. An unknown name is
// an error when the file is loaded.
void AddWithout(CLI::App& command, std::string* names);
// Adds the options --space and --plugin.
void AddSpaceOptions(CLI::App& command, api::SpaceSettings* space);

// Prints a line for people on standard error; for api::SessionOptions::log.
void Note(absl::string_view line);
// Notes on standard error if fewer cores are available than --threads asks for.
void NoteCores(int threads, int cores);

}  // namespace kiln::tools
