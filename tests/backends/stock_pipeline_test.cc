#include "backends/vendor/stock_pipeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "test_paths.h"
#include "testing/compiled/loaded.h"

namespace kiln {
namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string Op(const std::string& name) {
  return Read(std::filesystem::path(KILN_SOURCE_DIR) / "tests/inputs/ops" / (name + ".mlir"));
}

std::vector<float> Random(size_t size) {
  std::vector<float> values(size);
  uint32_t state = 1;
  for (float& value : values)
    value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - 0.5f;
  return values;
}

absl::StatusOr<Loaded> Compile(const std::string& text) {
  auto shared = CompileStockPipeline(text, HostCodegen());
  if (!shared.ok()) return shared.status();
  return Loaded::FromBytes(*shared);
}

TEST(StockPipeline, MatmulAgreesWithThreeLoops) {
  auto code = Compile(R"(
    func.func @main(%a: tensor<33x70xf32>, %b: tensor<70x45xf32>) -> tensor<33x45xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<33x45xf32>
      %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<33x45xf32>) -> tensor<33x45xf32>
      %c = linalg.matmul ins(%a, %b : tensor<33x70xf32>, tensor<70x45xf32>)
                         outs(%init : tensor<33x45xf32>) -> tensor<33x45xf32>
      return %c : tensor<33x45xf32>
    })");
  ASSERT_TRUE(code.ok()) << code.status();
  const auto a = Random(33 * 70), b = Random(70 * 45);
  std::vector<float> c(33 * 45);
  ASSERT_EQ(code->Get<int(const float*, const float*, float*)>("baseline")(a.data(), b.data(), c.data()), 0);
  for (int i = 0; i < 33; ++i) {
    for (int j = 0; j < 45; ++j) {
      double sum = 0;
      for (int k = 0; k < 70; ++k) sum += double(a[i * 70 + k]) * b[k * 45 + j];
      ASSERT_NEAR(c[i * 45 + j], sum, 1e-5);
    }
  }
}

TEST(StockPipeline, ConvolutionAgreesWithSevenLoops) {
  auto code = Compile(Op("torch_conv2d_nchw_3x3_bias"));
  ASSERT_TRUE(code.ok()) << code.status();
  const auto x = Random(64 * 56 * 56), w = Random(64 * 64 * 9), bias = Random(64);
  std::vector<float> y(64 * 56 * 56);
  ASSERT_EQ(code->Get<int(const float*, const float*, const float*, float*)>("baseline")(
                x.data(), w.data(), bias.data(), y.data()),
            0);
  for (const int o : {0, 17, 63}) {
    for (int h = 0; h < 56; ++h) {
      for (int v = 0; v < 56; ++v) {
        double sum = bias[o];
        for (int c = 0; c < 64; ++c) {
          for (int p = 0; p < 3; ++p) {
            for (int q = 0; q < 3; ++q) {
              const int i = h + p - 1, j = v + q - 1;
              if (i >= 0 && i < 56 && j >= 0 && j < 56)
                sum += double(x[(c * 56 + i) * 56 + j]) * w[((o * 64 + c) * 3 + p) * 3 + q];
            }
          }
        }
        ASSERT_NEAR(y[(o * 56 + h) * 56 + v], sum, 1e-3);
      }
    }
  }
}

TEST(StockPipeline, SoftmaxAgreesWithItsDefinition) {
  auto code = Compile(Op("torch_softmax"));
  ASSERT_TRUE(code.ok()) << code.status();
  const auto x = Random(256 * 256);
  std::vector<float> y(256 * 256);
  ASSERT_EQ(code->Get<int(const float*, float*)>("baseline")(x.data(), y.data()), 0);
  for (int i = 0; i < 256; ++i) {
    double sum = 0;
    for (int j = 0; j < 256; ++j) sum += std::exp(double(x[i * 256 + j]));
    for (int j = 0; j < 256; ++j) ASSERT_NEAR(y[i * 256 + j], std::exp(double(x[i * 256 + j])) / sum, 1e-6);
  }
}

TEST(StockPipeline, CompilesEveryOperatorFileThatTheStockPassesTake) {
  const std::set<std::string> refused = {
      "onnx_LSTM",           // one-shot-bufferize: a yield that is no loop argument's buffer
      "onnx_Relu_dynamic"};  // dynamic shapes
  int compiled = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(KILN_SOURCE_DIR) / "tests/inputs/ops")) {
    if (entry.path().extension() != ".mlir") continue;
    const auto shared = CompileStockPipeline(Read(entry.path()), HostCodegen());
    EXPECT_EQ(shared.ok(), refused.count(entry.path().stem()) == 0)
        << entry.path().stem() << ": " << shared.status();
    if (!shared.ok()) continue;
    const auto loaded = Loaded::FromBytes(*shared);
    EXPECT_TRUE(loaded.ok() && loaded->Get<int()>("baseline") != nullptr)
        << entry.path().stem() << ": " << loaded.status();
    ++compiled;
  }
  EXPECT_EQ(compiled, 43);
}

TEST(StockPipeline, NamesWhatTheStockPassesRefuse) {
  const auto dynamic = CompileStockPipeline(
      "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }", HostCodegen());
  EXPECT_EQ(dynamic.status().message(), "the baseline takes and returns tensors of static shape only");
  EXPECT_EQ(CompileStockPipeline("module {}", HostCodegen()).status().message(),
            "no such function, or several public ones: \"\"");
  EXPECT_EQ(CompileStockPipeline("func.func @main(", HostCodegen()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln
