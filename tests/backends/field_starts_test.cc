// Tests that imported reductions start from the initial values of their MLIR file, including the sign of zero, compiled
// and under random traces.
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

struct Reduction {
  int rows, columns;
  std::string type = "f32";
  std::string start = "0.0";  // or "given": an argument
  bool squares = false;
};

// Returns MLIR text of a sum over each row that starts from a constant or from a second argument. It adds the negated
// elements or their squares.
std::string Text(const Reduction& r) {
  constexpr absl::string_view filled = R"(
  %z = arith.constant START : TYPE
  %e = tensor.empty() : tensor<ROWSxTYPE>
  %s = linalg.fill ins(%z : TYPE) outs(%e : tensor<ROWSxTYPE>) -> tensor<ROWSxTYPE>)";
  const bool given = r.start == "given";
  return absl::StrReplaceAll(
      absl::StrCat("func.func @main(%x: tensor<ROWSxCOLUMNSxTYPE>", given ? ", %s: tensor<ROWSxTYPE>" : "",
                   ") -> tensor<ROWSxTYPE> {", given ? "" : filled, R"(
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<ROWSxCOLUMNSxTYPE>) outs(%s : tensor<ROWSxTYPE>) {
  ^bb0(%v: TYPE, %o: TYPE):
    %t = )",
                   r.squares ? "arith.mulf %v, %v : TYPE" : "arith.negf %v : TYPE", R"(
    %n = arith.addf %o, %t : TYPE
    linalg.yield %n : TYPE
  } -> tensor<ROWSxTYPE>
  return %r : tensor<ROWSxTYPE>
})"),
      {{"START", r.start},
       {"ROWS", absl::StrCat(r.rows)},
       {"COLUMNS", absl::StrCat(r.columns)},
       {"TYPE", r.type}});
}

template <typename T>
void ExpectSumOfZeros(const std::string& type, const std::string& start, double wanted) {
  RightOptions options{.name = absl::StrCat(type, " from ", start), .traces = 2};
  options.inputs = {Bytes(std::vector<T>(9 * 40, T(0)))};  // the file sums their negatives, -0.0
  options.wanted = {Bytes(std::vector<T>(9, T(wanted)))};
  if (start == "given") options.inputs.push_back(options.wanted[0]);
  ExpectRight(Text({9, 40, type, start}), options);
}

TEST(FieldStarts, ASumOfMinusZerosKeepsTheSignOfItsStart) {
  for (const double zero : {-0.0, 0.0}) {
    const std::string text = std::signbit(zero) ? "-0.0" : "0.0";
    ExpectSumOfZeros<float>("f32", text, zero);
    ExpectSumOfZeros<double>("f64", text, zero);
    ExpectSumOfZeros<float>("f32", "given", zero);
  }
}

TEST(FieldStarts, OneHundredReductionsStartFromWhatTheFileSays) {
  std::mt19937 random(5);
  const auto pick = [&](auto... choices) {
    const std::vector<std::common_type_t<decltype(choices)...>> list{choices...};
    return list[random() % list.size()];
  };
  for (int i = 0; i < 100; ++i) {
    Reduction r{.rows = pick(1, 3, 8, 17), .columns = pick(1, 2, 16, 33)};
    r.start = pick(std::string("-0.0"), std::string("0.0"), std::string("1.5"), std::string("given"));
    r.type = "f32";
    r.squares = pick(false, true);
    // Draws rows of zeros or of small integers, so that every order of a sum gives the same bits, and starting values
    // 0, -0 and 2.
    std::vector<float> x(r.rows * r.columns), s(r.rows);
    for (int row = 0; row < r.rows; ++row) {
      const bool zeros = pick(false, true);
      for (int column = 0; column < r.columns; ++column)
        x[row * r.columns + column] = zeros ? 0.0f : static_cast<float>(static_cast<int>(random() % 9) - 4);
      s[row] = pick(-0.0f, 0.0f, 2.0f);
    }
    RightOptions options{
        .name = absl::StrCat("reduction ", i), .seed = static_cast<uint64_t>(i), .traces = 1};
    options.inputs = {Bytes(x)};
    if (r.start == "given") options.inputs.push_back(Bytes(s));
    ExpectRight(Text(r), options);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace kiln
