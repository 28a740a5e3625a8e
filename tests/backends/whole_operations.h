// For tests of single MLIR operations: builds a whole model of one operation and compares the results of its library
// with those of MLIR's own passes, or with given values.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/vendor/stock_pipeline.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "tests/backends/whole.h"

namespace kiln {

using Floats = std::vector<float>;

// Returns the number of elements of a tensor of this type: 6 for "2x3xf32".
inline size_t CountOf(const std::string& type) {
  size_t count = 1;
  std::vector<std::string> parts = absl::StrSplit(type, 'x');
  for (size_t i = 0; i + 1 < parts.size(); ++i) count *= static_cast<size_t>(std::stoi(parts[i]));
  return count;
}

inline std::string DTypeOf(const std::string& type) { return type.substr(type.rfind('x') + 1); }

// Returns random bytes of a tensor: floats from 0.1 to 0.9 (f16: 0.51 to 0.54), integers from 1 to 5 (i1: 0 or 1).
inline std::string Data(const std::string& type, size_t seed) {
  std::mt19937 engine(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> real(0.1f, 0.9f);
  std::uniform_int_distribution<int> whole(1, 5);
  std::string bytes;
  const std::string dtype = DTypeOf(type);
  for (size_t i = 0; i < CountOf(type); ++i) {
    if (dtype == "f32") bytes += BytesOfValues<float>({real(engine)});
    if (dtype == "f64") bytes += BytesOfValues<double>({real(engine)});
    if (dtype == "f16")
      bytes += BytesOfValues<uint16_t>({static_cast<uint16_t>(0x3800 + 16 * whole(engine))});
    if (dtype == "i1") bytes += BytesOfValues<int8_t>({static_cast<int8_t>(whole(engine) % 2)});
    if (dtype == "i8") bytes += BytesOfValues<int8_t>({static_cast<int8_t>(whole(engine))});
    if (dtype == "i32") bytes += BytesOfValues<int32_t>({whole(engine)});
    if (dtype == "i64") bytes += BytesOfValues<int64_t>({whole(engine)});
  }
  return bytes;
}

// Converts operations of arith and math on tensors in an MLIR text to linalg: stock MLIR passes lower no others.
inline std::string WithLinalg(const std::string& text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &Context());
  mlir::PassManager passes(&Context());
  passes.addPass(mlir::createConvertElementwiseToLinalgPass());
  EXPECT_TRUE(mlir::succeeded(passes.run(*module)));
  std::string converted;
  llvm::raw_string_ostream stream(converted);
  module->print(stream);
  return converted;
}

// Compiles the function `net` of a text with stock MLIR passes, runs it, and returns outputs, 8 bytes for each element.
// There may be at most 8 inputs and outputs together. Fails the test and returns nothing if `net` does not compile.
inline std::vector<std::string> ByStockPipeline(const std::string& text,
                                                const std::vector<std::string>& inputs,
                                                const std::vector<std::string>& outputs) {
  const auto object =
      CompileStockPipeline(WithLinalg(text), HostCodegen(), {.function = "net", .name = "net"});
  EXPECT_TRUE(object.ok()) << object.status() << "\n" << text;
  if (!object.ok()) return {};
  const Loaded loaded = Loaded::FromBytes(*object).value();
  std::deque<Array<char>> memory;
  void* table[8] = {};
  for (const std::string& input : inputs) {
    std::memcpy(memory.emplace_back(input.size()).data(), input.data(), input.size());
  }
  for (const std::string& type : outputs) memory.emplace_back(CountOf(type) * 8);
  for (size_t i = 0; i < memory.size(); ++i) table[i] = memory[i].data();
  using Kernel = int(void*, void*, void*, void*, void*, void*, void*, void*);
  EXPECT_EQ(loaded.Get<Kernel>("net")(table[0], table[1], table[2], table[3], table[4], table[5], table[6],
                                      table[7]),
            0);
  std::vector<std::string> results;
  for (size_t i = inputs.size(); i < memory.size(); ++i)
    results.emplace_back(memory[i].data(), memory[i].size());
  return results;
}

inline void ExpectNear(const std::string& found, const std::string& wanted, const std::string& type,
                       const std::string& text) {
  if (DTypeOf(type) != "f32") {
    EXPECT_EQ(found, wanted.substr(0, found.size())) << text;
    return;
  }
  const Floats a = ValuesOf<float>(found), b = ValuesOf<float>(wanted);
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::isnan(a[i]) && std::isnan(b[i]))) {
      EXPECT_NEAR(a[i], b[i], 2e-6 * std::max(1.0f, std::abs(b[i]))) << "element " << i << "\n" << text;
    }
  }
}

// A test of an operation: MLIR text (`body`) that computes %r0, %r1, .. of types `outs` from %0, %1, .. of types `ins`.
struct Row {
  std::string op;
  std::vector<std::string> ins, outs;
  std::string body;
};

inline std::string TensorOf(const std::string& type) { return absl::StrCat("tensor<", type, ">"); }

inline std::string TextOf(const Row& row) {
  std::vector<std::string> parameters, results, types;
  for (size_t i = 0; i < row.ins.size(); ++i)
    parameters.push_back(absl::StrCat("%", i, ": ", TensorOf(row.ins[i])));
  for (size_t i = 0; i < row.outs.size(); ++i) {
    results.push_back(absl::StrCat("%r", i));
    types.push_back(TensorOf(row.outs[i]));
  }
  return absl::StrCat("func.func @net(", absl::StrJoin(parameters, ", "), ") -> (",
                      absl::StrJoin(types, ", "), ") {\n  ", row.body, "\n  return ",
                      absl::StrJoin(results, ", "), " : ", absl::StrJoin(types, ", "), "\n}\n");
}

inline void CheckBesideStock(const Row& row) {
  const std::string text = TextOf(row);
  std::vector<std::string> inputs;
  for (size_t i = 0; i < row.ins.size(); ++i) inputs.push_back(Data(row.ins[i], i + 1));
  const auto whole = BuildWhole(text);
  ASSERT_TRUE(whole.ok()) << whole.status() << "\n" << text;
  const WholeResult found = RunWhole(*whole, inputs);
  EXPECT_EQ(found.status, 0);
  const std::vector<std::string> wanted = ByStockPipeline(text, inputs, row.outs);
  ASSERT_EQ(found.outputs.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) ExpectNear(found.outputs[i], wanted[i], row.outs[i], text);
}

// Returns the names of the operations that MLIR registers for a dialect and that are not in `covered`.
template <typename Dialect>
inline std::vector<std::string> Missing(const std::vector<std::string>& covered) {
  Context().getOrLoadDialect<Dialect>();
  const std::set<std::string> known(covered.begin(), covered.end());
  std::vector<std::string> missing;
  for (const mlir::RegisteredOperationName name :
       Context().getRegisteredOperationsByDialect(Dialect::getDialectNamespace())) {
    if (!known.contains(name.getStringRef().str())) missing.push_back(name.getStringRef().str());
  }
  return missing;
}

inline std::vector<std::string> OpsOf(const std::vector<Row>& rows) {
  std::vector<std::string> ops;
  for (const Row& row : rows) ops.push_back(row.op);
  return ops;
}

// Builds a model of the MLIR text `body`, which computes %r of this type, and runs it. Returns %r for the arguments %x
// = 1 .. 6 as 2 x 3, %n = 1 and %p = 2, 0 as 2 x 1. `body` may use the indices %c0 to %c3, %k = %n, and %zero (f32).
inline Floats ResultOf(const std::string& type, const std::string& body) {
  const std::string text = absl::StrCat(
      "func.func @net(%x: tensor<2x3xf32>, %n: tensor<i64>, %p: tensor<2x1xi64>) -> tensor<", type,
      "> {\n"
      "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c2 = arith.constant 2 : index\n"
      "  %c3 = arith.constant 3 : index\n  %zero = arith.constant 0.0 : f32\n  %nv = tensor.extract %n[] : tensor<i64>\n"
      "  %k = arith.index_cast %nv : i64 to index\n  ",
      body, "\n  return %r : tensor<", type, ">\n}\n");
  const auto whole = BuildWhole(text);
  EXPECT_TRUE(whole.ok()) << whole.status() << "\n" << text;
  if (!whole.ok()) return {};
  const WholeResult result = RunWhole(*whole, {BytesOfValues<float>({1, 2, 3, 4, 5, 6}),
                                               BytesOfValues<int64_t>({1}), BytesOfValues<int64_t>({2, 0})});
  EXPECT_EQ(result.status, 0);
  return ValuesOf<float>(result.outputs[0]);
}

struct Case {
  std::vector<std::string> ops;
  std::string type, body;
  Floats wanted;
};

template <typename Dialect>
void CheckCases(const std::vector<Case>& cases) {
  std::vector<std::string> covered;
  for (const Case& c : cases) covered.insert(covered.end(), c.ops.begin(), c.ops.end());
  EXPECT_THAT(Missing<Dialect>(covered), ::testing::IsEmpty());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    EXPECT_EQ(ResultOf(c.type, c.body), c.wanted);
  }
}

}  // namespace kiln
