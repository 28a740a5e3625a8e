#include "backends/lower/emit/emit_tile.h"

#include "backends/lower/emit/emit_types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

namespace LLVM = mlir::LLVM;

constexpr int64_t kRowBytes = 64;

// Emits a function that asks Linux for the matrix unit (AMX), which a process gets on demand. It runs as a constructor
// when the object code is loaded. If the request fails, the first use of the unit ends the process. A module gets one
// such function, however often this is called.
void AskForUnit(mlir::ModuleOp module, mlir::Location loc) {
  constexpr char kName[] = "kiln.ask_for_matrix_unit";
  constexpr int64_t kArchPrctl = 158, kRequestPermission = 0x1023, kTileData = 18;
  if (module.lookupSymbol(kName)) return;
  auto b = mlir::OpBuilder::atBlockEnd(module.getBody());
  const mlir::Type i64 = b.getI64Type();
  auto ask = LLVM::LLVMFuncOp::create(
      b, loc, kName, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {}),
      LLVM::Linkage::Internal);
  {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ask.addEntryBlock(b));
    llvm::SmallVector<mlir::Value> numbers;
    for (const int64_t number : {kArchPrctl, kRequestPermission, kTileData})
      numbers.push_back(LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(number)));
    LLVM::InlineAsmOp::create(b, loc, i64, numbers, "syscall",
                              "={rax},0,{rdi},{rsi},~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}",
                              /*has_side_effects=*/true, /*is_align_stack=*/false,
                              LLVM::tailcallkind::TailCallKind::None, nullptr, nullptr);
    LLVM::ReturnOp::create(b, loc, mlir::ValueRange{});
  }
  LLVM::GlobalCtorsOp::create(b, loc, b.getArrayAttr({mlir::FlatSymbolRefAttr::get(ask)}),
                              b.getI32ArrayAttr({0}), b.getArrayAttr({LLVM::ZeroAttr::get(b.getContext())}));
}

class TileCall {
 public:
  TileCall(MemoryEmitter& memory, const plan::TileOperands& operands);

  void Emit();

 private:
  using Value = mlir::Value;
  using Rows = plan::TileOperands::Rows;

  Value Load(Id buffer, const Rows& rows);
  Value LoadSums();
  void StoreSums(Value sums);
  Value Call(mlir::Type type, llvm::StringRef intrinsic, mlir::ValueRange operands);
  Value Pointer(Id buffer, const Rows& rows);
  Value RowBytes(Id buffer, const Rows& rows);
  mlir::VectorType SumsAsVector();
  mlir::Type Unit();

  MemoryEmitter& memory_;
  CodeBuilder& code_;
  mlir::ImplicitLocOpBuilder& b_;
  const Program& p_;
  const plan::TileOperands& tile_;
  const Id result_;
  const bool whole_;            // the tile of C lies on the stack, without gaps between its rows
  const Value height_, width_;  // of a tile: rows, bytes
};

mlir::Value Number(mlir::ImplicitLocOpBuilder& b, int64_t value) {
  return mlir::arith::ConstantOp::create(b, b.getI16IntegerAttr(static_cast<int16_t>(value)));
}

TileCall::TileCall(MemoryEmitter& memory, const plan::TileOperands& operands)
    : memory_(memory),
      code_(memory.code()),
      b_(code_.b()),
      p_(code_.program()),
      tile_(operands),
      result_(p_.Accesses(p_.block(tile_.block).dests)[0].buffer),
      whole_(code_.plan().buffers[result_].place == Memory::kAlloca && tile_.rows_c.apart == tile_.row->n),
      height_(Number(b_, tile_.row->m)),
      width_(Number(b_, kRowBytes)) {}

void TileCall::Emit() {
  const Value left = Load(BufferRead(p_.exprs[tile_.a]), tile_.rows_a);
  const Value right = Load(BufferRead(p_.exprs[tile_.b]), tile_.rows_b);
  StoreSums(Call(Unit(), tile_.row->llvm, {height_, width_, width_, LoadSums(), left, right}));
  memory_.loads().Forget(result_);
}

mlir::Value TileCall::Load(Id buffer, const Rows& rows) {
  return Call(Unit(), "llvm.x86.tileloadd64.internal",
              {height_, width_, Pointer(buffer, rows), RowBytes(buffer, rows)});
}

mlir::Value TileCall::LoadSums() {
  if (!whole_) return Load(result_, tile_.rows_c);
  const Value before =
      mlir::vector::LoadOp::create(b_, SumsAsVector(), memory_.buffers()[result_],
                                   mlir::ValueRange{memory_.indices().Scalar(tile_.rows_c.first)});
  return Call(Unit(), "llvm.x86.cast.vector.to.tile", before);
}

void TileCall::StoreSums(Value sums) {
  if (whole_) {
    const Value after = Call(SumsAsVector(), "llvm.x86.cast.tile.to.vector", sums);
    mlir::vector::StoreOp::create(b_, after, memory_.buffers()[result_],
                                  mlir::ValueRange{memory_.indices().Scalar(tile_.rows_c.first)});
  } else {
    Call({}, "llvm.x86.tilestored64.internal",
         {height_, width_, Pointer(result_, tile_.rows_c), RowBytes(result_, tile_.rows_c), sums});
  }
}

// Emits a call of an LLVM intrinsic; returns null if it has no result.
mlir::Value TileCall::Call(mlir::Type type, llvm::StringRef intrinsic, mlir::ValueRange operands) {
  const auto name = b_.getStringAttr(intrinsic);
  auto made = type ? LLVM::CallIntrinsicOp::create(b_, type, name, operands)
                   : LLVM::CallIntrinsicOp::create(b_, name, operands);
  return type ? made.getResult(0) : Value();
}

mlir::Value TileCall::Pointer(Id buffer, const Rows& rows) {
  const Value base = mlir::memref::ExtractAlignedPointerAsIndexOp::create(b_, memory_.buffers()[buffer]);
  const Value size = mlir::arith::ConstantIndexOp::create(b_, SizeOf(p_.buffers[buffer].dtype));
  const Value offset = mlir::arith::MulIOp::create(b_, memory_.indices().Scalar(rows.first), size);
  const Value sum = mlir::arith::AddIOp::create(b_, base, offset);
  const Value bits = mlir::arith::IndexCastOp::create(b_, b_.getI64Type(), sum);
  return LLVM::IntToPtrOp::create(b_, LLVM::LLVMPointerType::get(b_.getContext()), bits);
}

mlir::Value TileCall::RowBytes(Id buffer, const Rows& rows) {
  return mlir::arith::ConstantOp::create(b_,
                                         b_.getI64IntegerAttr(rows.apart * SizeOf(p_.buffers[buffer].dtype)));
}

mlir::VectorType TileCall::SumsAsVector() {
  return mlir::VectorType::get({tile_.row->m * tile_.row->n}, MemoryType(b_, p_.buffers[result_].dtype));
}

mlir::Type TileCall::Unit() { return LLVM::LLVMX86AMXType::get(b_.getContext()); }

}  // namespace

void EmitTile(MemoryEmitter& memory, const plan::TileOperands& operands) {
  AskForUnit(memory.code().module(), memory.code().b().getLoc());
  TileCall(memory, operands).Emit();
}

}  // namespace kiln
