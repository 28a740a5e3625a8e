// Builds a model of each operation of MLIR's dialects tensor and scf: its library computes the right results, or the
// file is refused with a hint. A table must have a row for each operation that MLIR registers.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tests/backends/whole_operations.h"

namespace kiln {
namespace {

const std::vector<Case> kTensorCases = {
    {{"tensor.bitcast"},
     "2x3xi32",
     "%r = tensor.bitcast %x : tensor<2x3xf32> to tensor<2x3xi32>",
     {1, 2, 3, 4, 5, 6}},
    {{"tensor.cast"},
     "2x3xf32",
     "%d = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>\n  %r = tensor.cast %d : tensor<?x3xf32> to tensor<2x3xf32>",
     {1, 2, 3, 4, 5, 6}},
    {{"tensor.collapse_shape"},
     "6xf32",
     "%r = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>",
     {1, 2, 3, 4, 5, 6}},
    {{"tensor.expand_shape"},
     "2x3x1xf32",
     "%r = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 3, 1] : tensor<2x3xf32> into tensor<2x3x1xf32>",
     {1, 2, 3, 4, 5, 6}},
    {{"tensor.concat"},
     "2x6xf32",
     "%r = tensor.concat dim(1) %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>",
     {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
    {{"tensor.dim", "tensor.from_elements", "tensor.rank"},
     "2xf32",
     "%d = tensor.dim %x, %k : tensor<2x3xf32>\n  %q = tensor.rank %x : tensor<2x3xf32>\n"
     "  %a = arith.index_cast %d : index to i64\n  %b = arith.index_cast %q : index to i64\n"
     "  %f = arith.sitofp %a : i64 to f32\n  %g = arith.sitofp %b : i64 to f32\n"
     "  %r = tensor.from_elements %f, %g : tensor<2xf32>",
     {3, 2}},
    {{"tensor.empty", "tensor.splat"},
     "2xf32",
     "%v = tensor.extract %x[%k, %c2] : tensor<2x3xf32>\n  %s = tensor.splat %v : tensor<2xf32>\n"
     "  %e = tensor.empty() : tensor<2xf32>\n"
     "  %r = linalg.add ins(%s, %s : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>",
     {12, 12}},
    {{"tensor.extract", "tensor.insert"},
     "2x3xf32",
     "%v = tensor.extract %x[%k, %c2] : tensor<2x3xf32>\n  %r = tensor.insert %v into %x[%c0, %k] : tensor<2x3xf32>",
     {1, 6, 3, 4, 5, 6}},
    {{"tensor.extract_slice", "tensor.insert_slice"},
     "2x3xf32",
     "%s = tensor.extract_slice %x[%k, 0] [1, 2] [1, 1] : tensor<2x3xf32> to tensor<1x2xf32>\n"
     "  %r = tensor.insert_slice %s into %x[0, %k] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<2x3xf32>",
     {1, 4, 5, 4, 5, 6}},
    {{"tensor.gather"},
     "2x2x1xf32",
     "%r = tensor.gather %x[%p] gather_dims([1]) : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2x2x1xf32>",
     {3, 6, 1, 4}},
    {{"tensor.scatter"},
     "2x3xf32",
     "%u = arith.constant dense<[[[10.0], [20.0]], [[30.0], [40.0]]]> : tensor<2x2x1xf32>\n"
     "  %r = tensor.scatter %u into %x[%p] scatter_dims([1]) unique : (tensor<2x2x1xf32>, tensor<2x3xf32>, tensor<2x1xi64>) "
     "-> tensor<2x3xf32>",
     {30, 2, 10, 40, 5, 20}},
    {{"tensor.generate", "tensor.yield"},
     "3x2xf32",
     "%r = tensor.generate {\n  ^bb0(%i: index, %j: index):\n    %v = tensor.extract %x[%j, %i] : tensor<2x3xf32>\n"
     "    tensor.yield %v : f32\n  } : tensor<3x2xf32>",
     {1, 4, 2, 5, 3, 6}},
    {{"tensor.pad"},
     "2x5xf32",
     "%r = tensor.pad %x low[0, 1] high[0, 1] {\n  ^bb0(%i: index, %j: index):\n    %v = tensor.extract %x[%i, %c0] : "
     "tensor<2x3xf32>\n    tensor.yield %v : f32\n  } : tensor<2x3xf32> to tensor<2x5xf32>",
     {1, 1, 2, 3, 1, 4, 4, 5, 6, 4}},
    {{"tensor.reshape"},
     "3x2xf32",
     "%s = arith.constant dense<[3, 2]> : tensor<2xi64>\n"
     "  %r = tensor.reshape %x(%s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>",
     {1, 2, 3, 4, 5, 6}},
    {{"tensor.parallel_insert_slice"},
     "2x3xf32",
     "%r = scf.forall (%i) in (2) shared_outs(%o = %x) -> (tensor<2x3xf32>) {\n"
     "    %s = tensor.extract_slice %x[%i, 0] [1, 2] [1, 1] : tensor<2x3xf32> to tensor<1x2xf32>\n"
     "    scf.forall.in_parallel {\n      tensor.parallel_insert_slice %s into %o[%i, 1] [1, 2] [1, 1] : tensor<1x2xf32> into "
     "tensor<2x3xf32>\n    }\n  }",
     {1, 1, 2, 4, 4, 5}},
};

TEST(WholeOperations, OfTensor) { CheckCases<mlir::tensor::TensorDialect>(kTensorCases); }

const std::vector<Case> kScfCases = {
    {{"scf.for", "scf.yield"},
     "2x3xf32",
     "%r = scf.for %i = %c0 to %c2 step %c1 iter_args(%o = %x) -> (tensor<2x3xf32>) {\n"
     "    %v = tensor.extract %x[%i, %c0] : tensor<2x3xf32>\n    %q = tensor.insert %v into %o[%c0, %i] : tensor<2x3xf32>\n"
     "    scf.yield %q : tensor<2x3xf32>\n  }",
     {1, 4, 3, 4, 5, 6}},
    {{"scf.while", "scf.condition"},
     "2x3xf32",
     "%r, %last = scf.while (%o = %x, %i = %c0) : (tensor<2x3xf32>, index) -> (tensor<2x3xf32>, index) {\n"
     "    %more = arith.cmpi slt, %i, %c3 : index\n    scf.condition(%more) %o, %i : tensor<2x3xf32>, index\n  } do {\n"
     "  ^bb0(%o: tensor<2x3xf32>, %i: index):\n    %q = tensor.insert %zero into %o[%c1, %i] : tensor<2x3xf32>\n"
     "    %next = arith.addi %i, %c1 : index\n    scf.yield %q, %next : tensor<2x3xf32>, index\n  }",
     {1, 2, 3, 0, 0, 0}},
    {{"scf.if"},
     "2x3xf32",
     "%p1 = arith.cmpi eq, %k, %c1 : index\n  %r = scf.if %p1 -> (tensor<2x3xf32>) {\n"
     "    %q = tensor.insert %zero into %x[%c0, %c0] : tensor<2x3xf32>\n    scf.yield %q : tensor<2x3xf32>\n  } else {\n"
     "    scf.yield %x : tensor<2x3xf32>\n  }",
     {0, 2, 3, 4, 5, 6}},
    {{"scf.index_switch"},
     "2x3xf32",
     "%r = scf.index_switch %k -> tensor<2x3xf32>\n  case 1 {\n"
     "    %q = tensor.insert %zero into %x[%c0, %c1] : tensor<2x3xf32>\n    scf.yield %q : tensor<2x3xf32>\n  }\n"
     "  default {\n    scf.yield %x : tensor<2x3xf32>\n  }",
     {1, 0, 3, 4, 5, 6}},
    {{"scf.execute_region"},
     "2x3xf32",
     "%r = scf.execute_region -> tensor<2x3xf32> {\n    %q = tensor.insert %zero into %x[%c0, %k] : tensor<2x3xf32>\n"
     "    scf.yield %q : tensor<2x3xf32>\n  }",
     {1, 0, 3, 4, 5, 6}},
    {{"scf.forall", "scf.forall.in_parallel"},
     "2x3xf32",
     "%r = scf.forall (%i) in (2) shared_outs(%o = %x) -> (tensor<2x3xf32>) {\n"
     "    %s = tensor.extract_slice %x[%i, 1] [1, 2] [1, 1] : tensor<2x3xf32> to tensor<1x2xf32>\n"
     "    scf.forall.in_parallel {\n      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into "
     "tensor<2x3xf32>\n    }\n  }",
     {2, 3, 3, 5, 6, 6}},
    {{"scf.parallel", "scf.reduce", "scf.reduce.return"},
     "f32",
     "%s = scf.parallel (%i) = (%c0) to (%c3) step (%c1) init (%zero) -> f32 {\n"
     "    %v = tensor.extract %x[%c1, %i] : tensor<2x3xf32>\n    scf.reduce(%v : f32) {\n    ^bb0(%a: f32, %b: f32):\n"
     "      %t = arith.addf %a, %b : f32\n      scf.reduce.return %t : f32\n    }\n  }\n"
     "  %r = tensor.from_elements %s : tensor<f32>",
     {15}},
};

TEST(WholeOperations, OfScf) { CheckCases<mlir::scf::SCFDialect>(kScfCases); }

}  // namespace
}  // namespace kiln
