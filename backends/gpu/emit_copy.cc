#include "backends/gpu/emit_copy.h"

#include "backends/lower/emit/emit_conditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
namespace llvm_ir = mlir::LLVM;
namespace nvvm = mlir::NVVM;
using mlir::Value;

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

// The elements that a copy reads or writes: a buffer, and the address in it of each vector lane.
struct Place {
  Id buffer = kNone;
  IndexValue at = {};
};

// True if the lanes of a copy are adjacent elements, and their address is proven to be aligned to `bytes`, the size of
// all lanes together.
bool IsWhole(MemoryEmitter& memory, const Place& place, int64_t bytes) {
  const int64_t lanes = memory.code().lanes();
  if (lanes > 0 ? place.at.stride() != 1 : !place.at.uniform()) return false;
  const llvm::MaybeAlign align = memory.AlignmentOf(place.buffer, place.at);
  return align.has_value() && static_cast<int64_t>(align->value()) >= bytes;
}

Value PointerTo(MemoryEmitter& memory, const Place& place, unsigned space) {
  CodeBuilder& code = memory.code();
  mlir::ImplicitLocOpBuilder& b = code.b();
  const int64_t size = SizeOf(code.program().buffers[place.buffer].dtype);
  const Value begin = mlir::memref::ExtractAlignedPointerAsIndexOp::create(b, memory.buffers()[place.buffer]);
  const Value offset =
      arith::MulIOp::create(b, memory.indices().Scalar(place.at.Uniform()), code.ConstantIndex(size));
  const Value address =
      arith::IndexCastOp::create(b, b.getI64Type(), arith::AddIOp::create(b, begin, offset));
  // Casts the integer address to a pointer. For shared memory, it is an address within this address space. For global
  // memory, it is a generic address, which is then cast to the global address space.
  const bool shared = space == kSharedSpace;
  const auto type = llvm_ir::LLVMPointerType::get(b.getContext(), shared ? space : 0);
  const Value pointer = llvm_ir::IntToPtrOp::create(b, type, address);
  return shared ? pointer
                : llvm_ir::AddrSpaceCastOp::create(b, llvm_ir::LLVMPointerType::get(b.getContext(), space),
                                                   pointer)
                      .getResult();
}

}  // namespace

bool EmitCopy(MemoryEmitter& memory, const plan::Leaf& leaf) {
  if (leaf.stores.empty() || leaf.stores[0].mode != plan::Store::Mode::kAsync) return false;
  CodeBuilder& code = memory.code();
  const Program& p = code.program();
  const BlockNode& block = p.block(leaf.block);
  const BlockPlan& plan = code.plan().blocks.at(leaf.block);
  // Finds the load that the block copies: its value is a load, or (kWithin) a load within bounds and zero elsewhere.
  Id load = p.List(block.values)[0];
  Value inside, runs;
  if (const Expr& within = p.exprs[load]; within.op == Op::kWithin) {
    for (const int condition : plan.within.at(load)) {
      const ConditionTest test = TestOf(memory.indices(), condition);
      if (test.mask) return false;
      if (test.known == false) return false;
      if (test.known != true) inside = And(code, And(code, inside, test.uniform), test.any);
    }
    load = within.AsWithin().value;
  }
  for (const int condition : leaf.asks) {
    const ConditionTest test = TestOf(memory.indices(), condition);
    if (test.mask || test.known == false) return false;
    if (test.known != true) runs = And(code, And(code, runs, test.uniform), test.any);
  }
  if (p.exprs[load].op != Op::kLoad) return false;
  const Id source = p.exprs[load].AsLoad().buffer, dest = p.Accesses(block.dests)[0].buffer;
  const Place from{source, memory.indices().AddressOf(source, plan.addresses.at(load))};
  const Place to{dest, memory.indices().AddressOf(dest, plan.dests[0])};
  const int64_t bytes = std::max<int64_t>(code.lanes(), 1) * SizeOf(p.buffers[dest].dtype);
  const Memory place = code.plan().buffers[source].place;
  if ((place != Memory::kParameter && place != Memory::kWorkspace) ||
      code.plan().buffers[dest].place != Memory::kShared || (bytes != 4 && bytes != 8 && bytes != 16) ||
      !IsWhole(memory, from, bytes) || !IsWhole(memory, to, bytes))
    return false;
  EmitIf(code, memory.loads(), runs, [&] {
    mlir::ImplicitLocOpBuilder& b = code.b();
    const auto number = [&](int64_t n) -> Value {
      return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(n)));
    };
    Value read;
    if (inside) read = arith::SelectOp::create(b, inside, number(bytes), number(0));
    const auto cache = bytes == 16 ? nvvm::LoadCacheModifierKind::CG : nvvm::LoadCacheModifierKind::CA;
    nvvm::CpAsyncOp::create(b, PointerTo(memory, to, kSharedSpace), PointerTo(memory, from, kGlobalSpace),
                            static_cast<uint32_t>(bytes), cache, read);
  });
  memory.loads().Forget(dest);
  return true;
}

}  // namespace kiln
