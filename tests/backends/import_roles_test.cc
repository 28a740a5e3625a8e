// Tests which arguments of an MLIR function become inputs and which constants: by ImportOptions::inputs and by the
// attribute kiln.constant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/export/header.h"
#include "backends/import/import.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kLayer[] = R"(
func.func @layer(%x: tensor<4xf32>, %w.1: tensor<4xf32>, %arg5: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.mul ins(%x, %w.1 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.add ins(%a, %arg5 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.mulf %v, %s : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %c : tensor<4xf32>
})";

// Imports an MLIR text with these inputs (ImportOptions::inputs). Returns the roles of its arguments as text, such as
// "arg0:input arg1:constant ", or the error message.
std::string Roles(const std::vector<std::string>& inputs, const std::string& text = kLayer) {
  ImportOptions options;
  options.inputs = inputs;
  const auto imported = ImportLinalg(text, "t.mlir", options);
  if (!imported.ok()) return std::string(imported.status().message());
  std::string roles;
  for (const Id id : imported->program.parameters) {
    const Buffer& buffer = imported->program.buffers[id];
    if (buffer.role == Role::kOutput) continue;
    roles +=
        std::string(imported->program.Text(buffer.name)) + ":" + std::string(RoleWord(buffer.role)) + " ";
  }
  return roles;
}

constexpr char kAllInputs[] = "arg0:input arg1:input arg2:input arg3:scalar ",
               kOneInput[] = "arg0:input arg1:constant arg2:constant arg3:scalar ";

TEST(Inputs, AreAllArgumentsUnlessSaid) {
  EXPECT_EQ(Roles({}), kAllInputs);
  EXPECT_EQ(Roles({"4"}), kAllInputs);
}

TEST(Inputs, AreTheFirstArguments) {
  EXPECT_EQ(Roles({"1"}), kOneInput);
  EXPECT_EQ(Roles({"2"}), "arg0:input arg1:input arg2:constant arg3:scalar ");
}

TEST(Inputs, AreNamedAsInTheFileOrByPosition) {
  EXPECT_EQ(Roles({"x"}), kOneInput);
  EXPECT_EQ(Roles({"arg0"}), kOneInput);
  EXPECT_EQ(Roles({"w.1", "s"}), "arg0:constant arg1:input arg2:constant arg3:scalar ");
  EXPECT_EQ(Roles({"arg5"}), "arg0:constant arg1:constant arg2:input arg3:scalar ")
      << "a name of the file comes before a position";
}

TEST(Inputs, ThatDoNotExistAreRefused) {
  EXPECT_EQ(Roles({"y"}), "t.mlir: inputs: unknown argument \"y\"; known: x, w.1, arg5, s");
  EXPECT_EQ(Roles({"x", ""}), "t.mlir: inputs: unknown argument \"\"; known: x, w.1, arg5, s");
  EXPECT_EQ(Roles({"1", "x"}), "t.mlir: inputs: unknown argument \"1\"; known: x, w.1, arg5, s");
  for (const char* number : {"0", "5", "99999999999999999999"}) {
    EXPECT_EQ(Roles({number}), std::string("t.mlir: inputs: ") + number +
                                   " is given; the first arguments, 1 to 4 of them, can be inputs");
  }
}

TEST(Inputs, ShowTenOfManyKnownNames) {
  std::string text = "func.func @f(";
  for (int i = 0; i < 12; ++i) text += (i > 0 ? ", %a" : "%a") + std::to_string(i) + ": tensor<2xf32>";
  text += ") -> tensor<2xf32> { return %a0 : tensor<2xf32> }";
  EXPECT_EQ(Roles({"b"}, text),
            "t.mlir: inputs: unknown argument \"b\"; known: a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, 2 more");
}

TEST(Inputs, CannotBeMarkedAsConstants) {
  constexpr char kMarked[] =
      "func.func @f(%x: tensor<2xf32>, %w: tensor<2xf32> {kiln.constant}) -> tensor<2xf32> {\n"
      "  %e = tensor.empty() : tensor<2xf32>\n"
      "  %a = linalg.add ins(%x, %w : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>\n"
      "  return %a : tensor<2xf32>\n}";
  EXPECT_THAT(Roles({}, kMarked), HasSubstr("arg0:input arg1:constant"));
  EXPECT_THAT(Roles({"x"}, kMarked), HasSubstr("arg0:input arg1:constant"));
  EXPECT_EQ(Roles({"w"}, kMarked),
            "t.mlir: inputs: argument 1 (w) is given as an input, but the file marks it with kiln.constant");
}

}  // namespace
}  // namespace kiln
