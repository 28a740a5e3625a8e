#include "backends/cpu/passes/outline_parallel.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lang/base/check.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/RegionUtils.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
namespace func = mlir::func;
namespace LLVM = mlir::LLVM;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

// MLIR text of the functions that all parallel loops of a module share: NAME_set_threads stores the number of threads,
// and NAME.fork runs the iterations on them, or on the caller alone if there is no pool or the number is at most 1.
constexpr char kFork[] = R"(
  llvm.mlir.global internal @NAME.threads(1 : i32) {addr_space = 0 : i32} : i32
  llvm.func @NAME_set_threads(%threads: i32) {
    %at = llvm.mlir.addressof @NAME.threads : !llvm.ptr
    llvm.store %threads, %at atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
    llvm.return
  }
  llvm.func extern_weak @kiln_parallel_for(i32, i64, i64, !llvm.ptr, !llvm.ptr)
  llvm.func internal @NAME.fork(%total: i64, %body: !llvm.ptr, %args: !llvm.ptr) {
    %at = llvm.mlir.addressof @NAME.threads : !llvm.ptr
    %threads = llvm.load %at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
    %pool = llvm.mlir.addressof @kiln_parallel_for : !llvm.ptr
    %null = llvm.mlir.zero : !llvm.ptr
    %there = llvm.icmp "ne" %pool, %null : !llvm.ptr
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %one32 = llvm.mlir.constant(1 : i32) : i32
    %several = llvm.icmp "sgt" %threads, %one32 : i32
    %both = llvm.and %there, %several : i1
    llvm.cond_br %both, ^threads, ^alone
  ^threads:
    llvm.call @kiln_parallel_for(%threads, %total, %one, %body, %args) : (i32, i64, i64, !llvm.ptr, !llvm.ptr) -> ()
    llvm.return
  ^alone:
    llvm.call %body(%zero, %total, %args) : !llvm.ptr, (i64, i64, !llvm.ptr) -> ()
    llvm.return
  })";

// MLIR text of the functions for parallel loops whose temporary arrays have a piece for each thread: NAME.fork_pieces
// runs the loop on at most as many threads as there are pieces, NAME.take_piece reserves a free piece by setting its
// bit in a mask, and NAME.give_piece clears the bit. A thread that calls NAME.take_piece therefore always finds a free
// piece.
constexpr char kPieces[] = R"(
  llvm.func internal @NAME.fork_pieces(%total: i64, %body: !llvm.ptr, %args: !llvm.ptr, %pieces: i32) {
    %at = llvm.mlir.addressof @NAME.threads : !llvm.ptr
    %wanted = llvm.load %at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
    %threads = llvm.intr.smin(%wanted, %pieces) : (i32, i32) -> i32
    %pool = llvm.mlir.addressof @kiln_parallel_for : !llvm.ptr
    %null = llvm.mlir.zero : !llvm.ptr
    %there = llvm.icmp "ne" %pool, %null : !llvm.ptr
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %one32 = llvm.mlir.constant(1 : i32) : i32
    %several = llvm.icmp "sgt" %threads, %one32 : i32
    %both = llvm.and %there, %several : i1
    llvm.cond_br %both, ^threads, ^alone
  ^threads:
    llvm.call @kiln_parallel_for(%threads, %total, %one, %body, %args) : (i32, i64, i64, !llvm.ptr, !llvm.ptr) -> ()
    llvm.return
  ^alone:
    llvm.call %body(%zero, %total, %args) : !llvm.ptr, (i64, i64, !llvm.ptr) -> ()
    llvm.return
  }
  llvm.func internal @NAME.take_piece(%mask: !llvm.ptr) -> i64 {
    %one = llvm.mlir.constant(1 : i64) : i64
    %all = llvm.mlir.constant(-1 : i64) : i64
    %first = llvm.load %mask atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
    llvm.br ^try(%first : i64)
  ^try(%old: i64):
    %free = llvm.xor %old, %all : i64
    %piece = "llvm.intr.cttz"(%free) <{is_zero_poison = false}> : (i64) -> i64
    %bit = llvm.shl %one, %piece : i64
    %new = llvm.or %old, %bit : i64
    %result = llvm.cmpxchg weak %mask, %old, %new acquire monotonic {alignment = 8 : i64} : !llvm.ptr, i64
    %now = llvm.extractvalue %result[0] : !llvm.struct<(i64, i1)>
    %done = llvm.extractvalue %result[1] : !llvm.struct<(i64, i1)>
    llvm.cond_br %done, ^end, ^try(%now : i64)
  ^end:
    llvm.return %piece : i64
  }
  llvm.func internal @NAME.give_piece(%mask: !llvm.ptr, %piece: i64) {
    %one = llvm.mlir.constant(1 : i64) : i64
    %all = llvm.mlir.constant(-1 : i64) : i64
    %bit = llvm.shl %one, %piece : i64
    %others = llvm.xor %bit, %all : i64
    %old = llvm.atomicrmw _and %mask, %others release {alignment = 8 : i64} : !llvm.ptr, i64
    llvm.return
  })";

bool IsPerIteration(mlir::Operation* op) { return op != nullptr && op->hasAttr(kPerIterationAttribute); }

// Returns the array that has a piece for each thread, if the value is one of its pieces; otherwise null.
mlir::Value ArrayOfPieces(mlir::Value value) {
  auto piece = value.getDefiningOp<memref::ReinterpretCastOp>();
  return IsPerIteration(piece) ? piece.getSource() : mlir::Value();
}

int64_t BytesOf(mlir::MemRefType type) {
  const mlir::Type element = type.getElementType();
  return type.getNumElements() * (element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8);
}

bool IsMadeAnew(mlir::Operation* op) {
  return op != nullptr && (op->hasTrait<mlir::OpTrait::ConstantLike>() || mlir::isa<memref::GetGlobalOp>(op));
}

class Outliner {
 public:
  Outliner(mlir::ModuleOp module, const std::string& name,
           absl::FunctionRef<Promise(const std::string&)> promise)
      : module_(module), name_(name), promise_(promise), b_(module.getContext()), loc_(b_.getUnknownLoc()) {
    ptr_ = LLVM::LLVMPointerType::get(b_.getContext());
    i64_ = b_.getI64Type();
  }

  void DefineFork() {
    std::string text = kFork;
    if (has_pieces_) text += kPieces;
    auto made = mlir::parseSourceString<mlir::ModuleOp>(absl::StrReplaceAll(text, {{"NAME", name_}}),
                                                        b_.getContext());
    KILN_CHECK(made, "what forks does not parse");
    auto& operations = made->getBody()->getOperations();
    module_.getBody()->getOperations().splice(module_.getBody()->end(), operations);
  }

  void Outline(scf::ForOp loop) {
    KILN_CHECK(loop.getNumResults() == 0, "a parallel loop that carries values");
    const int number = count_++;
    auto around = loop->getParentOfType<func::FuncOp>();
    llvm::SetVector<mlir::Value> used, captured;
    mlir::getUsedValuesDefinedAbove(loop.getRegion(), used);
    for (const mlir::Value value : used) {
      mlir::Operation* op = value.getDefiningOp();
      if (!IsMadeAnew(op) && (!IsPerIteration(op) || ArrayOfPieces(value))) captured.insert(value);
    }
    const Pieces pieces = PiecesOf(captured.getArrayRef());

    mlir::Block& entry = around.getBody().front();
    std::vector<mlir::Value> passed;  // one memref for each captured value
    for (const mlir::Value value : captured) passed.push_back(InMemory(value, loop, entry));
    func::FuncOp tile = MakeTile(number, around, captured.getArrayRef(), passed);
    FillTile(loop, tile, used.getArrayRef(), captured.getArrayRef());
    func::FuncOp body = MakeBody(number, tile, pieces);
    Fork(loop, body, passed, entry, pieces);
    loop.erase();
  }

  void EraseAllocations() {
    std::vector<mlir::Operation*> dead;
    module_.walk([&](mlir::Operation* op) {
      if (!IsPerIteration(op)) return;
      for (mlir::Operation* user : op->getUsers()) {
        KILN_CHECK(mlir::isa<memref::DeallocOp>(user), "a buffer of iterations is used outside of them");
        dead.push_back(user);
      }
      dead.push_back(op);
    });
    for (mlir::Operation* op : dead) op->erase();
  }

 private:
  // The pieces of arrays that a parallel loop uses, one piece of each array for each thread: their number and sizes.
  struct Pieces {
    int64_t count = 0;           // of each array; 0 if the loop uses none
    std::vector<int64_t> bytes;  // by captured value: of one piece; 0 if it is none
  };

  Pieces PiecesOf(llvm::ArrayRef<mlir::Value> captured) {
    Pieces pieces;
    for (const mlir::Value value : captured) {
      const mlir::Value array = ArrayOfPieces(value);
      pieces.bytes.push_back(0);
      if (!array) continue;
      const auto count = value.getDefiningOp()->getAttrOfType<mlir::IntegerAttr>(kPiecesAttribute).getInt();
      pieces.count = count;
      pieces.bytes.back() = BytesOf(mlir::cast<mlir::MemRefType>(array.getType())) / count;
      has_pieces_ = true;
    }
    return pieces;
  }

  // Returns a buffer that passes the value to the threads: the value itself if it is a buffer, the whole array if it is
  // a thread's piece of one. Otherwise stores the value in a new buffer before the loop and returns that buffer.
  mlir::Value InMemory(mlir::Value value, scf::ForOp loop, mlir::Block& entry) {
    if (const mlir::Value array = ArrayOfPieces(value)) return array;
    if (mlir::isa<mlir::MemRefType>(value.getType())) return value;
    b_.setInsertionPointToStart(&entry);
    const mlir::Value slot = memref::AllocaOp::create(b_, loc_, mlir::MemRefType::get({1}, value.getType()));
    b_.setInsertionPoint(loop);
    const mlir::Value zero = arith::ConstantIndexOp::create(b_, loc_, 0);
    memref::StoreOp::create(b_, loc_, value, slot, mlir::ValueRange{zero});
    return slot;
  }

  Promise PromiseOf(mlir::Value value, func::FuncOp around) const {
    if (mlir::isa<mlir::BlockArgument>(value)) return promise_(around.getName().str());
    const auto alignment = value.getDefiningOp()->getAttrOfType<mlir::IntegerAttr>("alignment");
    return {true, alignment ? static_cast<int>(alignment.getInt()) : 1};
  }

  func::FuncOp MakeFunction(const std::string& what, int number, llvm::ArrayRef<mlir::Type> types) {
    b_.setInsertionPointToEnd(module_.getBody());
    auto function =
        func::FuncOp::create(b_, loc_, absl::StrCat(name_, ".", what, number), b_.getFunctionType(types, {}));
    function.setPrivate();
    b_.setInsertionPointToStart(function.addEntryBlock());
    return function;
  }

  func::FuncOp MakeTile(int number, func::FuncOp around, llvm::ArrayRef<mlir::Value> captured,
                        const std::vector<mlir::Value>& passed) {
    std::vector<mlir::Type> types(2, b_.getIndexType());
    for (size_t i = 0; i < passed.size(); ++i)
      types.push_back((ArrayOfPieces(captured[i]) ? captured[i] : passed[i]).getType());
    func::FuncOp tile = MakeFunction("tile", number, types);
    for (size_t i = 0; i < passed.size(); ++i) {
      const auto at = static_cast<unsigned>(i + 2);
      const Promise promise = passed[i] == captured[i] || ArrayOfPieces(captured[i])
                                  ? PromiseOf(passed[i], around)
                                  : Promise{true, 1};
      if (promise.noalias) tile.setArgAttr(at, LLVM::LLVMDialect::getNoAliasAttrName(), b_.getUnitAttr());
      if (promise.alignment > 1)
        tile.setArgAttr(at, LLVM::LLVMDialect::getAlignAttrName(), b_.getI64IntegerAttr(promise.alignment));
    }
    return tile;
  }

  // Moves the loop's body to the function `tile`, which runs a range of the iterations. Creates constants and
  // temporaries again there, and reads captured values from the arguments. The builder's insertion point must be in the
  // function.
  void FillTile(scf::ForOp loop, func::FuncOp tile, llvm::ArrayRef<mlir::Value> used,
                llvm::ArrayRef<mlir::Value> captured) {
    std::vector<mlir::Value> allocated;
    mlir::IRMapping inside;
    for (const mlir::Value value : used) {
      mlir::Operation* op = value.getDefiningOp();
      if (!IsMadeAnew(op) && (!IsPerIteration(op) || ArrayOfPieces(value))) continue;
      mlir::Operation* copy = b_.clone(*op);
      copy->removeAttr(kPerIterationAttribute);
      inside.map(value, copy->getResult(0));
      if (mlir::isa<memref::AllocOp>(copy)) allocated.push_back(copy->getResult(0));
    }
    const mlir::Value zero = arith::ConstantIndexOp::create(b_, loc_, 0);
    for (size_t i = 0; i < captured.size(); ++i) {
      const mlir::Value argument = tile.getArgument(static_cast<unsigned>(i + 2));
      inside.map(captured[i],
                 argument.getType() == captured[i].getType()
                     ? argument
                     : memref::LoadOp::create(b_, loc_, argument, mlir::ValueRange{zero}).getResult());
    }
    const mlir::Value one = arith::ConstantIndexOp::create(b_, loc_, 1);
    auto run = scf::ForOp::create(b_, loc_, tile.getArgument(0), tile.getArgument(1), one);
    run.getRegion().takeBody(loop.getRegion());
    for (const mlir::Value value : used)
      mlir::replaceAllUsesInRegionWith(value, inside.lookup(value), run.getRegion());
    for (const mlir::Value buffer : allocated) memref::DeallocOp::create(b_, loc_, buffer);
    func::ReturnOp::create(b_, loc_);
  }

  LLVM::LLVMStructType Descriptor() const {
    const auto array = LLVM::LLVMArrayType::get(i64_, 1);
    return LLVM::LLVMStructType::getLiteral(b_.getContext(), {ptr_, ptr_, i64_, array, array});
  }

  mlir::Value Cast(mlir::Value value, mlir::Type type) {
    return mlir::UnrealizedConversionCastOp::create(b_, loc_, mlir::TypeRange{type}, value).getResult(0);
  }

  mlir::Value ArgumentAt(mlir::Value args, size_t position) {
    return LLVM::GEPOp::create(b_, loc_, ptr_, ptr_, args,
                               llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
  }

  func::FuncOp MakeBody(int number, func::FuncOp tile, const Pieces& pieces) {
    func::FuncOp body = MakeFunction("body", number, {i64_, i64_, ptr_});
    std::vector<mlir::Value> operands;
    for (const unsigned bound : {0u, 1u})
      operands.push_back(arith::IndexCastOp::create(b_, loc_, b_.getIndexType(), body.getArgument(bound)));
    mlir::Value mask, piece;  // the mask is the last argument
    if (pieces.count > 0) {
      mask = ArgumentAt(body.getArgument(2), tile.getNumArguments() - 2);
      piece = LLVM::CallOp::create(b_, loc_, mlir::TypeRange(i64_), absl::StrCat(name_, ".take_piece"),
                                   mlir::ValueRange{mask})
                  .getResult();
    }
    for (size_t i = 2; i < tile.getNumArguments(); ++i) {
      const mlir::Value at = ArgumentAt(body.getArgument(2), i - 2);
      mlir::Value pointer = LLVM::LoadOp::create(b_, loc_, ptr_, at);
      if (pieces.bytes[i - 2] > 0) {
        const mlir::Value bytes =
            LLVM::ConstantOp::create(b_, loc_, i64_, b_.getI64IntegerAttr(pieces.bytes[i - 2]));
        const mlir::Value offset = LLVM::MulOp::create(b_, loc_, piece, bytes);
        pointer = LLVM::GEPOp::create(b_, loc_, ptr_, b_.getI8Type(), pointer,
                                      llvm::ArrayRef<LLVM::GEPArg>{offset});
      }
      const mlir::Value none = LLVM::PoisonOp::create(b_, loc_, Descriptor());
      const mlir::Value held =
          LLVM::InsertValueOp::create(b_, loc_, none, pointer, llvm::ArrayRef<int64_t>{1});
      operands.push_back(Cast(held, tile.getArgument(static_cast<unsigned>(i)).getType()));
    }
    func::CallOp::create(b_, loc_, tile, operands);
    if (pieces.count > 0) {
      LLVM::CallOp::create(b_, loc_, mlir::TypeRange(), absl::StrCat(name_, ".give_piece"),
                           mlir::ValueRange{mask, piece});
    }
    func::ReturnOp::create(b_, loc_);
    return body;
  }

  void Fork(scf::ForOp loop, func::FuncOp body, const std::vector<mlir::Value>& passed, mlir::Block& entry,
            const Pieces& pieces) {
    b_.setInsertionPointToStart(&entry);
    const auto count = static_cast<int64_t>(std::max<size_t>(1, passed.size() + (pieces.count > 0 ? 1 : 0)));
    const mlir::Value slots = LLVM::ConstantOp::create(b_, loc_, i64_, b_.getI64IntegerAttr(count));
    const mlir::Value args = LLVM::AllocaOp::create(b_, loc_, ptr_, ptr_, slots);
    b_.setInsertionPoint(loop);
    for (size_t i = 0; i < passed.size(); ++i) {
      const mlir::Value pointer =
          LLVM::ExtractValueOp::create(b_, loc_, Cast(passed[i], Descriptor()), llvm::ArrayRef<int64_t>{1});
      LLVM::StoreOp::create(b_, loc_, pointer, ArgumentAt(args, i));
    }
    const mlir::Value total = arith::IndexCastOp::create(b_, loc_, i64_, loop.getUpperBound());
    const mlir::Value function =
        Cast(func::ConstantOp::create(b_, loc_, body.getFunctionType(), body.getName()).getResult(), ptr_);
    if (pieces.count == 0) {
      LLVM::CallOp::create(b_, loc_, mlir::TypeRange(), absl::StrCat(name_, ".fork"),
                           mlir::ValueRange{total, function, args});
      return;
    }
    const mlir::Value none = LLVM::ConstantOp::create(b_, loc_, i64_, b_.getI64IntegerAttr(0));
    LLVM::StoreOp::create(b_, loc_, none, ArgumentAt(args, passed.size()));
    const mlir::Value most = LLVM::ConstantOp::create(
        b_, loc_, b_.getI32Type(), b_.getI32IntegerAttr(static_cast<int32_t>(pieces.count)));
    LLVM::CallOp::create(b_, loc_, mlir::TypeRange(), absl::StrCat(name_, ".fork_pieces"),
                         mlir::ValueRange{total, function, args, most});
  }

  mlir::ModuleOp module_;
  const std::string name_;
  const absl::FunctionRef<Promise(const std::string&)> promise_;
  mlir::OpBuilder b_;
  const mlir::Location loc_;
  mlir::Type ptr_, i64_;
  int count_ = 0;
  bool has_pieces_ = false;
};

}  // namespace

std::string ThreadsSymbol(const std::string& name) { return absl::StrCat(name, "_set_threads"); }

bool OutlineParallel(mlir::ModuleOp module, const std::string& name,
                     absl::FunctionRef<Promise(const std::string& function)> promise) {
  std::vector<scf::ForOp> loops;
  module.walk([&](scf::ForOp loop) {
    if (loop->hasAttr(kParallelAttribute)) loops.push_back(loop);
  });
  if (loops.empty()) return false;
  Outliner outliner(module, name, promise);
  for (const scf::ForOp loop : loops) outliner.Outline(loop);
  outliner.EraseAllocations();
  outliner.DefineFork();
  return true;
}

}  // namespace kiln
