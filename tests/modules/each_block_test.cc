#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "lang/program/builder.h"
#include "modules/module.h"

namespace kiln {
namespace {

// Returns the program B = A + 1; C = B * B; D = C + B.
Program Chain() {
  Builder b("chain");
  const Id a = b.Input("A", DType::kF32, {8}), d = b.Output("D", DType::kF32, {8});
  const Id x = b.Temporary("B", DType::kF32, {8}), y = b.Temporary("C", DType::kF32, {8});
  const IndexSum i = Builder::Iter(0);
  b.Compute("add", {{"i", 8}}, {x, {i}}, b.Add(b.Load(a, {i}), b.Float(DType::kF32, 1)));
  b.Compute("square", {{"i", 8}}, {y, {i}}, b.Mul(b.Load(x, {i}), b.Load(x, {i})));
  b.Compute("sum", {{"i", 8}}, {d, {i}}, b.Add(b.Load(y, {i}), b.Load(x, {i})));
  return b.Finish();
}

TEST(EachBlock, VisitsTheLastBlockFirstAndRunsAllModulesOnIt) {
  RandomDice dice(Engine{1});
  RandomChooser chooser(dice);
  Schedule s(Chain(), Target(), chooser);
  std::vector<std::string> visits;
  const auto visitor = [&](const char* name) {
    return BlockModule(name, [&visits, name](Schedule& schedule, Block block) {
      const Program& p = schedule.program();
      visits.push_back(std::string(p.Text(p.block(schedule.node(block)).name)) + ":" + name);
    });
  };
  EachBlock(s, {visitor("one"), visitor("two")});
  EXPECT_EQ(absl::StrJoin(visits, " "), "sum:one sum:two square:one square:two add:one add:two");
}

TEST(EachBlock, SkipsABlockThatAModuleRemoved) {
  RandomDice dice(Engine{1});
  RandomChooser chooser(dice);
  Schedule s(Chain(), Target(), chooser);
  int after = 0;
  EachBlock(s, {BlockModule("inline",
                            [](Schedule& schedule, Block block) {
                              if (schedule.program().Text(
                                      schedule.program().block(schedule.node(block)).name) == "square") {
                                schedule.ComputeInline(block);
                              }
                            }),
                BlockModule("count", [&](Schedule&, Block) { ++after; })});
  EXPECT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(after, 2);
}

TEST(EachBlock, NamesSitesByModuleAndBlock) {
  RandomDice dice(Engine{1});
  RandomChooser chooser(dice);
  Schedule s(Chain(), Target(), chooser);
  EachBlock(s, {BlockModule("tile", [](Schedule& schedule, Block block) {
              schedule.SamplePerfectTile(schedule.GetLoops(block)[0], {});
            })});
  std::vector<std::string> sites;
  for (const Step& step : s.steps()) {
    if (!step.site.empty()) sites.push_back(step.site);
  }
  EXPECT_EQ(absl::StrJoin(sites, " "), "tile/sum/tile tile/square/tile tile/add/tile");
}

}  // namespace
}  // namespace kiln
