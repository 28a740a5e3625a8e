// Draws one hundred MLIR files with types and operations other than sums of floats: unsigned integers of each width,
// bit operations, reductions of any kind, i1, fma, and hyperbolic functions. Expects right results.
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

// The parts of an MLIR text that depend on the kind of operation (elementwise, sum of rows, or matrix product): loops,
// index maps, iterator types, and the shapes of x, y and the result.
struct Form {
  std::string loops, x_map, y_map, map, iterators, x, y, result;
};
const Form kForms[] = {
    {"i, j", "i, j", "i, j", "i, j", R"("parallel", "parallel")", "7x19", "7x19", "7x19"},
    {"i, j", "i, j", "i, j", "i", R"("parallel", "reduction")", "5x33", "5x33", "5"},
    {"i, j, k", "i, k", "k, j", "i, j", R"("parallel", "parallel", "reduction")", "3x17", "17x8", "3x8"},
};

// Steps of random bodies, each of lines separated by |, for i1 (kBits), other integers and floats. V is the value so
// far, W another operand, and L the result of the line before.
const std::vector<std::string> kBits = {"arith.xori V, W", "arith.andi V, W", "arith.ori V, W",
                                        "arith.addi V, W", "arith.maxui V, W"};
const std::vector<std::string> kIntegers = {"arith.xori V, W",
                                            "arith.muli V, W",
                                            "arith.subi V, W",
                                            "arith.maxui V, W",
                                            "arith.minui V, W",
                                            "arith.minsi V, W",
                                            "math.ctpop V",
                                            "math.ctlz V",
                                            "math.cttz V",
                                            "math.absi V",
                                            "arith.ori W, %one|arith.divui V, L",
                                            "arith.shrui V, %two",
                                            "arith.shli V, %two",
                                            "arith.ori W, %two|arith.remui V, L"};
const std::vector<std::string> kFloats = {
    "math.sinh L",     "math.cosh L",  "math.asin L",
    "math.acos L",     "math.asinh L", "math.atanh L",
    "math.erfc L",     "math.expm1 L", "arith.addf L, %two|math.acosh L",
    "math.fma L, W, V"};

const std::vector<std::string> kFolds = {"arith.addi",  "arith.muli",  "arith.xori",
                                         "arith.andi",  "arith.ori",   "arith.maxui",
                                         "arith.minui", "arith.maxsi", "arith.minsi"};

class Drawing {
 public:
  explicit Drawing(int seed) : random_(seed) {}

  std::string Text() {
    const Form& form = kForms[random_() % std::size(kForms)];
    type_ = Pick({"i1", "i8", "i16", "i16", "i32", "i64", "f32", "f64"});
    const bool real = type_[0] == 'f', bit = type_ == "i1";
    std::string value = "%a";
    for (int steps = static_cast<int>(random_() % 3); steps >= 0; --steps) {
      std::string step = Pick(real ? kFloats : bit ? kBits : kIntegers);
      // Puts 0.5 * sin(V) before a step of floats, so that its operand is in [-1/2, 1/2], where all functions are
      // defined and not steep.
      if (real) step = absl::StrCat("math.sin V|arith.mulf L, %half|", step);
      value = Lines(step, value);
    }
    if (form.map != "i, j" || form.loops != "i, j") {
      if (real)
        value = Lines(Pick({"math.fma V, W, %o", "math.fma W, V, %o"}), value);
      else
        value =
            Lines(absl::StrCat(
                      Pick(bit ? std::vector<std::string>{"arith.addi", "arith.xori", "arith.ori"} : kFolds),
                      " %o, V"),
                  value);
    }
    return absl::StrReplaceAll(
        absl::StrCat(R"(func.func @main(%x: tensor<XxT>, %y: tensor<YxT>) -> tensor<RxT> {
  %half = arith.constant HALF : T
  %one = arith.constant ONE : T
  %two = arith.constant TWO : T
  %z = arith.constant START : T
  %e = tensor.empty() : tensor<RxT>
  %s = linalg.fill ins(%z : T) outs(%e : tensor<RxT>) -> tensor<RxT>
  %r = linalg.generic {indexing_maps = [affine_map<(LOOPS) -> (X_MAP)>, affine_map<(LOOPS) -> (Y_MAP)>,
                                        affine_map<(LOOPS) -> (R_MAP)>], iterator_types = [ITERATORS]}
      ins(%x, %y : tensor<XxT>, tensor<YxT>) outs(%s : tensor<RxT>) {
  ^bb0(%a: T, %b: T, %o: T):
)",
                     body_, "    linalg.yield ", value,
                     " : T\n  } -> tensor<RxT>\n  return %r : tensor<RxT>\n}\n"),
        {{"XxT", absl::StrCat(form.x, "x", type_)},
         {"YxT", absl::StrCat(form.y, "x", type_)},
         {"RxT", absl::StrCat(form.result, "x", type_)},
         {": T", absl::StrCat(": ", type_)},
         {"HALF", real ? "0.5" : "0"},
         {"ONE", real ? "1.0" : "1"},
         {"TWO", real  ? "2.0"
                 : bit ? "0"
                       : "2"},
         {"START", real  ? "1.5"
                   : bit ? Pick({"0", "1"})
                         : Pick({"0", "1", "-1", "77"})},
         {"LOOPS", form.loops},
         {"X_MAP", form.x_map},
         {"Y_MAP", form.y_map},
         {"R_MAP", form.map},
         {"ITERATORS", form.iterators}});
  }

 private:
  std::string Pick(const std::vector<std::string>& list) { return list[random_() % list.size()]; }

  // Appends the lines of a step to the body, with `value` in place of V. Returns the name of the last line's result.
  std::string Lines(const std::string& step, const std::string& value) {
    std::string last = value;
    for (const absl::string_view line : absl::StrSplit(step, '|')) {
      const std::string name = absl::StrCat("%v", ++lines_);
      absl::StrAppend(
          &body_, "    ", name, " = ",
          absl::StrReplaceAll(
              line, {{" V", absl::StrCat(" ", value)}, {" W", " %b"}, {" L", absl::StrCat(" ", last)}}),
          " : T\n");
      last = name;
    }
    return last;
  }

  std::mt19937 random_;
  std::string type_, body_;
  int lines_ = 0;
};

TEST(FieldTypes, OneHundredProgramsOfOtherTypesAndReductions) {
  for (int i = 0; i < 100; ++i) {
    ExpectRight(Drawing(i).Text(),
                {.name = absl::StrCat("program ", i), .seed = static_cast<uint64_t>(i), .traces = 1});
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace kiln
