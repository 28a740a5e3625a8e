// Tests that imported argmax and argmin operations give the index that their MLIR file defines: with its rules for ties
// and NaN, and its order of elements.
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

// One way to write an argmax: the MLIR body that combines the value and index so far with a new element, and a C++
// function `step` that does the same: it updates (m, p) with (v, i).
struct Form {
  std::string name, body;
  std::function<void(float v, int64_t i, float& m, int64_t& p)> step;
};

std::string Choosing(const std::string& predicate) {
  return absl::StrCat(
      "%c = arith.cmpf ", predicate,
      ", %v, %m : f32\n%w = arith.select %c, %v, %m : f32\n%q = arith.select %c, %i, %p : i64");
}

std::string Propagating(const std::string& predicate) {
  return absl::StrCat("%w = arith.", predicate[1] == 'g' ? "maximumf" : "minimumf", " %v, %m : f32\n",
                      "%c = arith.cmpf ", predicate, ", %v, %m : f32\n%q = arith.select %c, %i, %p : i64");
}

float Sticky(float v, float m, bool max) {
  if (std::isnan(v) || std::isnan(m)) return kNaN;
  return max ? std::max(v, m) : std::min(v, m);
}

const std::vector<Form>& Forms() {
  static const auto* const forms = new std::vector<Form>{
      {"TOSA", Choosing("ogt"),
       [](float v, int64_t i, float& m, int64_t& p) {
         if (v > m) m = v, p = i;
       }},
      {"least", Choosing("olt"),
       [](float v, int64_t i, float& m, int64_t& p) {
         if (v < m) m = v, p = i;
       }},
      {"last", Choosing("oge"),
       [](float v, int64_t i, float& m, int64_t& p) {
         if (v >= m) m = v, p = i;
       }},
      {"torch", Propagating("ogt"),
       [](float v, int64_t i, float& m, int64_t& p) {
         if (v > m) p = i;
         m = Sticky(v, m, true);
       }},
      {"torch least", Propagating("olt"),
       [](float v, int64_t i, float& m, int64_t& p) {
         if (v < m) p = i;
         m = Sticky(v, m, false);
       }},
      {"torch last", Propagating("oge"),
       [](float v, int64_t i, float& m, int64_t& p) {
         if (v >= m) p = i;
         m = Sticky(v, m, true);
       }},
      {"JAX",
       "%g = arith.cmpf ogt, %m, %v : f32\n%n = arith.cmpf une, %m, %m : f32\n%c = arith.ori %g, %n : i1\n"
       "%eq = arith.cmpf oeq, %m, %v : f32\n%l = arith.cmpi slt, %p, %i : i64\n%t = arith.andi %eq, %l : i1\n"
       "%k = arith.ori %c, %t : i1\n%w = arith.select %c, %m, %v : f32\n%q = arith.select %k, %p, %i : i64",
       [](float v, int64_t i, float& m, int64_t& p) {
         const bool keeps = m > v || std::isnan(m);
         if (!keeps && !(m == v && p < i)) p = i;
         if (!keeps) m = v;
       }},
  };
  return *forms;
}

// Returns MLIR text of an argmax or argmin over the last two dimensions of a 4x5x7 tensor. `index` computes the index
// %ii of an element from its loops %j and %kk. `body` computes the new value %w and index %q from the element %v, its
// index %i, and the value %m and index %p so far. `start` is the initial value; the initial index is 0.
std::string Text(const std::string& body, const std::string& index, const std::string& start) {
  return absl::StrReplaceAll(R"(
#all = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (i)>
func.func @main(%x: tensor<4x5x7xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %z = arith.constant START : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi64>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %fi = linalg.fill ins(%zero : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<4x5x7xf32>) outs(%f, %fi : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%v: f32, %m: f32, %p: i64):
    %j = linalg.index 1 : index
    %kk = linalg.index 2 : index
    %five = arith.constant 5 : index
    %seven = arith.constant 7 : index
    INDEX
    %i = arith.index_cast %ii : index to i64
    BODY
    linalg.yield %w, %q : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
})",
                             {{"BODY", body}, {"INDEX", index}, {"START", start}});
}

struct Index {
  std::string text;
  std::function<int64_t(int64_t j, int64_t k)> of;
};

TEST(FieldArgMax, OneHundredGiveTheIndexOfTheFilesOrder) {
  const std::vector<Index> indices = {
      {"%jj = arith.muli %j, %seven : index\n%ii = arith.addi %jj, %kk : index",
       [](int64_t j, int64_t k) { return 7 * j + k; }},
      {"%jj = arith.muli %kk, %five : index\n%ii = arith.addi %jj, %j : index",
       [](int64_t j, int64_t k) { return 5 * k + j; }},
      {"%ii = arith.subi %seven, %kk : index", [](int64_t, int64_t k) { return 7 - k; }},
      {"%ii = arith.remui %kk, %five : index", [](int64_t, int64_t k) { return k % 5; }},
  };
  std::mt19937 random(11);
  const std::vector<float> values = {-2, -1, 0, 1, 1, 1, 2, kNaN, kInf, -kInf};
  for (int n = 0; n < 100; ++n) {
    const Form& form = Forms()[n % Forms().size()];
    // Draws the index, but for JAX the one that grows with the iterations: JAX decides ties by the index, and NaN by
    // the order of iterations.
    const Index& index = indices[form.name == "JAX" ? 0 : random() % indices.size()];
    const bool least = absl::StrContains(form.name, "least");
    const float start = random() % 3 == 0 ? 0.5f : least ? kInf : -kInf;
    std::vector<float> x(4 * 5 * 7), value(4, start);
    std::vector<int64_t> at(4, 0);
    for (int row = 0; row < 4; ++row) {
      const size_t kinds = row == 0 ? 7 : values.size();  // a row without NaN and infinities
      for (int e = 0; e < 35; ++e) {
        const float v = row == 3 ? (least ? kInf : -kInf) : values[random() % kinds];
        form.step(v, index.of(e / 7, e % 7), value[row], at[row]);
        x[row * 35 + e] = v;
      }
    }
    RightOptions options{
        .name = absl::StrCat(form.name, " ", n), .seed = static_cast<uint64_t>(n), .traces = 1};
    options.inputs = {Bytes(x)};
    options.wanted = {Bytes(value), Bytes(at)};
    const std::string text = start == 0.5f ? "0.5" : least ? "0x7F800000" : "0xFF800000";
    ExpectRight(Text(form.body, index.text, text), options);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace kiln
