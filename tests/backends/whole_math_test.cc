// Builds a model of each operation of MLIR's dialects math and arith: its library computes the right results, or the
// file is refused with a hint. A table must have a row for each operation that MLIR registers.
#include <limits>
#include <map>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tests/backends/whole_operations.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Row Elementwise(const std::string& op, int arity, const std::string& dtype) {
  std::vector<std::string> operands;
  for (int i = 0; i < arity; ++i) operands.push_back(absl::StrCat("%", i));
  const std::string type = "6x" + dtype;
  return {op,
          std::vector<std::string>(arity, type),
          {type},
          absl::StrCat("%r0 = ", op, " ", absl::StrJoin(operands, ", "), " : ", TensorOf(type))};
}

std::vector<Row> MathRows() {
  std::vector<Row> rows;
  for (const char* op :
       {"absf",  "acos",      "asin",  "asinh", "atan",  "atanh", "cbrt", "ceil",  "cos",   "cosh",
        "erf",   "erfc",      "exp",   "exp2",  "expm1", "floor", "log",  "log10", "log1p", "log2",
        "round", "roundeven", "rsqrt", "sin",   "sinh",  "sqrt",  "tan",  "tanh",  "trunc"})
    rows.push_back(Elementwise(absl::StrCat("math.", op), 1, "f32"));
  for (const char* op : {"absi", "ctlz", "ctpop", "cttz"})
    rows.push_back(Elementwise(absl::StrCat("math.", op), 1, "i32"));
  for (const char* op : {"atan2", "copysign", "powf"})
    rows.push_back(Elementwise(absl::StrCat("math.", op), 2, "f32"));
  rows.push_back(Elementwise("math.ipowi", 2, "i32"));
  rows.push_back(Elementwise("math.fma", 3, "f32"));
  rows.push_back({"math.fpowi",
                  {"6xf32", "6xi32"},
                  {"6xf32"},
                  "%r0 = math.fpowi %0, %1 : tensor<6xf32>, tensor<6xi32>"});
  rows.push_back({"math.acosh",
                  {"6xf32"},
                  {"6xf32"},
                  "%c = arith.constant dense<1.0> : tensor<6xf32>\n  %s = arith.addf %0, %c : tensor<6xf32>\n"
                  "  %r0 = math.acosh %s : tensor<6xf32>"});
  rows.push_back({"math.sincos", {"6xf32"}, {"6xf32", "6xf32"}, "%r0, %r1 = math.sincos %0 : tensor<6xf32>"});
  return rows;
}

TEST(WholeOperations, OfMath) {
  const std::map<std::string, std::vector<int8_t>> kinds = {{"math.isfinite", {1, 0, 0, 1, 1}},
                                                            {"math.isinf", {0, 1, 0, 0, 0}},
                                                            {"math.isnan", {0, 0, 1, 0, 0}},
                                                            {"math.isnormal", {0, 0, 0, 0, 1}}};
  std::vector<std::string> covered = OpsOf(MathRows());
  for (const auto& [op, wanted] : kinds) covered.push_back(op);
  covered.push_back("math.clampf");
  EXPECT_THAT(Missing<mlir::math::MathDialect>(covered), ::testing::IsEmpty());
  for (const Row& row : MathRows()) {
    SCOPED_TRACE(row.op);
    CheckBesideStock(row);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [op, wanted] : kinds) {
    const auto whole =
        BuildWhole(TextOf({op, {"5xf32"}, {"5xi1"}, absl::StrCat("%r0 = ", op, " %0 : tensor<5xf32>")}));
    ASSERT_TRUE(whole.ok()) << whole.status();
    const WholeResult found =
        RunWhole(*whole, {BytesOfValues<float>({0, -infinity, std::nanf(""), 1e-40f, 1})});
    EXPECT_EQ(ValuesOf<int8_t>(found.outputs[0]), wanted) << op;
  }
}

TEST(WholeOperations, OfClampf) {
  const auto whole = BuildWhole(R"(
func.func @net(%x: tensor<3xf32>, %low: tensor<3xf32>, %high: tensor<3xf32>) -> tensor<3xf32> {
  %r = math.clampf %x to [%low, %high] : tensor<3xf32>
  return %r : tensor<3xf32>
})");
  ASSERT_TRUE(whole.ok()) << whole.status();
  const WholeResult found = RunWhole(
      *whole,
      {BytesOfValues<float>({-1, 2, 9}), BytesOfValues<float>({0, 1, 2}), BytesOfValues<float>({4, 5, 6})});
  EXPECT_EQ(ValuesOf<float>(found.outputs[0]), Floats({0, 2, 6}));
}

std::vector<Row> ArithRows() {
  std::vector<Row> rows;
  for (const char* op :
       {"addf", "divf", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf", "remf", "subf"})
    rows.push_back(Elementwise(absl::StrCat("arith.", op), 2, "f32"));
  for (const char* op :
       {"addi",  "andi", "ceildivsi", "ceildivui", "divsi", "divui", "floordivsi", "maxsi", "maxui", "minsi",
        "minui", "muli", "ori",       "remsi",     "remui", "shli",  "shrsi",      "shrui", "subi",  "xori"})
    rows.push_back(Elementwise(absl::StrCat("arith.", op), 2, "i32"));
  rows.push_back(Elementwise("arith.negf", 1, "f32"));
  const auto convert = [&](const std::string& op, const std::string& from, const std::string& to) {
    rows.push_back({"arith." + op,
                    {"6x" + from},
                    {"6x" + to},
                    absl::StrCat("%r0 = arith.", op, " %0 : tensor<6x", from, "> to tensor<6x", to, ">")});
  };
  convert("bitcast", "f32", "i32");
  convert("extf", "f16", "f32");
  convert("truncf", "f64", "f32");
  convert("extsi", "i8", "i32");
  convert("extui", "i8", "i32");
  convert("trunci", "i32", "i8");
  convert("fptosi", "f32", "i32");
  convert("fptoui", "f32", "i32");
  convert("sitofp", "i32", "f32");
  convert("uitofp", "i32", "f32");
  for (const char* op : {"index_cast", "index_castui"})
    rows.push_back({absl::StrCat("arith.", op),
                    {"6xi32"},
                    {"6xi64"},
                    absl::StrCat("%x = arith.", op, " %0 : tensor<6xi32> to tensor<6xindex>\n  %r0 = arith.",
                                 op, " %x : tensor<6xindex> to tensor<6xi64>")});
  rows.push_back({"arith.constant",
                  {"6xf32"},
                  {"6xf32"},
                  "%c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>\n"
                  "  %r0 = arith.addf %0, %c : tensor<6xf32>"});
  rows.push_back(
      {"arith.cmpf", {"6xf32", "6xf32"}, {"6xi1"}, "%r0 = arith.cmpf olt, %0, %1 : tensor<6xf32>"});
  rows.push_back(
      {"arith.cmpi", {"6xi32", "6xi32"}, {"6xi1"}, "%r0 = arith.cmpi slt, %0, %1 : tensor<6xi32>"});
  rows.push_back({"arith.select",
                  {"6xi1", "6xf32", "6xf32"},
                  {"6xf32"},
                  "%r0 = arith.select %0, %1, %2 : tensor<6xi1>, tensor<6xf32>"});
  rows.push_back({"arith.addui_extended",
                  {"6xi32", "6xi32"},
                  {"6xi32", "6xi1"},
                  "%r0, %r1 = arith.addui_extended %0, %1 : tensor<6xi32>, tensor<6xi1>"});
  for (const char* op : {"mulsi_extended", "mului_extended"})
    rows.push_back({absl::StrCat("arith.", op),
                    {"6xi32", "6xi32"},
                    {"6xi32", "6xi32"},
                    absl::StrCat("%r0, %r1 = arith.", op, " %0, %1 : tensor<6xi32>")});
  return rows;
}

TEST(WholeOperations, OfArith) {
  std::vector<std::string> covered = OpsOf(ArithRows());
  covered.insert(covered.end(), {"arith.scaling_extf", "arith.scaling_truncf"});
  EXPECT_THAT(Missing<mlir::arith::ArithDialect>(covered), ::testing::IsEmpty());
  for (const Row& row : ArithRows()) {
    SCOPED_TRACE(row.op);
    CheckBesideStock(row);
  }
  // Expects that an operation on f8 types, with which Kiln does not compute, is refused with a hint.
  const auto refused = BuildWhole(R"(
func.func @net(%x: tensor<4xf8E5M2>, %s: tensor<4xf8E8M0FNU>) -> tensor<4xf32> {
  %r = arith.scaling_extf %x, %s : tensor<4xf8E5M2>, tensor<4xf8E8M0FNU> to tensor<4xf32>
  return %r : tensor<4xf32>
})");
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("hint: cast it when exporting"));
}

}  // namespace
}  // namespace kiln
