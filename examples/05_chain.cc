// Lesson 5: the search walks from trace to trace. A chain of Metropolis-Hastings steps changes one decision
// at a time and visits likely and fast programs most often. Here the machine is simulated, so that the same
// seed always gives the same walk. Real searches get energies from a cost model and measure few programs.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lang/program/builder.h"
#include "search/measure/simulated_machine.h"
#include "search/propose/prefilter.h"
#include "search/sampler/annealing.h"
#include "trace/enumerate.h"

using namespace kiln;

namespace {

Program Matmul() {
  Builder b("matmul");
  const Id x = b.Input("A", DType::kF32, {128, 128}), y = b.Input("B", DType::kF32, {128, 128}),
           z = b.Output("C", DType::kF32, {128, 128});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("matmul", {{"i", 128}, {"j", 128}, {"k", 128, IterKind::kReduction}}, Monoid::Kind::kSum,
           {z, {i, j}}, b.Mul(b.Load(x, {i, k}), b.Load(y, {k, j})));
  return b.Finish();
}

// A space with three random variables and one sketch.
void Tiles(Schedule& s) {
  const auto loops = s.GetLoops(s.GetBlock("matmul"));
  const auto i = s.Split(loops[0], {s.SamplePerfectTile(loops[0], {.parts = 2, .innermost = 16}, "i")});
  const auto j = s.Split(loops[1], {s.SamplePerfectTile(loops[1], {.parts = 2, .innermost = 64}, "j")});
  s.Reorder({i[0], j[0], loops[2], i[1], j[1]});
  s.UnrollUpTo(s.SampleCategorical({0, 16, 64}, {}, "unroll"));
  s.VectorizeInner(8);
}

// Plots the times of a chain, one column per step: "*" is the present program, "-" the best so far.
void Plot(const std::vector<double>& microseconds) {
  constexpr int kRows = 10;
  const double top = std::log(*std::max_element(microseconds.begin(), microseconds.end()));
  const double bottom = std::log(*std::min_element(microseconds.begin(), microseconds.end()));
  const auto row_of = [&](double time) {
    return std::lround((top - std::log(time)) / (top - bottom) * kRows);
  };
  for (int row = 0; row <= kRows; ++row) {
    std::string line;
    double best = microseconds[0];
    for (const double time : microseconds) {
      best = std::min(best, time);
      line += row_of(time) == row ? '*' : row_of(best) == row ? '-' : ' ';
    }
    line.resize(line.find_last_not_of(' ') + 1);
    std::cout << absl::StrFormat("%6.0f |%s\n", std::exp(top + (bottom - top) * row / kRows), line);
  }
}

std::string Decisions(const Replayed& replayed) {
  std::string text;
  for (const ReplayedSite& site : replayed.sites)
    absl::StrAppend(&text, " ", absl::StrJoin(site.decision, "x"));
  return text;
}

}  // namespace

int main() {
  const Target target;
  const SimulatedMachine machine(target);
  const auto enumeration = Enumerate(Tiles, Matmul(), target);
  if (!enumeration.ok()) return std::cerr << enumeration.status() << "\n", 1;
  const SearchSpace space{
      Matmul(), target, {enumeration->sketches[0].trace}, [&] { return MakePrefilter(target); }};
  const Prefilter prefilter = space.make_prefilter();  // refuses programs that break a rule of the target
  const auto seconds = [&](const Point& point) { return machine.Seconds(point.replayed.program()); };
  RandomDice dice(Engine{5});

  // Draws 64 programs from the prior. The spread of their scores becomes the unit of energy; lower energy is faster.
  std::vector<double> scores;
  std::shared_ptr<const Point> at;
  while (scores.size() < 64) {
    auto drawn = DrawPoint(space, prefilter, dice);
    if (!drawn.ok()) continue;
    scores.push_back(-std::log(seconds(*drawn)));
    at = std::make_shared<const Point>(*std::move(drawn));
  }
  const EnergyScale scale = ScaleOf(scores);

  // Runs a chain of 96 steps. A step proposes a trace with one other decision and accepts it with probability min(1,
  // alpha). At temperature T, the chain's target has the log density log P - E / T, with the prior P and the energy E:
  // at low temperatures, only speed matters.
  std::cout << "step  T     i    j    unroll         us   log P  log alpha\n";
  std::vector<double> times;
  for (int step = 0; step < 96; ++step) {
    const double temperature = std::pow(0.05, step / 95.0);
    const Move move = Propose(space, prefilter, *at, 0, dice);
    if (move.to != nullptr) {
      const double here = scale.Energy(-std::log(seconds(*at))),
                   there = scale.Energy(-std::log(seconds(*move.to)));
      const double log_alpha = LogAlpha(move, here, there, temperature);
      const bool goes = Accept(move, here, there, temperature, dice);
      if (step % 8 == 0) {
        std::cout << absl::StrFormat("%4d  %.2f %-18s %8.1f  %6.3f  %7.3f  %s\n", step, temperature,
                                     Decisions(move.to->replayed), seconds(*move.to) * 1e6,
                                     move.to->replayed.LogProb(), log_alpha, goes ? "goes" : "stays");
      }
      if (goes) at = move.to;
    }
    times.push_back(seconds(*at) * 1e6);
  }
  std::cout << "\n    us\n";
  Plot(times);
  return times.back() < times.front() ? 0 : 1;
}
