// Tests MLIR files with long chains of elementwise operations, and with values that several operations read. Each is
// written as operations on tensors, which the space fuses, or as the body of one operation.
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "lang/graph/outline.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

struct Graph {
  int steps;
  int reach;  // a step reads two of the `reach` values before it
  bool one_body;
};

// Operations on values A and B. The lines of an operation are separated by |, and the second reads the result of the
// first as L. Sums and differences of floats are halved, so that values stay in their initial range.
const std::vector<std::string> kFloats = {"arith.addf A, B : T|arith.mulf L, %half : T",
                                          "arith.subf A, B : T|arith.mulf L, %half : T",
                                          "arith.maximumf A, B : T", "arith.minimumf A, B : T"};
const std::vector<std::string> kIntegers = {"arith.addi A, B : T", "arith.muli A, B : T",
                                            "arith.xori A, B : T", "arith.subi A, B : T|arith.ori L, A : T",
                                            "arith.maxsi A, B : T"};

class Drawing {
 public:
  explicit Drawing(int seed) : random_(seed), type_(Pick({"f32", "f32", "f64", "i8", "i32", "i64"})) {}

  // Returns MLIR text of random elementwise operations, each on two of the `reach` values before it. The results are
  // the last value and an earlier one.
  std::string Text(const Graph& graph) {
    std::string text = R"(#m = affine_map<(i) -> (i)>
func.func @f(%v0: tensor<X>) -> (tensor<X>, tensor<X>) {
  %half = arith.constant HALF : T
  %e = tensor.empty() : tensor<X>
)";
    if (graph.one_body) {
      text += R"(  %r:2 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
      ins(%v0 : tensor<X>) outs(%e, %e : tensor<X>, tensor<X>) {
  ^bb0(%v0_: T, %o0: T, %o1: T):
)";
    }
    for (int step = 1; step <= graph.steps; ++step) {
      const std::string a = Before(step, graph), b = Before(step, graph), name = absl::StrCat("%v", step);
      if (graph.one_body) {
        text += Lines(name + "_", a + "_", b + "_");
        continue;
      }
      absl::StrAppend(&text, "  ", name,
                      " = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = [\"parallel\"]}\n"
                      "      ins(",
                      a, ", ", b,
                      " : tensor<X>, tensor<X>) outs(%e : tensor<X>) {\n  ^bb0(%a: T, %b: T, %o: T):\n",
                      Lines("%w", "%a", "%b"), "    linalg.yield %w : T\n  } -> tensor<X>\n");
    }
    const std::string last = absl::StrCat("%v", graph.steps), other = Before(graph.steps, graph);
    if (graph.one_body) {
      absl::StrAppend(&text, "    linalg.yield ", last, "_, ", other,
                      "_ : T, T\n  } -> (tensor<X>, tensor<X>)\n  return %r#0, %r#1");
    } else {
      absl::StrAppend(&text, "  return ", last, ", ", other);
    }
    const std::string size = absl::StrCat(Pick({"1", "7", "16", "65"}), "x", type_);
    return absl::StrReplaceAll(text + " : tensor<X>, tensor<X>\n}\n",
                               {{"X", size},
                                {"HALF", IsReal() ? "0.5" : "2"},
                                {": T", ": " + type_},
                                {", T\n", absl::StrCat(", ", type_, "\n")}});
  }

 private:
  bool IsReal() const { return type_[0] == 'f'; }
  std::string Pick(const std::vector<std::string>& list) { return list[random_() % list.size()]; }
  std::string Before(int step, const Graph& graph) {
    const int reach = std::min(step, graph.reach);
    return absl::StrCat("%v", step - 1 - static_cast<int>(random_() % reach));
  }

  // Returns MLIR text of a random operation on the values `a` and `b`, one or two lines. The last line defines the
  // value `name`.
  std::string Lines(const std::string& name, const std::string& a, const std::string& b) {
    const std::vector<std::string> lines = absl::StrSplit(Pick(IsReal() ? kFloats : kIntegers), '|');
    std::string text;
    for (const std::string& line : lines) {
      const std::string inner = name + "_s";
      absl::StrAppend(&text, "    ", &line == &lines.back() ? name : inner, " = ",
                      absl::StrReplaceAll(line, {{" A", " " + a}, {" B", " " + b}, {" L", " " + inner}}),
                      "\n");
    }
    return text;
  }

  std::mt19937 random_;
  const std::string type_;
};

// Expects right results of one hundred random files. Their number of operations grows from `least` to `most`. Each
// operation reads values that are drawn from the `reach` values before it.
void ExpectOneHundred(int least, int most, int reach) {
  for (int n = 0; n < 100; ++n) {
    const Graph graph{.steps = least + n * (most - least) / 99, .reach = reach, .one_body = n % 3 == 0};
    ExpectRight(Drawing(n).Text(graph),
                {.name = absl::StrCat("graph ", n), .seed = static_cast<uint64_t>(n), .traces = 1});
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(FieldSharing, OneHundredChainsOfUpTo100Operations) { ExpectOneHundred(2, 100, 1); }

// Draws files in which each operand of an operation is one of the two values before it, so that values are read more
// than once. If expressions were trees, their size would double with each operation.
TEST(FieldSharing, OneHundredGraphsReadTheSameValuesAgain) { ExpectOneHundred(2, 40, 2); }
TEST(FieldSharing, OneHundredGraphsReadValuesFromLongBefore) { ExpectOneHundred(2, 30, 12); }

// Imports and lowers a file that doubles a value 60 times by v + v. Tests that the task has 61 expressions. As a tree,
// it would have 2^60 leaves.
TEST(FieldSharing, SixtyDoublingsAreImportedOutlinedAndLowered) {
  std::string text = R"(#m = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v0: f32, %o: f32):
)";
  for (int i = 0; i < 60; ++i)
    absl::StrAppend(&text, "    %v", i + 1, " = arith.addf %v", i, ", %v", i, " : f32\n");
  text += R"(    linalg.yield %v60 : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
})";
  const std::vector<Task> tasks = ExtractTasks(ImportLinalg(text, "doublings").value().program).value();
  ASSERT_EQ(tasks.size(), 1);
  EXPECT_EQ(tasks[0].program.exprs.size(), 61);
  EXPECT_TRUE(Lower(tasks[0].program, Context()).ok());
}

}  // namespace
}  // namespace kiln
