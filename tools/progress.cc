#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

constexpr int kMostLines = 20;

std::string ClockText(double seconds) {
  const int whole = static_cast<int>(std::lround(seconds));
  if (whole >= 3600) return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
}

std::string Rate(const TuneProgress& p) {
  return p.gflops > 0 ? absl::StrFormat("%.3g GFLOP/s", p.gflops) : "-";
}

// A dash where the measurer does not say, or no sample was taken.
std::string QuietShare(const Quiet& quiet) {
  return quiet.samples == 0 ? "-" : PercentText(static_cast<double>(quiet.quiet) / quiet.samples);
}

}  // namespace

std::string FailuresText(const std::map<std::string, int>& failures) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : failures) parts.push_back(absl::StrCat(count, " ", name));
  return absl::StrJoin(parts, ", ");
}

Progress::Style Progress::StyleOf(std::FILE* out, bool quiet) {
  if (quiet) return Style::kQuiet;
  return isatty(fileno(out)) ? Style::kRedrawn : Style::kLines;
}

Progress::Progress(std::FILE* out, Style style, const std::vector<TuneTask>& tasks, int trials,
                   double seconds)
    : out_(out), style_(style), trials_(trials), seconds_(seconds) {
  for (const TuneTask& task : tasks) {
    tasks_.emplace_back();
    tasks_.back().name = task.name;
    tasks_.back().best_seconds = std::numeric_limits<double>::infinity();
  }
}

// From the pace of this sitting: what was done before may have had another one.
std::string Progress::TimeLeft() const {
  double left = std::numeric_limits<double>::infinity();
  const int done = last_.total_trials - first_trials_;
  if (done > 0) left = (last_.seconds - first_seconds_) / done * (trials_ - last_.total_trials);
  if (seconds_ > 0) left = std::min(left, seconds_ - last_.seconds);
  return std::isfinite(left) ? absl::StrCat(ClockText(std::max(0.0, left)), " left") : "";
}

void Progress::Show(const TuneProgress& round) {
  if (style_ == Style::kQuiet) return;
  if (first_seconds_ < 0) {
    first_seconds_ = 0;
    first_trials_ = 0;
    if (round.round > 0) {  // resumed: this round is the first of the sitting
      first_seconds_ = round.seconds;
      first_trials_ = round.total_trials;
    }
  }
  last_ = round;
  tasks_[round.task] = round;
  if (style_ == Style::kRedrawn) return Redraw();
  std::string line = absl::StrFormat("[%d/%d] %s: best %s, %s", round.total_trials, trials_, round.name,
                                     TimeText(round.best_seconds), Rate(round));
  if (!round.quiet.Mostly())
    absl::StrAppend(&line, ", only ", QuietShare(round.quiet), " of samples quiet: other programs run");
  if (!round.failures.empty()) absl::StrAppend(&line, ", failed: ", FailuresText(round.failures));
  const std::string left = TimeLeft();
  if (!left.empty()) absl::StrAppend(&line, ", ", left);
  absl::FPrintF(out_, "%s\n", line);
  std::fflush(out_);
}

void Progress::Redraw() {
  std::vector<std::vector<std::string>> rows{{"task", "trials", "best", "rate", "quiet", "failed"}};
  for (const TuneProgress& task : tasks_) {
    if (static_cast<int>(rows.size()) > kMostLines) break;
    rows.push_back({task.name, absl::StrCat(task.trials), TimeText(task.best_seconds), Rate(task),
                    QuietShare(task.quiet), FailuresText(task.failures)});
  }
  std::string text = drawn_ > 0 ? absl::StrCat("\x1b[", drawn_, "A") : "";
  text += "\x1b[J";
  std::string drawing = Table(rows);
  if (tasks_.size() > kMostLines)
    absl::StrAppend(&drawing, "and ", tasks_.size() - kMostLines, " tasks more\n");
  absl::StrAppend(&drawing, last_.total_trials, " of ", trials_, " trials, ", ClockText(last_.seconds),
                  " so far");
  const std::string left = TimeLeft();
  absl::StrAppend(&drawing, left.empty() ? "" : ", ", left, "\n");
  if (!last_.quiet.Mostly())
    drawing += "Most samples are disturbed: other programs run, and times are not sure.\n";
  drawn_ = static_cast<int>(std::count(drawing.begin(), drawing.end(), '\n'));
  absl::FPrintF(out_, "%s%s", text, drawing);
  std::fflush(out_);
}

}  // namespace kiln::tools
