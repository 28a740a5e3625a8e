#include "backends/lower/emit/emit_tile.h"

#include <algorithm>
#include <iterator>

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
  int64_t together;  // how many k of a column of B are neighbors
};

constexpr TileInstruction kTiles[] = {
    {"amx.u8s8.compute", "amx-int8", "llvm.x86.tdpbusd.internal", 4},
    {"amx.s8s8.compute", "amx-int8", "llvm.x86.tdpbssd.internal", 4},
    {"amx.bf16.compute", "amx-bf16", "llvm.x86.tdpbf16ps.internal", 2},
    {"amx.f16.compute", "amx-fp16", "llvm.x86.tdpfp16ps.internal", 2},
};

// Emits a request for the unit, which Linux grants to a process on demand, as a constructor of the shared
// object. If the request fails, the first use of the unit ends the process.
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

bool TileCall::Emit(const std::string& intrinsic) {
  const auto* tile = std::find_if(std::begin(kTiles), std::end(kTiles), [&](const TileInstruction& t) {
    return t.intrinsic == intrinsic && HasFeature(e_.options_.features, t.feature);
  });
  if (tile == std::end(kTiles) || !FindFactors() || !FindRows(tile->together)) return false;

  AskForUnit(e_.module_, e_.loc_);
  result_ = e_.p_.Accesses(e_.p_.block(block_).dests)[0].buffer;
  whole_ = e_.plan_.buffers[result_].place == Memory::kAlloca && rows_c_.apart == kColumns;
  const auto number = [&](int64_t value) -> Value {
    return mlir::arith::ConstantOp::create(e_.b_, e_.loc_,
                                           e_.b_.getI16IntegerAttr(static_cast<int16_t>(value)));
  };
  height_ = number(kRows);
  width_ = number(kRowBytes);
  const Value left = Load(BufferRead(e_.p_.exprs[a_]), rows_a_);
  const Value right = Load(BufferRead(e_.p_.exprs[b_]), rows_b_);
  StoreSums(Call(Unit(), tile->llvm, {height_, width_, width_, LoadSums(), left, right}));
  e_.Forget(result_);
  return true;
}

bool TileCall::FindFactors() {
  const Program& p = e_.p_;
  middle_ = OnlyChild(p, outer_);
  inner_ = middle_ == kNone ? kNone : OnlyChild(p, middle_);
  block_ = inner_ == kNone ? kNone : OnlyChild(p, inner_);
  if (block_ == kNone || !p.IsLoop(middle_) || !p.IsLoop(inner_) || !p.IsBlock(block_)) return false;
  const Expr& product = p.exprs[p.List(p.block(block_).values)[0]];
  a_ = LoadUnderCast(p, product.operand(0));
  b_ = LoadUnderCast(p, product.operand(1));
  const std::vector<int>& guards = e_.plan_.blocks.at(block_).guards;
  const bool decided = std::all_of(guards.begin(), guards.end(), [&](int c) { return e_.known_[c] == true; });
  return a_ != kNone && b_ != kNone && decided && p.block(block_).accumulates;
}

// Finds the rows of A, B and C; false if their layout does not suit the unit. `together`: how many elements
// of a column of B are neighbors in memory.
bool TileCall::FindRows(int64_t together) {
  const auto bind = [&](Id row_loop, int64_t row, Id lane_loop, int64_t lanes, Id still) {
    e_.loops_[still] = IndexValue::Constant(0);
    e_.loops_[row_loop] = IndexValue::Constant(row);
    e_.loops_[lane_loop] = IndexValue::Lanes(lanes);
    e_.lanes_ = lanes;
  };
  const BlockPlan& plan = e_.plan_.blocks.at(block_);
  const int64_t k = e_.p_.loop(middle_).extent.Known();
  const auto rows_a = RowsOf(plan.addresses.at(a_), 1, 1,
                             [&](int64_t row, int64_t) { bind(outer_, row, middle_, k, inner_); });
  const auto rows_b = RowsOf(plan.addresses.at(b_), together, together, [&](int64_t row, int64_t part) {
    bind(middle_, row * together + part, inner_, kColumns, outer_);
  });
  const auto rows_c = RowsOf(plan.dests[0], 1, 1,
                             [&](int64_t row, int64_t) { bind(outer_, row, inner_, kColumns, middle_); });
  e_.lanes_ = 0;
  for (const Id loop : {outer_, middle_, inner_}) e_.loops_.erase(loop);
  if (!rows_a || !rows_b || !rows_c) return false;
  rows_a_ = *rows_a;
  rows_b_ = *rows_b;
  rows_c_ = *rows_c;
  return true;
}

// The address of the first row and the distance between rows; nothing if the elements have a stride that the
// unit cannot read. `bind` sets the loops of one part of a row; the lanes are those that the caller set.
std::optional<TileCall::Rows> TileCall::RowsOf(const IndexSum& address, int64_t parts, int64_t stride,
                                               llvm::function_ref<void(int64_t row, int64_t part)> bind) {
  Rows rows;
  std::vector<int64_t> first;
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t part = 0; part < parts; ++part) {
      bind(row, part);
      IndexValue at = e_.Eval(address);
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

mlir::Value TileCall::Load(Id buffer, const Rows& rows) {
  return Call(Unit(), "llvm.x86.tileloadd64.internal",
              {height_, width_, Pointer(buffer, rows), RowBytes(buffer, rows)});
}

mlir::Value TileCall::LoadSums() {
  if (!whole_) return Load(result_, rows_c_);
  const Value before = mlir::vector::LoadOp::create(e_.b_, e_.loc_, SumsAsVector(), e_.buffers_[result_],
                                                    mlir::ValueRange{e_.Scalar(rows_c_.first)});
  return Call(Unit(), "llvm.x86.cast.vector.to.tile", before);
}

void TileCall::StoreSums(Value sums) {
  if (whole_) {
    const Value after = Call(SumsAsVector(), "llvm.x86.cast.tile.to.vector", sums);
    mlir::vector::StoreOp::create(e_.b_, e_.loc_, after, e_.buffers_[result_],
                                  mlir::ValueRange{e_.Scalar(rows_c_.first)});
  } else {
    Call({}, "llvm.x86.tilestored64.internal",
         {height_, width_, Pointer(result_, rows_c_), RowBytes(result_, rows_c_), sums});
  }
}

// Emits a call of an LLVM intrinsic; returns null if it has no result.
mlir::Value TileCall::Call(mlir::Type type, const char* intrinsic, mlir::ValueRange operands) {
  const auto name = e_.b_.getStringAttr(intrinsic);
  auto made = type ? LLVM::CallIntrinsicOp::create(e_.b_, e_.loc_, type, name, operands)
                   : LLVM::CallIntrinsicOp::create(e_.b_, e_.loc_, name, operands);
  return type ? made.getResult(0) : Value();
}

mlir::Value TileCall::Pointer(Id buffer, const Rows& rows) {
  mlir::OpBuilder& b = e_.b_;
  const mlir::Location loc = e_.loc_;
  const Value base = mlir::memref::ExtractAlignedPointerAsIndexOp::create(b, loc, e_.buffers_[buffer]);
  const Value size = mlir::arith::ConstantIndexOp::create(b, loc, SizeOf(e_.p_.buffers[buffer].dtype));
  const Value offset = mlir::arith::MulIOp::create(b, loc, e_.Scalar(rows.first), size);
  const Value sum = mlir::arith::AddIOp::create(b, loc, base, offset);
  const Value bits = mlir::arith::IndexCastOp::create(b, loc, b.getI64Type(), sum);
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), bits);
}

mlir::Value TileCall::RowBytes(Id buffer, const Rows& rows) {
  return mlir::arith::ConstantOp::create(
      e_.b_, e_.loc_, e_.b_.getI64IntegerAttr(rows.apart * SizeOf(e_.p_.buffers[buffer].dtype)));
}

mlir::VectorType TileCall::SumsAsVector() {
  return mlir::VectorType::get({kRows * kColumns}, MemoryType(e_.b_, e_.p_.buffers[result_].dtype));
}

mlir::Type TileCall::Unit() { return LLVM::LLVMX86AMXType::get(e_.b_.getContext()); }

}  // namespace kiln
