// How a run is going, on standard error: redrawn on a terminal, a line a round elsewhere.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "search/run/tune.h"

namespace kiln::tools {

class Progress {
 public:
  enum class Style { kQuiet, kLines, kRedrawn };
  // kRedrawn where `out` is a terminal.
  static Style StyleOf(std::FILE* out, bool quiet);

  // `trials` and `seconds` are the budget; no seconds: no limit.
  Progress(std::FILE* out, Style style, const std::vector<TuneTask>& tasks, int trials, double seconds);

  void Show(const TuneProgress& round);

 private:
  std::string TimeLeft() const;
  void Redraw();

  std::FILE* const out_;
  const Style style_;
  const int trials_;
  const double seconds_;
  std::vector<TuneProgress> tasks_;  // the last of each
  TuneProgress last_;
  int drawn_ = 0;  // lines on the terminal
  double first_seconds_ = -1;
  int first_trials_ = 0;
};

// "3 crashed, 1 timed_out"; empty without failures.
std::string FailuresText(const std::map<std::string, int>& failures);

}  // namespace kiln::tools
