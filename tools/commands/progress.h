// Shows the progress of a run on standard error: a status that is redrawn on a terminal, else one line per round;
// nothing with --quiet.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "api/event.h"

namespace kiln::tools {

class Progress {
 public:
  enum class Style { kQuiet, kLines, kRedrawn };
  // Returns kQuiet if `quiet`, else kRedrawn if `out` is a terminal, else kLines.
  static Style StyleOf(std::FILE* out, bool quiet);

  Progress(std::FILE* out, Style style) : out_(out), style_(style) {}

  void Show(const api::Event& event);

 private:
  void Begin(const api::Started& started);
  void ShowRound(const api::Round& round);
  std::string TimeLeft() const;
  void Redraw();

  std::FILE* const out_;
  const Style style_;
  int trials_ = 0;
  double seconds_ = 0;             // time limit; 0: none
  std::vector<api::Round> tasks_;  // the last round of each task
  api::Round::Now now_;
  bool mostly_quiet_ = true;
  int drawn_ = 0;  // lines on the terminal
  double first_seconds_ = -1;
  int first_trials_ = 0;
};

}  // namespace kiln::tools
