// Lesson 3: a random variable is a number that the search chooses. It has a distribution, and a log
// probability.
#include <cmath>
#include <iostream>
#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lang/choices/distribution.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"

using namespace kiln;

namespace {

Program RowSums() {
  Builder b("row_sums");
  const Id a = b.Input("A", DType::kF32, {64, 96}), sums = b.Output("S", DType::kF32, {64});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1);
  b.Reduce("sum", {{"i", 64}, {"j", 96, IterKind::kReduction}}, Monoid::Kind::kSum, {sums, {i}},
           b.Load(a, {i, j}));
  return b.Finish();
}

// Samples two random variables. C++ never sees their numbers: a Value can only be passed to other steps.
std::vector<Loop> TiledSums(Schedule& s) {
  const Loop columns = s.GetLoops(s.GetBlock("sum"))[1];
  const Value tile = s.SamplePerfectTile(columns, {.parts = 2, .innermost = 8}, "columns");
  const Value unroll = s.SampleCategorical({0, 16, 64}, {2, 1, 1}, "unroll");
  s.UnrollUpTo(unroll);
  return s.Split(columns, {tile});
}

}  // namespace

int main() {
  // Runs the same steps three times. Only the sampled values differ.
  for (uint64_t seed = 0; seed < 3; ++seed) {
    RandomDice dice(Engine{seed});
    RandomChooser drawn(dice);
    Schedule s(RowSums(), Target(), drawn);
    TiledSums(s);
    if (!s.ok()) return std::cerr << s.status() << "\n", 1;
    std::cout << "seed " << seed << "\n";
    for (const Step& step : s.steps()) {
      if (!step.decision.empty()) std::cout << "  " << ToString(step) << "\n";
    }
  }

  // Compares the distribution of the first variable with 6000 draws from it. Its support: all products of two factors
  // equal to 96 whose last factor is at most 8.
  const Distribution columns = Distribution::PerfectTile(96, 2, 8);
  RandomDice dice(Engine{3});
  std::map<std::string, int> drawn;
  for (int i = 0; i < 6000; ++i) ++drawn[absl::StrJoin(columns.Sample(dice), " x ")];
  std::cout << "\ncolumns   log P  of 6000 draws\n";
  columns.ForEach([&](const Decision& decision) {
    const std::string text = absl::StrJoin(decision, " x ");
    std::cout << absl::StrFormat("%-7s  %6.3f  %d\n", text, columns.LogProb(decision), drawn[text]);
  });

  // Asks for the extent of a loop, which is a sampled number. That is an error: C++ never sees such numbers.
  RandomChooser any(dice);
  Schedule s(RowSums(), Target(), any);
  const std::vector<Loop> parts = TiledSums(s);
  s.ExtentOf(parts[0]);
  std::cout << "\nrefused: " << s.status().message() << "\n";
  return s.ok() || std::abs(columns.LogProb({12, 8}) + std::log(6)) > 1e-12;
}
