// Builds a model of each operation of MLIR's dialect linalg: its library computes the right results, or the file is
// refused with a hint. A table must have a row for each operation that MLIR registers.
#include <map>

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "tests/backends/whole_operations.h"

namespace kiln {
namespace {

// A row of the table of operations: linalg.OP ATTRIBUTES ins(INS) outs(zeros : OUT).
struct Named {
  const char *op, *ins, *out, *attributes = "";
};

constexpr Named kNamed[] = {
    {"abs", "2x3xf32", "2x3xf32"},
    {"ceil", "2x3xf32", "2x3xf32"},
    {"erf", "2x3xf32", "2x3xf32"},
    {"exp", "2x3xf32", "2x3xf32"},
    {"floor", "2x3xf32", "2x3xf32"},
    {"log", "2x3xf32", "2x3xf32"},
    {"negf", "2x3xf32", "2x3xf32"},
    {"reciprocal", "2x3xf32", "2x3xf32"},
    {"round", "2x3xf32", "2x3xf32"},
    {"rsqrt", "2x3xf32", "2x3xf32"},
    {"sqrt", "2x3xf32", "2x3xf32"},
    {"square", "2x3xf32", "2x3xf32"},
    {"tanh", "2x3xf32", "2x3xf32"},
    {"copy", "2x3xf32", "2x3xf32"},
    {"add", "2x3xf32 2x3xf32", "2x3xf32"},
    {"div", "2x3xf32 2x3xf32", "2x3xf32"},
    {"max", "2x3xf32 2x3xf32", "2x3xf32"},
    {"min", "2x3xf32 2x3xf32", "2x3xf32"},
    {"mul", "2x3xf32 2x3xf32", "2x3xf32"},
    {"powf", "2x3xf32 2x3xf32", "2x3xf32"},
    {"sub", "2x3xf32 2x3xf32", "2x3xf32"},
    {"div_unsigned", "2x3xi32 2x3xi32", "2x3xi32"},
    {"select", "2x3xi1 2x3xf32 2x3xf32", "2x3xf32"},
    {"elementwise", "2x3xf32", "2x3xf32", "kind=#linalg.elementwise_kind<exp>"},
    {"matmul", "4x3xf32 3x5xf32", "4x5xf32"},
    {"batch_matmul", "2x4x3xf32 2x3x5xf32", "2x4x5xf32"},
    {"batch_reduce_matmul", "2x4x3xf32 2x3x5xf32", "4x5xf32"},
    {"matvec", "4x3xf32 3xf32", "4xf32"},
    {"vecmat", "3xf32 3x5xf32", "5xf32"},
    {"batch_matvec", "2x4x3xf32 2x3xf32", "2x4xf32"},
    {"batch_vecmat", "2x3xf32 2x3x5xf32", "2x5xf32"},
    {"dot", "6xf32 6xf32", "f32"},
    {"mmt4d", "2x3x4x2xf32 2x3x3x2xf32", "2x2x4x3xf32"},
    {"batch_mmt4d", "2x2x3x4x2xf32 2x2x3x3x2xf32", "2x2x2x4x3xf32"},
    {"quantized_matmul", "4x3xi8 3x5xi8 i32 i32", "4x5xi32"},
    {"quantized_batch_matmul", "2x4x3xi8 2x3x5xi8 i32 i32", "2x4x5xi32"},
    {"contract", "4x3xf32 3x5xf32", "4x5xf32",
     "indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]"},
    {"conv_1d", "8xf32 3xf32", "6xf32"},
    {"conv_2d", "6x6xf32 3x3xf32", "4x4xf32"},
    {"conv_3d", "4x4x4xf32 3x3x3xf32", "2x2x2xf32"},
    {"conv_1d_ncw_fcw", "1x2x6xf32 3x2x3xf32", "1x3x4xf32"},
    {"conv_1d_nwc_wcf", "1x6x2xf32 3x2x3xf32", "1x4x3xf32"},
    {"conv_2d_nchw_fchw", "1x2x5x5xf32 3x2x3x3xf32", "1x3x3x3xf32"},
    {"conv_2d_nhwc_fhwc", "1x5x5x2xf32 3x3x3x2xf32", "1x3x3x3xf32"},
    {"conv_2d_nhwc_hwcf", "1x5x5x2xf32 3x3x2x3xf32", "1x3x3x3xf32"},
    {"conv_2d_ngchw_fgchw", "1x2x2x5x5xf32 3x2x2x3x3xf32", "1x2x3x3x3xf32"},
    {"conv_2d_ngchw_gfchw", "1x2x2x5x5xf32 2x3x2x3x3xf32", "1x2x3x3x3xf32"},
    {"conv_2d_nhwgc_gfhwc", "1x5x5x2x2xf32 2x3x3x3x2xf32", "1x3x3x2x3xf32"},
    {"conv_3d_ncdhw_fcdhw", "1x2x4x4x4xf32 3x2x3x3x3xf32", "1x3x2x2x2xf32"},
    {"conv_3d_ndhwc_dhwcf", "1x4x4x4x2xf32 3x3x3x2x3xf32", "1x2x2x2x3xf32"},
    {"conv_2d_nchw_fchw_q", "1x2x5x5xi8 3x2x3x3xi8 i32 i32", "1x3x3x3xi32"},
    {"conv_2d_nhwc_fhwc_q", "1x5x5x2xi8 3x3x3x2xi8 i32 i32", "1x3x3x3xi32"},
    {"conv_2d_nhwc_hwcf_q", "1x5x5x2xi8 3x3x2x3xi8 i32 i32", "1x3x3x3xi32"},
    {"conv_2d_ngchw_gfchw_q", "1x2x2x5x5xi8 2x3x2x3x3xi8 i32 i32", "1x2x3x3x3xi32"},
    {"conv_2d_nhwgc_gfhwc_q", "1x5x5x2x2xi8 2x3x3x3x2xi8 i32 i32", "1x3x3x2x3xi32"},
    {"conv_3d_ndhwc_dhwcf_q", "1x4x4x4x2xi8 3x3x3x2x3xi8 i32 i32", "1x2x2x2x3xi32"},
    {"depthwise_conv_1d_ncw_cw", "1x2x6xf32 2x3xf32", "1x2x4xf32"},
    {"depthwise_conv_1d_nwc_wc", "1x6x2xf32 3x2xf32", "1x4x2xf32"},
    {"depthwise_conv_1d_nwc_wcm", "1x6x2xf32 3x2x3xf32", "1x4x2x3xf32"},
    {"depthwise_conv_2d_nchw_chw", "1x2x5x5xf32 2x3x3xf32", "1x2x3x3xf32"},
    {"depthwise_conv_2d_nhwc_hwc", "1x5x5x2xf32 3x3x2xf32", "1x3x3x2xf32"},
    {"depthwise_conv_2d_nhwc_hwc_q", "1x5x5x2xi8 3x3x2xi8 i32 i32", "1x3x3x2xi32"},
    {"depthwise_conv_2d_nhwc_hwcm", "1x5x5x2xf32 3x3x2x3xf32", "1x3x3x2x3xf32"},
    {"depthwise_conv_2d_nhwc_hwcm_q", "1x5x5x2xi8 3x3x2x3xi8 i32 i32", "1x3x3x2x3xi32"},
    {"depthwise_conv_3d_ncdhw_cdhw", "1x2x4x4x4xf32 2x3x3x3xf32", "1x2x2x2x2xf32"},
    {"depthwise_conv_3d_ndhwc_dhwc", "1x4x4x4x2xf32 3x3x3x2xf32", "1x2x2x2x2xf32"},
    {"depthwise_conv_3d_ndhwc_dhwcm", "1x4x4x4x2xf32 3x3x3x2x3xf32", "1x2x2x2x2x3xf32"},
    {"pooling_nchw_max", "1x2x5x5xf32 3x3xf32", "1x2x3x3xf32"},
    {"pooling_ncw_max", "1x2x6xf32 3xf32", "1x2x4xf32"},
    {"pooling_nchw_sum", "1x2x5x5xf32 3x3xf32", "1x2x3x3xf32"},
    {"pooling_ncw_sum", "1x2x6xf32 3xf32", "1x2x4xf32"},
    {"pooling_ndhwc_max", "1x4x4x4x2xf32 3x3x3xf32", "1x2x2x2x2xf32"},
    {"pooling_nhwc_max", "1x5x5x2xf32 3x3xf32", "1x3x3x2xf32"},
    {"pooling_nwc_max", "1x6x2xf32 3xf32", "1x4x2xf32"},
    {"pooling_ndhwc_min", "1x4x4x4x2xf32 3x3x3xf32", "1x2x2x2x2xf32"},
    {"pooling_nhwc_min", "1x5x5x2xf32 3x3xf32", "1x3x3x2xf32"},
    {"pooling_nwc_min", "1x6x2xf32 3xf32", "1x4x2xf32"},
    {"pooling_ndhwc_sum", "1x4x4x4x2xf32 3x3x3xf32", "1x2x2x2x2xf32"},
    {"pooling_nhwc_sum", "1x5x5x2xf32 3x3xf32", "1x3x3x2xf32"},
    {"pooling_nwc_sum", "1x6x2xf32 3xf32", "1x4x2xf32"},
    {"pooling_nhwc_max_unsigned", "1x5x5x2xi32 3x3xi32", "1x3x3x2xi32"},
    {"pooling_nwc_max_unsigned", "1x6x2xi32 3xi32", "1x4x2xi32"},
    {"pooling_nhwc_min_unsigned", "1x5x5x2xi32 3x3xi32", "1x3x3x2xi32"},
    {"pooling_nwc_min_unsigned", "1x6x2xi32 3xi32", "1x4x2xi32"},
};

Row RowOf(const Named& named) {
  const std::vector<std::string> ins = absl::StrSplit(named.ins, ' ');
  const std::string out = named.out, dtype = DTypeOf(out), type = TensorOf(out);
  std::vector<std::string> operands, types;
  for (size_t i = 0; i < ins.size(); ++i) {
    operands.push_back(absl::StrCat("%", i));
    types.push_back(TensorOf(ins[i]));
  }
  return {absl::StrCat("linalg.", named.op),
          ins,
          {out},
          absl::StrCat("%z = arith.constant ", dtype[0] == 'f' ? "0.0" : "0", " : ", dtype,
                       "\n  %e = tensor.empty() : ", type, "\n  %f = linalg.fill ins(%z : ", dtype,
                       ") outs(%e : ", type, ") -> ", type, "\n  %r0 = linalg.", named.op, " ",
                       named.attributes, " ins(", absl::StrJoin(operands, ", "), " : ",
                       absl::StrJoin(types, ", "), ") outs(%f : ", type, ") -> ", type)};
}

// Returns rows, with their MLIR text, for operations of linalg that are not written as linalg.OP ins(..) outs(..), such
// as linalg.transpose.
std::vector<Row> OtherLinalgRows() {
  const std::string empty = "%e = tensor.empty() : tensor<3x2xf32>\n  ";
  return {
      {"linalg.transpose",
       {"2x3xf32"},
       {"3x2xf32"},
       empty +
           "%r0 = linalg.transpose ins(%0 : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]"},
      {"linalg.broadcast",
       {"2xf32"},
       {"3x2xf32"},
       empty + "%r0 = linalg.broadcast ins(%0 : tensor<2xf32>) outs(%e : tensor<3x2xf32>) dimensions = [0]"},
      {"linalg.map",
       {"3x2xf32"},
       {"3x2xf32"},
       empty + "%r0 = linalg.map { math.exp } ins(%0 : tensor<3x2xf32>) outs(%e : tensor<3x2xf32>)"},
      {"linalg.reduce",
       {"3x2xf32", "2xf32"},
       {"2xf32"},
       "%r0 = linalg.reduce { arith.addf } ins(%0 : tensor<3x2xf32>) outs(%1 : tensor<2xf32>) dimensions = [0]"},
      {"linalg.generic",
       {"6xf32"},
       {"6xf32"},  // a running sum, which is no reduction of Kiln
       "%r0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]}\n"
       "      outs(%0 : tensor<6xf32>) {\n    ^bb0(%o: f32):\n    %i = linalg.index 0 : index\n"
       "    %j = arith.index_cast %i : index to i32\n    %f = arith.sitofp %j : i32 to f32\n"
       "    %s = arith.addf %o, %f : f32\n    linalg.yield %s : f32\n  } -> tensor<6xf32>"},
      {"linalg.fill",
       {"6xf32"},
       {"6xf32"},
       "%c = arith.constant 2.0 : f32\n  %f = linalg.fill ins(%c : f32) outs(%0 : tensor<6xf32>) -> tensor<6xf32>\n"
       "  %r0 = arith.mulf %f, %f : tensor<6xf32>"},
      {"linalg.fill_rng_2d",
       {"4x4xf32"},
       {"4x4xf32"},
       "%a = arith.constant 0.0 : f64\n  %b = arith.constant 1.0 : f64\n  %s = arith.constant 7 : i32\n"
       "  %r0 = linalg.fill_rng_2d ins(%a, %b, %s : f64, f64, i32) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>"},
  };
}

// Returns the operations of linalg that have no row in the tables of this file, each with the test or the operation
// that covers it.
const std::map<std::string, std::string>& LinalgElsewhere() {
  static const auto* const table = new std::map<std::string, std::string>{
      {"linalg.index", "in linalg.generic"},
      {"linalg.yield", "in linalg.generic"},
      {"linalg.softmax", "SoftmaxPackAndWinograd"},
      {"linalg.pack", "SoftmaxPackAndWinograd"},
      {"linalg.unpack", "SoftmaxPackAndWinograd"},
      {"linalg.winograd_filter_transform", "SoftmaxPackAndWinograd"},
      {"linalg.winograd_input_transform", "SoftmaxPackAndWinograd"},
      {"linalg.winograd_output_transform", "SoftmaxPackAndWinograd"},
  };
  return *table;
}

TEST(WholeOperations, OfLinalg) {
  std::vector<Row> rows;
  for (const Named& named : kNamed) rows.push_back(RowOf(named));
  for (Row& row : OtherLinalgRows()) rows.push_back(std::move(row));
  std::vector<std::string> covered = OpsOf(rows);
  for (const auto& [op, where] : LinalgElsewhere()) covered.push_back(op);
  EXPECT_THAT(Missing<mlir::linalg::LinalgDialect>(covered), ::testing::IsEmpty());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    CheckBesideStock(row);
  }
}

TEST(WholeOperations, SoftmaxPackAndWinograd) {
  const Floats softmax =
      ResultOf("2x3xf32",
               "%e = tensor.empty() : tensor<2x3xf32>\n  %r = linalg.softmax dimension(1) ins(%x : "
               "tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>");
  ASSERT_EQ(softmax.size(), 6u);
  EXPECT_NEAR(softmax[0], 0.0900306f, 1e-6);
  EXPECT_NEAR(softmax[5], 0.6652410f, 1e-6);
  EXPECT_EQ(
      ResultOf(
          "1x3x2x1xf32",
          "%e = tensor.empty() : tensor<1x3x2x1xf32>\n  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = "
          "[2, 1] into %e : tensor<2x3xf32> -> tensor<1x3x2x1xf32>"),
      Floats({1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(
      ResultOf(
          "2x3xf32",
          "%e = tensor.empty() : tensor<1x3x2x1xf32>\n  %q = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = "
          "[2, 1] into %e : tensor<2x3xf32> -> tensor<1x3x2x1xf32>\n  %u = linalg.add ins(%q, %q : "
          "tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>) outs(%e : tensor<1x3x2x1xf32>) -> tensor<1x3x2x1xf32>\n"
          "  %o = tensor.empty() : tensor<2x3xf32>\n  %r = linalg.unpack %u inner_dims_pos = [0, 1] inner_tiles = "
          "[2, 1] into %o : tensor<1x3x2x1xf32> -> tensor<2x3xf32>"),
      Floats({2, 4, 6, 8, 10, 12}));
  // Computes a convolution with the three Winograd transforms: a 3 x 3 window of ones over the numbers 1 to 16 as 4 x
  // 4.
  EXPECT_EQ(ResultOf("1x2x2x1xf32", R"(
  %in = arith.constant dense<[[[[1.0], [2.0], [3.0], [4.0]], [[5.0], [6.0], [7.0], [8.0]],
                               [[9.0], [10.0], [11.0], [12.0]], [[13.0], [14.0], [15.0], [16.0]]]]> : tensor<1x4x4x1xf32>
  %w = arith.constant dense<1.0> : tensor<1x3x3x1xf32>
  %e1 = tensor.empty() : tensor<4x4x1x1xf32>
  %f = linalg.winograd_filter_transform fmr(F_2_3) ins(%w : tensor<1x3x3x1xf32>) outs(%e1 : tensor<4x4x1x1xf32>)
      -> tensor<4x4x1x1xf32>
  %e2 = tensor.empty() : tensor<4x4x1x1x1x1xf32>
  %i = linalg.winograd_input_transform fmr(F_2_3) ins(%in : tensor<1x4x4x1xf32>) outs(%e2 : tensor<4x4x1x1x1x1xf32>)
      -> tensor<4x4x1x1x1x1xf32>
  %fc = tensor.collapse_shape %f [[0, 1], [2], [3]] : tensor<4x4x1x1xf32> into tensor<16x1x1xf32>
  %ic = tensor.collapse_shape %i [[0, 1], [2, 3, 4], [5]] : tensor<4x4x1x1x1x1xf32> into tensor<16x1x1xf32>
  %me = tensor.empty() : tensor<16x1x1xf32>
  %mf = linalg.fill ins(%zero : f32) outs(%me : tensor<16x1x1xf32>) -> tensor<16x1x1xf32>
  %m = linalg.batch_matmul ins(%ic, %fc : tensor<16x1x1xf32>, tensor<16x1x1xf32>) outs(%mf : tensor<16x1x1xf32>)
      -> tensor<16x1x1xf32>
  %mx = tensor.expand_shape %m [[0, 1], [2, 3, 4], [5]] output_shape [4, 4, 1, 1, 1, 1]
      : tensor<16x1x1xf32> into tensor<4x4x1x1x1x1xf32>
  %oz = tensor.empty() : tensor<1x2x2x1xf32>
  %oe = linalg.fill ins(%zero : f32) outs(%oz : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %r = linalg.winograd_output_transform fmr(F_2_3) ins(%mx : tensor<4x4x1x1x1x1xf32>) outs(%oe : tensor<1x2x2x1xf32>)
      -> tensor<1x2x2x1xf32>)"),
            Floats({54, 63, 90, 99}));
}

}  // namespace
}  // namespace kiln
