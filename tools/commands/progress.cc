#include "tools/commands/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/text.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

constexpr int kMaxLines = 20;

std::string ClockText(double seconds) {
  const int whole = static_cast<int>(std::lround(seconds));
  if (whole >= 3600) return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
}

std::string Best(const api::Round& round) {
  if (round.best_cycles) return api::CyclesText(*round.best_cycles) + " (static)";
  return round.best_seconds ? api::TimeText(*round.best_seconds) : "-";
}

std::string Rate(const api::Round& round) {
  return round.now && round.now->gflops > 0 ? absl::StrFormat("%.3g GFLOP/s", round.now->gflops) : "-";
}

std::string Failures(const api::Round& round) {
  return round.now ? api::FailuresText(round.now->failures) : "";
}

// Returns the share of a round's samples that nothing disturbed, or "-" if the measurer does not report it or took no
// samples.
std::string QuietShare(const api::Round& round) {
  return round.samples == 0 ? "-" : api::PercentText(static_cast<double>(round.quiet) / round.samples);
}

}  // namespace

Progress::Style Progress::StyleOf(std::FILE* out, bool quiet) {
  if (quiet) return Style::kQuiet;
  return isatty(fileno(out)) ? Style::kRedrawn : Style::kLines;
}

void Progress::Show(const api::Event& event) {
  if (style_ == Style::kQuiet) return;
  if (const auto* started = std::get_if<api::Started>(&event)) Begin(*started);
  if (const auto* round = std::get_if<api::Round>(&event)) ShowRound(*round);
}

void Progress::Begin(const api::Started& s) {
  trials_ = s.trials;
  seconds_ = s.seconds;
  for (const std::string& name : s.tasks) tasks_.emplace_back().task = name;
  const std::string machine =
      s.target == "host" ? absl::StrCat("on ", s.cpu, " (", api::CoresText(s.cores), ")")
      : !s.gpu.empty()   ? absl::StrCat("for ", s.target, " on ", s.gpu)
                         : absl::StrCat("for ", s.target, " (", s.cpu, "), static: cycles are estimates");
  absl::FPrintF(out_, "kiln: %s: %d %s, %d trials %s, space %s, database %s\n", s.file, s.tasks.size(),
                s.tasks.size() == 1 ? "task" : "tasks", s.trials, machine, s.space, s.database);
  if (!s.why_static.empty()) absl::FPrintF(out_, "kiln: no GPU measures: %s\n", s.why_static);
  for (const api::LeftOut& l : s.left_out)
    absl::FPrintF(out_, "kiln: not tunable: %s: %s (%s)\n", l.location, l.op, l.reason);
}

// Returns the estimated remaining time of a search as text. It is the lesser of two: the remaining trials at this
// process's pace, and the rest of the time limit. Returns "" if neither is known.
std::string Progress::TimeLeft() const {
  double left = std::numeric_limits<double>::infinity();
  const int done = now_.trials - first_trials_;
  if (done > 0) left = (now_.elapsed - first_seconds_) / done * (trials_ - now_.trials);
  if (seconds_ > 0) left = std::min(left, seconds_ - now_.elapsed);
  return std::isfinite(left) ? absl::StrCat(ClockText(std::max(0.0, left)), " left") : "";
}

void Progress::ShowRound(const api::Round& round) {
  now_ = round.now.value_or(api::Round::Now());
  if (first_seconds_ < 0) {
    first_seconds_ = 0;
    first_trials_ = 0;
    if (round.round > 0) {  // resumed: this is the first round of the session
      first_seconds_ = now_.elapsed;
      first_trials_ = now_.trials;
    }
  }
  mostly_quiet_ = round.MostlyQuiet();
  tasks_[round.index] = round;
  if (style_ == Style::kRedrawn) return Redraw();
  std::string line = absl::StrFormat("[%d/%d] %s: best %s", now_.trials, trials_, round.task, Best(round));
  if (!round.best_cycles) absl::StrAppend(&line, ", ", Rate(round));
  if (!mostly_quiet_)
    absl::StrAppend(&line, ", only ", QuietShare(round), " of samples quiet: other programs run");
  if (!now_.failures.empty()) absl::StrAppend(&line, ", failed: ", Failures(round));
  const std::string left = TimeLeft();
  if (!left.empty()) absl::StrAppend(&line, ", ", left);
  absl::FPrintF(out_, "%s\n", line);
  std::fflush(out_);
}

void Progress::Redraw() {
  std::vector<std::vector<std::string>> rows{{"task", "trials", "best", "rate", "quiet", "failed"}};
  for (const api::Round& task : tasks_) {
    if (static_cast<int>(rows.size()) > kMaxLines) break;
    rows.push_back(
        {task.task, absl::StrCat(task.trials), Best(task), Rate(task), QuietShare(task), Failures(task)});
  }
  std::string text = drawn_ > 0 ? absl::StrCat("\x1b[", drawn_, "A") : "";
  text += "\x1b[J";
  std::string drawing = Table(rows);
  if (tasks_.size() > kMaxLines)
    absl::StrAppend(&drawing, "and ", tasks_.size() - kMaxLines, " tasks more\n");
  absl::StrAppend(&drawing, now_.trials, " of ", trials_, " trials, ", ClockText(now_.elapsed), " so far");
  const std::string left = TimeLeft();
  absl::StrAppend(&drawing, left.empty() ? "" : ", ", left, "\n");
  if (!mostly_quiet_) drawing += "Other programs disturb most samples, so times are not reliable.\n";
  drawn_ = static_cast<int>(std::count(drawing.begin(), drawing.end(), '\n'));
  absl::FPrintF(out_, "%s%s", text, drawing);
  std::fflush(out_);
}

}  // namespace kiln::tools
