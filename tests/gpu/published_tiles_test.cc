// Tests that the tiles of published GPU kernels (CUTLASS, maxas, Triton and others) are traces of the space `cuda`. At
// a large size, each must replay, validate and lower. At a small size, it must compute the right results.
#include <gtest/gtest.h>

#include <cctype>

#include "absl/strings/match.h"
#include "backends/cpu/targets.h"
#include "modules/space.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/gpu/on_gpu.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/validate.h"

namespace kiln {
namespace {

struct Published {
  std::string name;
  Program program;
  std::vector<std::pair<std::string, std::string>> choices;  // choices of other names are "no"
  std::vector<std::pair<std::string, Decision>> decisions;   // those of other sites are drawn
};

// The size of a problem, in tiles: thread blocks along rows and along columns, steps along the reduction, rows of a
// softmax.
struct Size {
  int64_t blocks, steps, rows;
};
constexpr Size kLarge{.blocks = 8, .steps = 128, .rows = 4096}, kSmall{.blocks = 1, .steps = 2, .rows = 2};

// The tile of a thread block along its rows or columns: the number of threads, the number of separate pieces that a
// thread has, and the adjacent elements of a piece.
struct Part {
  int64_t threads, apart, elements;
  Decision Of(int64_t blocks) const { return {blocks, threads, apart, elements}; }
  int64_t all() const { return threads * apart * elements; }
};

// The slices of a product's operands along k in shared memory: their length, how a pipeline copies them ("": there is
// no pipeline), and how many of them shared memory holds at once.
struct Slices {
  int64_t length;
  std::string transport = "sync";
  int64_t depth = 2;

  Decision Columns() const { return {length, 1}; }  // the left operand lies column by column
  std::vector<std::pair<std::string, std::string>> Choices() const {
    if (transport.empty()) return {{"operands", "shared"}};
    return {{"operands", "pipeline"}, {"transport", transport}};
  }
};

Published Product(const char* name, const Size& size, const Slices& slices, const Part& rows,
                  const Part& columns) {
  Published product{name,
                    Matmul(size.blocks * rows.all(), size.blocks * columns.all(), size.steps * slices.length),
                    slices.Choices(),
                    {{"matmul/threads", {std::max<int64_t>(64, rows.threads * columns.threads)}},
                     {"matmul/S0", rows.Of(size.blocks)},
                     {"matmul/S1", columns.Of(size.blocks)},
                     {"matmul/R2", {size.steps, slices.length}}}};
  if (slices.transport == "async") product.decisions.push_back({"matmul/depth", {slices.depth}});
  if (!slices.transport.empty()) product.decisions.push_back({"matmul/panel", slices.Columns()});
  return product;
}

Published SplitProduct(const char* name, const Size& size, const Part& part, int64_t chunks,
                       const Slices& slices) {
  const int64_t chunk = size.steps * slices.length;
  Published product{name,
                    Matmul(size.blocks * part.all(), size.blocks * part.all(), chunks * chunk),
                    slices.Choices(),
                    {{"matmul/chunks", {chunks, chunk}},
                     {"matmul/threads", {part.threads * part.threads}},
                     {"matmul/S1", part.Of(size.blocks)},  // loop 0 is that of the chunks
                     {"matmul/S2", part.Of(size.blocks)},
                     {"matmul/R3", {size.steps, slices.length}}}};
  product.choices.push_back({"split-k", "yes"});
  product.decisions.push_back({"matmul/panel", slices.Columns()});
  return product;
}

Published RowSums(const char* name, int64_t rows, const Decision& threads) {
  const int64_t columns = threads[0] * threads[1] * threads[2];
  Builder b("sums");
  const Id x = b.Input("x", DType::kF32, {rows, columns}), s = b.Output("s", DType::kF32, {rows});
  b.Reduce("sum", {{"i", rows}, {"k", columns, IterKind::kReduction}}, Monoid::Kind::kSum, {s, {b.Iter(0)}},
           b.Load(x, {b.Iter(0), b.Iter(1)}));
  return {name, b.Finish(), {{"threads", "yes"}}, {{"sum/threads", threads}}};
}

Published Rows(const char* name, const Size& size, int64_t threads) {
  return {name, Softmax(size.rows, 1024), {{"rows", "registers"}}, {{"div/threads", {threads}}}};
}

std::vector<Published> PublishedTiles(const Size& size) {
  return {
      // Tiles of the SIMT kernels of CUTLASS 2.x, as its profiler names them: cutlass_simt_sgemm_128x128_8x2 and so on
      Product("CUTLASS 128x128x8", size, {8}, {16, 2, 4}, {16, 2, 4}),
      Product("CUTLASS 128x64x8", size, {8}, {16, 2, 4}, {8, 2, 4}),
      Product("CUTLASS 64x64x8", size, {8}, {8, 2, 4}, {8, 2, 4}),
      Product("CUTLASS 256x128x8", size, {8}, {16, 2, 8}, {16, 2, 4}),
      SplitProduct("CUTLASS split-k 64x64x8", size, {8, 2, 4}, 16, {8}),
      // Tiles of CUTLASS for sm_80: cutlass_80_simt_sgemm_128x128_8x4 has four slices of k, copied asynchronously
      Product("CUTLASS 128x128x8 four slices", size, {8, "async", 4}, {16, 2, 4}, {16, 2, 4}),
      Product("CUTLASS 256x128x8 four slices", size, {8, "async", 4}, {16, 2, 8}, {16, 2, 4}),
      // A tile of the SGEMM of maxas (Gray, 2014): a thread computes 8 by 8 elements as four squares of 4 by 4
      Product("maxas 64x64x8", size, {8}, {8, 2, 4}, {8, 2, 4}),
      // The tile of the product in Volkov and Demmel, Benchmarking GPUs to tune dense linear algebra (SC 2008)
      Product("Volkov and Demmel 64x16x16", size, {16, ""}, {64, 1, 1}, {1, 1, 16}),
      // The tile of the product in Nath, Tomov and Dongarra, An improved MAGMA GEMM for Fermi GPUs (2010)
      Product("MAGMA Fermi 96x96x16", size, {16, ""}, {16, 2, 3}, {16, 2, 3}),
      // Tiles of kernels 4 and 5 of Boehm, How to optimize a CUDA matmul kernel (2022)
      Product("Boehm 64x64x8 a column", size, {8, ""}, {8, 1, 8}, {64, 1, 1}),
      Product("Boehm 128x128x8", size, {8, ""}, {16, 1, 8}, {16, 1, 8}),
      // The softmax of Triton's tutorial "Fused Softmax" (a row by 8 warps), and PyTorch's softmax of rows of up to
      // 1024 elements (PersistentSoftmax.cuh, a row by one warp)
      Rows("Triton softmax 8 warps", size, 256),
      Rows("PyTorch softmax a warp", size, 32),
      // The sums of rows in Harris, Optimizing parallel reduction in CUDA (2007)
      RowSums("Harris sums", size.rows / 2, {16, 256, 4}),
  };
}

bool Ends(absl::string_view name, const std::string& end) {
  return name == end || absl::EndsWith(name, "/" + end);
}

std::string Wanted(const Published& tile, const Schedule::Choice& choice) {
  for (const auto& [name, alternative] : tile.choices)
    if (Ends(choice.name, name)) return alternative;
  return "no";
}

// Replays the sketch of the space `cuda` that makes the tile's choices, with the tile's decisions. Draws the decisions
// of other sites. Returns the program, or an error if there is no such sketch or a decision was not taken.
absl::StatusOr<Program> ScheduledAs(const Published& tile, const Target& target) {
  const auto sketches = Enumerate(*ParseSpace("cuda"), tile.program, target);
  if (!sketches.ok()) return sketches.status();
  std::string seen;
  for (const Sketch& sketch : sketches->sketches) {
    const auto wanted = [&](const auto& choice) { return choice.alternative == Wanted(tile, choice); };
    for (const auto& choice : sketch.trace.choices)
      absl::StrAppend(&seen, choice.name, "=", choice.alternative, " ");
    if (!std::all_of(sketch.trace.choices.begin(), sketch.trace.choices.end(), wanted)) continue;
    Trace trace = sketch.trace;
    for (Step& step : trace.steps) {
      step.decision.clear();
      for (const auto& [site, decision] : tile.decisions)
        if (Ends(step.site, site)) step.decision = decision;
    }
    RandomDice dice(Engine{5});
    RandomChooser others(dice);
    RecordedChooser chooser(trace, &others);
    const auto replayed = Replay(trace, tile.program, target, chooser);
    if (!replayed.ok()) return replayed.status();
    size_t taken = 0;
    for (size_t i = 0; i < replayed->sites.size(); ++i)
      for (const auto& [site, decision] : tile.decisions)
        taken += Ends(replayed->name(static_cast<int>(i)), site) && replayed->sites[i].decision == decision;
    if (taken == tile.decisions.size()) return replayed->program();
    return absl::NotFoundError(absl::StrCat("other decisions:\n", Print(WithDecisions(*replayed))));
  }
  return absl::NotFoundError(absl::StrCat("no sketch makes these choices; there are ", seen));
}

class PublishedTile : public testing::TestWithParam<size_t> {};

TEST_P(PublishedTile, IsATraceOfTheSpaceAndComputesTheRightResults) {
  const Target target = NamedTarget("h100").value();
  const Published large = PublishedTiles(kLarge)[GetParam()], small = PublishedTiles(kSmall)[GetParam()];
  const auto program = ScheduledAs(large, target);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(Validate(*program, target).message, "");
  const auto planned = plan::PlanKernels(*program);
  ASSERT_TRUE(planned.ok()) << planned.status();
  const auto lowered = LowerKernels(planned->program, planned->plan, Context());
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  const auto scheduled = ScheduledAs(small, target);
  ASSERT_TRUE(scheduled.ok()) << scheduled.status();
  ExpectSameOnGpu(small.program, *scheduled);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PublishedTile, testing::Range<size_t>(0, PublishedTiles(kSmall).size()),
                         [](const auto& info) {
                           std::string name = PublishedTiles(kSmall)[info.param].name;
                           std::erase_if(name,
                                         [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
                           return name;
                         });

}  // namespace
}  // namespace kiln
