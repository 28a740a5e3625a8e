// Injects faults into swizzles, the permutations of words in shared memory that avoid bank conflicts, and expects that
// wrong results show each fault. docs/fuzzing.md has the table of faults.
#include <gtest/gtest.h>

#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "tests/gpu/injections.h"

namespace kiln {
namespace {

namespace llvm_ir = mlir::LLVM;
namespace nvvm = mlir::NVVM;

// Removes the last swizzle of the kernel. Threads then write a row in permuted order, but read it without the
// permutation. Returns false if there are fewer than two swizzles.
bool SwizzleWritesAlone(mlir::ModuleOp module, LaunchList&) {
  const auto swizzles = All<llvm_ir::XOrOp>(module);
  if (swizzles.size() < 2) return false;
  llvm_ir::XOrOp last = swizzles.back();
  last.getRes().replaceAllUsesWith(last.getLhs());
  return true;
}

bool SwizzleFewerBits(mlir::ModuleOp module, LaunchList&) {
  const auto swizzles = All<llvm_ir::XOrOp>(module);
  if (swizzles.empty()) return false;
  llvm_ir::XOrOp first = swizzles.front();
  mlir::OpBuilder b(first);
  const mlir::Type type = first.getType();
  const mlir::Value mask =
      llvm_ir::ConstantOp::create(b, first.getLoc(), type, b.getIntegerAttr(type, ~int64_t{4}));
  first->setOperand(1, llvm_ir::AndOp::create(b, first.getLoc(), first.getRhs(), mask));
  return true;
}

// Changes the first swizzle, that of the writing threads: the line number that it uses counts from the start of the
// whole buffer, 3 lines for each thread block, instead of the start of the tile in shared memory. Returns false if
// there is no swizzle.
bool SwizzleBeforeCompaction(mlir::ModuleOp module, LaunchList&) {
  const auto swizzles = All<llvm_ir::XOrOp>(module);
  if (swizzles.empty()) return false;
  llvm_ir::XOrOp first = swizzles.front();
  mlir::OpBuilder b(first);
  const mlir::Location at = first.getLoc();
  const mlir::Type type = first.getType();
  const auto number = [&](int64_t n) -> mlir::Value {
    return llvm_ir::ConstantOp::create(b, at, type, b.getIntegerAttr(type, n));
  };
  const mlir::Value block =
      llvm_ir::ZExtOp::create(b, at, type, nvvm::BlockIdXOp::create(b, at, b.getI32Type()));
  const mlir::Value whole =
      llvm_ir::AddOp::create(b, at, first.getLhs(), llvm_ir::MulOp::create(b, at, block, number(3 * 32)));
  const mlir::Value line = llvm_ir::LShrOp::create(b, at, whole, number(5));
  const mlir::Value odd = llvm_ir::AndOp::create(b, at, line, number(1));
  first->setOperand(1, llvm_ir::ShlOp::create(b, at, odd, number(2)));
  return true;
}

TEST(GpuInjections, OfASwizzleAreFound) {
  const Program program = Matmul(64, 32, 16);
  SimtTile tile{.rows = {1, 8, 4}, .columns = {1, 8, 4}, .step = 8};
  Schedule s = TiledProduct(program, tile);
  const Injection injections[] = {
      {"a swizzle of writers alone", kResults, nullptr, SwizzleWritesAlone},
      {"a swizzle of fewer bits in one place", kResults, nullptr, SwizzleFewerBits},
  };
  s.SwizzleLines(s.GetBlock("A.cache.1"));
  ExpectFound(program, s, injections);
}

TEST(GpuInjections, OfASwizzleOfTilesAreFound) {  // tiles of 12 rows of 32 bytes: three lines
  const Program program = Matmul(24, 32, 16);
  SimtTile tile{.rows = {1, 3, 4}, .columns = {1, 8, 4}, .step = 8};
  Schedule s = TiledProduct(program, tile);
  s.SwizzleLines(s.GetBlock("A.cache.1"));
  const Injection injections[] = {
      {"a swizzle of writers before compaction", kResults, nullptr, SwizzleBeforeCompaction},
  };
  ExpectFound(program, s, injections);
}

}  // namespace
}  // namespace kiln
