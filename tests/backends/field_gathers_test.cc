// Tests MLIR files that gather rows of a table and wrap negative indices, which count from the end: imported, compiled
// and scheduled, they copy the right rows.
#include <random>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "lang/schedule/schedule.h"
#include "lang/text/text.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

struct RowGather {
  int rows, width, count;
  bool wide;  // indices are i64
};

std::string Text(const RowGather& g) {
  return absl::StrReplaceAll(R"(
func.func @main(%t: tensor<ROWSxWIDTHxf32>, %x: tensor<COUNTxINT>) -> tensor<COUNTxWIDTHxf32> {
  %e = tensor.empty() : tensor<COUNTxWIDTHxf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<COUNTxINT>) outs(%e : tensor<COUNTxWIDTHxf32>) {
  ^bb0(%a: INT, %o: f32):
    %j = linalg.index 1 : index
    %zero = arith.constant 0 : INT
    %rows = arith.constant ROWS : INT
    %negative = arith.cmpi slt, %a, %zero : INT
    %from_end = arith.addi %a, %rows : INT
    %s = arith.select %negative, %from_end, %a : INT
    %k = arith.index_cast %s : INT to index
    %v = tensor.extract %t[%k, %j] : tensor<ROWSxWIDTHxf32>
    linalg.yield %v : f32
  } -> tensor<COUNTxWIDTHxf32>
  return %r : tensor<COUNTxWIDTHxf32>
})",
                             {{"ROWS", std::to_string(g.rows)},
                              {"WIDTH", std::to_string(g.width)},
                              {"COUNT", std::to_string(g.count)},
                              {"INT", g.wide ? "i64" : "i32"}});
}

template <typename Index>
void ExpectRows(const RowGather& g, std::mt19937& random) {
  std::vector<float> table(g.rows * g.width), wanted;
  for (float& x : table) x = static_cast<float>(random() % 1000) / 8;
  std::vector<Index> index(g.count);
  for (Index& x : index) {
    x = static_cast<Index>(random() % (2 * g.rows)) - g.rows;
    const auto row = table.begin() + (x < 0 ? x + g.rows : x) * g.width;
    wanted.insert(wanted.end(), row, row + g.width);
  }
  ExpectRight(Text(g), {.name = "rows " + std::to_string(g.rows) + " width " + std::to_string(g.width),
                        .inputs = {Bytes(table), Bytes(index)},
                        .wanted = {Bytes(wanted)},
                        .traces = 1});
}

TEST(FieldGathers, OneHundredGathersOfRowsCopyTheRowsThatTheFileNames) {
  std::mt19937 random(11);
  const int widths[] = {1, 3, 8, 16, 32, 64, 768};
  for (int i = 0; i < 100 && !testing::Test::HasFailure(); ++i) {
    const RowGather g{1 + static_cast<int>(random() % 40), widths[i % 7], 1 + static_cast<int>(random() % 30),
                      random() % 2 == 0};
    g.wide ? ExpectRows<int64_t>(g, random) : ExpectRows<int32_t>(g, random);
  }
}

// Draws traces for gathers of rows of 8 to 768 elements and expects that some are valid for each width: the limit on
// the size of straight-line code must not exclude wide rows.
TEST(FieldGathers, OfEveryWidthHaveValidDraws) {
  for (const int width : {8, 16, 32, 64, 768}) {
    const Program p = ImportLinalg(Text({10, width, 21, true}), "gather").value().program;
    const auto sketches = Enumerate(CpuSpace, p, Target());
    ASSERT_TRUE(sketches.ok()) << sketches.status();
    int valid = 0;
    for (const Sketch& sketch : sketches->sketches) {
      for (uint64_t seed = 0; seed < 10; ++seed) {
        RandomDice dice(Engine{seed});
        RandomChooser chooser(dice);
        const auto replayed = Replay(sketch.trace, p, Target(), chooser);
        valid += replayed.ok() && Validate(replayed->program(), Target()).ok;
      }
    }
    EXPECT_GT(valid, 0) << width;
  }
}

// Tests that vectorize-inner vectorizes a gather of rows along the row, where the lanes read adjacent elements.
TEST(FieldGathers, AreVectorizedAlongTheRow) {
  const Program p = ImportLinalg(Text({512, 768, 1024, true}), "gather").value().program;
  RandomDice dice(Engine{1});
  RandomChooser chooser(dice);
  Schedule s(p, Target(), chooser);
  s.VectorizeInner(64);
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ToString(s.program());
  EXPECT_NE(text.find("for j_1 < 64 vectorized"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln
