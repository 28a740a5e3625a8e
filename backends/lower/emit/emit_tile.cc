// Calls of matrix units (AMX): tiles of A and B are loaded by rows, their product is added to a tile of C,
// which is one vector of 256 elements to everything but the unit. LLVM keeps it in a register of the unit
// where it stays on the stack, and configures the unit.
#include <algorithm>
#include <iterator>

#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/calls.h"
#include "lang/analysis/dataflow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

namespace LLVM = mlir::LLVM;

constexpr int64_t kRows = 16, kRowBytes = 64, kColumns = 16;

struct TileInstruction {
  const char *intrinsic, *feature, *llvm;
  int64_t together;  // k of a column of B
};

constexpr TileInstruction kTiles[] = {
    {"amx.u8s8.compute", "amx-int8", "llvm.x86.tdpbusd.internal", 4},
    {"amx.s8s8.compute", "amx-int8", "llvm.x86.tdpbssd.internal", 4},
    {"amx.bf16.compute", "amx-bf16", "llvm.x86.tdpbf16ps.internal", 2},
    {"amx.f16.compute", "amx-fp16", "llvm.x86.tdpfp16ps.internal", 2},
};

// Linux lends the unit to processes that ask: what holds such code asks when it is loaded. Where the request
// fails, the first use of the unit ends the process.
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

}  // namespace

// Where a row begins, and how far it is to the next; nothing where elements are apart in another way than the
// unit reads them. `bind` sets the loops of a row's part; lanes go along what the caller made lanes.
std::optional<Emitter::TileRows> Emitter::RowsOf(const Sum& address, int64_t parts, int64_t stride,
                                                 llvm::function_ref<void(int64_t row, int64_t part)> bind) {
  TileRows rows;
  std::vector<int64_t> first;
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t part = 0; part < parts; ++part) {
      bind(row, part);
      IndexValue at = Eval(address);
      if (!at.vectors.empty() || at.stride() != stride) return std::nullopt;
      at = at.Uniform();
      if (row == 0 && part == 0) rows.first = at;
      if (row == 1 && part == 0) rows.apart = at.constant - rows.first.constant;
      at.constant -= row * rows.apart + part;
      std::vector<int64_t> key;
      at.AppendKey(key);
      if (first.empty()) first = key;
      if (key != first) return std::nullopt;
    }
  }
  return rows;
}

// False where the machine has none, or elements do not lie as it wants them: then the description is emitted.
bool Emitter::EmitTile(Id outer, const std::string& name) {
  const auto* tile = std::find_if(std::begin(kTiles), std::end(kTiles), [&](const TileInstruction& t) {
    return t.intrinsic == name && HasFeature(options_.features, t.feature);
  });
  if (tile == std::end(kTiles)) return false;
  const Id middle = OnlyChild(p_, outer), inner = middle == kNone ? kNone : OnlyChild(p_, middle),
           block = inner == kNone ? kNone : OnlyChild(p_, inner);
  if (block == kNone || !p_.IsLoop(middle) || !p_.IsLoop(inner) || !p_.IsBlock(block)) return false;
  const BlockPlan& plan = plan_.blocks.at(block);
  const Expr& product = p_.exprs[p_.List(p_.block(block).values)[0]];
  const Id a = LoadUnderCast(p_, product.a), b = LoadUnderCast(p_, product.b);
  const bool decided =
      std::all_of(plan.guards.begin(), plan.guards.end(), [&](int c) { return known_[c] == true; });
  if (a == kNone || b == kNone || !decided || !p_.block(block).accumulates) return false;

  const auto unbind = [&] {
    lanes_ = 0;
    for (const Id loop : {outer, middle, inner}) loops_.erase(loop);
  };
  const auto bind = [&](Id row_loop, int64_t row, Id lane_loop, int64_t lanes, Id still) {
    loops_[still] = IndexValue::Constant(0);
    loops_[row_loop] = IndexValue::Constant(row);
    loops_[lane_loop] = IndexValue::Lanes(lanes);
    lanes_ = lanes;
  };
  const int64_t k = p_.loop(middle).extent.Known();
  const auto rows_a =
      RowsOf(plan.addresses.at(a), 1, 1, [&](int64_t row, int64_t) { bind(outer, row, middle, k, inner); });
  const auto rows_b = RowsOf(
      plan.addresses.at(b), tile->together, tile->together,
      [&](int64_t row, int64_t part) { bind(middle, row * tile->together + part, inner, kColumns, outer); });
  const auto rows_c =
      RowsOf(plan.dests[0], 1, 1, [&](int64_t row, int64_t) { bind(outer, row, inner, kColumns, middle); });
  unbind();
  if (!rows_a || !rows_b || !rows_c) return false;

  AskForUnit(module_, loc_);
  const Id result = p_.Accesses(p_.block(block).dests)[0].buffer;
  const mlir::Type unit = LLVM::LLVMX86AMXType::get(b_.getContext());
  const auto number = [&](int64_t value) -> Value {
    return mlir::arith::ConstantOp::create(b_, loc_, b_.getI16IntegerAttr(static_cast<int16_t>(value)));
  };
  const auto bytes = [&](int64_t value) -> Value {
    return mlir::arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(value));
  };
  const auto call = [&](mlir::Type type, const char* intrinsic, mlir::ValueRange operands) -> Value {
    auto made = type ? LLVM::CallIntrinsicOp::create(b_, loc_, type, b_.getStringAttr(intrinsic), operands)
                     : LLVM::CallIntrinsicOp::create(b_, loc_, b_.getStringAttr(intrinsic), operands);
    return type ? made.getResult(0) : Value();
  };
  const auto pointer = [&](Id buffer, const TileRows& rows) -> Value {
    const Value base = mlir::memref::ExtractAlignedPointerAsIndexOp::create(b_, loc_, buffers_[buffer]);
    const Value size = mlir::arith::ConstantIndexOp::create(b_, loc_, SizeOf(p_.buffers[buffer].dtype));
    const Value offset = mlir::arith::MulIOp::create(b_, loc_, Scalar(rows.first), size);
    const Value sum = mlir::arith::AddIOp::create(b_, loc_, base, offset);
    const Value bits = mlir::arith::IndexCastOp::create(b_, loc_, b_.getI64Type(), sum);
    return LLVM::IntToPtrOp::create(b_, loc_, LLVM::LLVMPointerType::get(b_.getContext()), bits);
  };
  const Value height = number(kRows), width = number(kRowBytes);
  const auto load = [&](Id buffer, const TileRows& rows) -> Value {
    return call(unit, "llvm.x86.tileloadd64.internal",
                {height, width, pointer(buffer, rows), bytes(rows.apart * SizeOf(p_.buffers[buffer].dtype))});
  };
  const Value left = load(BufferRead(p_.exprs[a]), *rows_a), right = load(BufferRead(p_.exprs[b]), *rows_b);
  const bool whole = plan_.buffers[result].place == Memory::kAlloca && rows_c->apart == kColumns;
  const auto vector = mlir::VectorType::get({kRows * kColumns}, MemoryType(b_, p_.buffers[result].dtype));
  Value sums;
  if (whole) {
    const Value before = mlir::vector::LoadOp::create(b_, loc_, vector, buffers_[result],
                                                      mlir::ValueRange{Scalar(rows_c->first)});
    sums = call(unit, "llvm.x86.cast.vector.to.tile", before);
  } else {
    sums = load(result, *rows_c);
  }
  sums = call(unit, tile->llvm, {height, width, width, sums, left, right});
  if (whole) {
    const Value after = call(vector, "llvm.x86.cast.tile.to.vector", sums);
    mlir::vector::StoreOp::create(b_, loc_, after, buffers_[result], mlir::ValueRange{Scalar(rows_c->first)});
  } else {
    call({}, "llvm.x86.tilestored64.internal",
         {height, width, pointer(result, *rows_c), bytes(rows_c->apart * SizeOf(p_.buffers[result].dtype)),
          sums});
  }
  Forget(result);
  return true;
}

}  // namespace kiln
