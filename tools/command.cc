#include "tools/command.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/machine.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Subcommand {
  const char* name;
  const char* summary;
  const char* example;
  Action (*add)(CLI::App&);
};

constexpr Subcommand kSubcommands[] = {
    {"tune", "Search for a fast schedule of every task in a file",
     "kiln tune model.mlir --trials 200 --seed 7 --db kiln.db -o out/", AddTune},
    {"build", "Make one library of a whole model", "kiln build model.mlir --db kiln.db -o out/", AddBuild},
    {"run", "Run and time a library of a whole model", "kiln run out/model.so --input x.npy", AddRun},
    {"best", "List the best record of each workload and target", "kiln best --db kiln.db", AddBest},
    {"show", "Print a record as a program, a trace, a loop plan, MLIR, LLVM IR or assembly",
     "kiln show --db kiln.db 17 --stage asm", AddShow},
    {"replay", "Build a record again, check it against the original, and time it again",
     "kiln replay --db kiln.db 17", AddReplay},
    {"export", "Write a record as a header, an object, a shared library, MLIR and its trace",
     "kiln export --db kiln.db 17 -o out/", AddExport},
    {"race", "Time two records of one workload in turns, and say which is faster",
     "kiln race --db kiln.db 17 23", AddRace},
    {"bench", "Time the best records of a file beside the untuned programs, the stock pipeline and libraries",
     "kiln bench model.mlir --db kiln.db", AddBench},
    {"check", "Prove that a schedule computes what the original does", "kiln check model.mlir model.trace",
     AddCheck},
    {"bundle", "Compile programs for a GPU that another machine has, where kiln-gpu-runner measures them",
     "kiln bundle model.mlir --target h100 --programs 100 -o bundle/", AddBundle},
    {"records", "Move records: from results of a bundle, from and to JSON lines",
     "kiln records import results.json --db kiln.db", AddRecords},
    {"train", "Train a cost model on a database, as a start for searches of other programs",
     "kiln train --db kiln.db -o model.kiln", AddTrain},
    {"space", "List the tasks of a file and their sketches: traces, sampling sites, number of programs",
     "kiln space examples/matmul.mlir", AddSpace},
    {"log", "Show the rounds of runs: acceptance, accuracy of the model, where the time went",
     "kiln log kiln.db", AddLog},
    {"doctor", "List what disturbs timings on this machine", "kiln doctor", AddDoctor},
};

std::string Version() {
  const api::Versions versions = api::BuiltWith();
  return absl::StrCat("kiln ", versions.kiln, "\nLLVM ", versions.llvm, "\nXGBoost ", versions.xgboost);
}

// Returns the subcommand with the least edit distance to `typed`, which must be at most 2 and less than the length of
// its name. Returns "" if there is none.
std::string Meant(absl::string_view typed) {
  std::string meant;
  size_t least = 3;
  for (const Subcommand& subcommand : kSubcommands) {
    const absl::string_view name = subcommand.name;
    // row[i] is the edit distance from the text typed so far to the first i letters of the name.
    std::vector<size_t> row(name.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 0; i < typed.size(); ++i) {
      size_t diagonal = row[0]++;
      for (size_t j = 0; j < name.size(); ++j) {
        const size_t replaced = diagonal + (typed[i] != name[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
      }
    }
    if (row.back() >= least || row.back() >= name.size()) continue;
    least = row.back();
    meant = std::string(name);
  }
  return meant;
}

// Raises a stack limit below 8 MiB to 8 MiB, or as far as the hard limit allows, and sets the size of the
// stacks of new threads to it. Returns an error if the limit stays below 1 MiB.
absl::Status WidenStack() {
  constexpr rlim_t kWanted = 8 << 20, kLeast = 1 << 20;
  rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= kWanted) return absl::OkStatus();
  stack.rlim_cur = std::min(stack.rlim_max, kWanted);
  setrlimit(RLIMIT_STACK, &stack);
  pthread_attr_t threads;
  if (pthread_getattr_default_np(&threads) == 0) {
    pthread_attr_setstacksize(&threads, stack.rlim_cur);
    pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
  }
  if (stack.rlim_cur >= kLeast) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the stack is limited to ", stack.rlim_cur >> 10,
                   " KiB, and Kiln needs 1024 KiB; type `ulimit -s 8192` in a new shell"));
}

// Prints a mistake in the command line on standard error and, if `json`, as a JSON document. Returns kExitUsage.
int ReportUsage(const std::string& message, bool json) {
  if (json) Print(api::ErrorJson(message, "USAGE"));
  std::fprintf(stderr, "kiln: %s\n", message.c_str());
  return kExitUsage;
}

// Flushes standard output. If it cannot be written, says so and returns kExitFailed in place of kExitOk. Returns any
// other `code` as it is.
int Written(int code) {
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  std::fprintf(stderr, "kiln: standard output cannot be written: %s; check the disk and `ulimit -f`\n",
               errno != 0 ? std::strerror(errno) : "an earlier write failed");
  return code == kExitOk ? kExitFailed : code;
}

std::string ErrorDocument(const absl::Status& status) {
  return api::ErrorJson(status.message(), absl::StatusCodeToString(status.code()),
                        absl::IsCancelled(status) ? TypedCommand() : "");
}

// Prints the first error of any thread, and no other, on standard error and, if `json`, as a JSON document. Threads
// wait until it is printed. Returns the exit code of the status.
int Report(const absl::Status& status, bool json) {
  static auto* const telling = new std::mutex;
  static bool told = false;
  if (status.ok() || IsAlreadyPrinted(status)) return ExitCode(status);
  const std::lock_guard lock(*telling);
  if (std::exchange(told, true)) return ExitCode(status);
  std::fprintf(stderr, "kiln: %s\n", std::string(status.message()).c_str());
  if (json) Print(ErrorDocument(status));
  return ExitCode(status);
}

// Prints the error of an interrupt that ends the command, and with `json` its document, whatever the interrupted work
// reports at the same moment.
void ReportInterrupt(const absl::Status& interrupted, bool json) {
  Report(interrupted, json);
  if (json) PrintReserved(ErrorDocument(interrupted));
}

// Prints a line at each change of phase if the environment variable KILN_PHASES is neither empty nor 0.
// KILN_PHASES=NAME also pauses for 0.2 s at the beginning of the phase NAME, so that a test can interrupt a phase that
// takes less time than its signal.
void SayPhases() {
  static constexpr std::chrono::milliseconds kPause(200);
  static const char* const wanted = std::getenv("KILN_PHASES");
  if (wanted == nullptr || absl::string_view(wanted).empty() || absl::string_view(wanted) == "0") return;
  api::WatchPhases([](const char* now) {
    std::fprintf(stderr, "kiln: phase: %s\n", *now == '\0' ? "-" : now);
    if (absl::string_view(now) == wanted) std::this_thread::sleep_for(kPause);
  });
}

}  // namespace

int RunKiln(int argc, const char* const* argv) {
  SetCommand(argc, argv);
  SayPhases();
  const bool json =
      std::any_of(argv, argv + argc, [](const char* a) { return std::strcmp(a, "--json") == 0; });
  signal(SIGXFSZ, SIG_IGN);  // writing beyond a file size limit then fails instead of killing the process
  if (const absl::Status enough = WidenStack(); !enough.ok()) return Written(Report(enough, json));
  // Log messages go to standard error, because standard output is for results.
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("kiln", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  spdlog::set_pattern("kiln: %v");
  CLI::App app("Kiln searches for fast schedules of tensor programs.", "kiln");
  app.set_version_flag("--version", Version(), "Print the versions of Kiln, LLVM and XGBoost");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_help_all_flag("--help-all", "Print the help of all commands");
  app.require_subcommand(1);
  app.footer(
      "Example: kiln tune examples/matmul.mlir\n"
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 partial results, 4 undecided (check)");

  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Subcommand& subcommand : kSubcommands) {
    CLI::App* command = app.add_subcommand(subcommand.name, subcommand.summary);
    command->footer(absl::StrCat("Example: ", subcommand.example));
    actions.emplace_back(command, subcommand.add(*command));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return Written(app.exit(error));
    const bool unknown = argc > 1 && argv[1][0] != '-' &&
                         std::none_of(std::begin(kSubcommands), std::end(kSubcommands),
                                      [&](const Subcommand& s) { return std::strcmp(s.name, argv[1]) == 0; });
    if (!unknown) {
      std::string example;
      for (const Subcommand& subcommand : kSubcommands) {
        if (argc > 1 && absl::string_view(argv[1]) == subcommand.name) example = subcommand.example;
      }
      return ReportUsage(
          absl::StrCat(error.what(), example.empty() ? "" : absl::StrCat("\nExample: ", example),
                       "\nRun with --help for more information."),
          json);
    }
    const std::string meant = Meant(argv[1]);
    return ReportUsage(absl::StrCat("there is no command ", argv[1],
                                    meant.empty() ? "" : absl::StrCat("; did you mean ", meant, "?"),
                                    "\n`kiln --help` lists the commands"),
                       json);
  }
  for (const auto& [command, action] : actions) {
    if (!command->parsed()) continue;
    const Interrupt interrupt([&](const absl::Status& interrupted) { ReportInterrupt(interrupted, json); });
    return Written(Report(OrInterrupted(action()), json));
  }
  return kExitUsage;
}

}  // namespace kiln::tools
