// The command line of a benchmark. CLI11 is compiled once, and not with each benchmark.
//
//   CommandLine line("by_hand_bench", "A tuned product of matrices beside one scheduled by hand");
//   line.Add("--size", &size, "Rows and columns", {.least = 1});
//   if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
}

namespace kiln {

// The values that an option accepts: numbers from `least` to `most`, or one of `names`.
struct OptionValues {
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
  std::vector<std::string> names = {};  // any if empty
  bool required = false;                // the option must be given
};

class CommandLine {
 public:
  // A pointer to the variable that an option sets. An option of a bool is a flag without a value.
  using Variable =
      std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*, std::vector<std::string>*>;

  CommandLine(const std::string& name, const std::string& about);
  ~CommandLine();

  // Adds an option "--name", or an argument NAME. The help shows the variable's present value as the default.
  void Add(const std::string& name, Variable variable, const std::string& help = "",
           const OptionValues& values = {});
  // Makes Parse ignore unknown options and arguments, such as those of Google Benchmark.
  void AllowOthers();
  // Sets the variables. Returns the exit code if the program must end: 0 after it printed the help for --help; another
  // after it printed a mistake on standard error.
  std::optional<int> Parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace kiln
