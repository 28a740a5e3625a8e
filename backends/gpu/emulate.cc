#include "backends/gpu/emulate.h"

#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "backends/codegen/codegen.h"
#include "backends/codegen/link.h"
#include "backends/cpu/machine.h"
#include "backends/lower/emit/emit_buffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kiln {
namespace {

namespace llvm_ir = mlir::LLVM;
namespace nvvm = mlir::NVVM;
using mlir::Value;

// Follows a pointer back through offsets, casts of address spaces, and fields that were put into structures. Returns
// the first value that none of these computes.
Value BaseOf(Value pointer) {
  for (;;) {
    if (auto gep = pointer.getDefiningOp<llvm_ir::GEPOp>()) {
      pointer = gep.getBase();
    } else if (auto cast = pointer.getDefiningOp<llvm_ir::AddrSpaceCastOp>()) {
      pointer = cast.getArg();
    } else if (auto extract = pointer.getDefiningOp<llvm_ir::ExtractValueOp>()) {
      Value found;
      for (Value at = extract.getContainer(); auto put = at.getDefiningOp<llvm_ir::InsertValueOp>();
           at = put.getContainer()) {
        if (put.getPosition() != extract.getPosition()) continue;
        found = put.getValue();
        break;
      }
      if (!found) return pointer;
      pointer = found;
    } else {
      return pointer;
    }
  }
}

class Rewriter {
 public:
  explicit Rewriter(mlir::ModuleOp module)
      : module_(module),
        b_(module.getLoc(), module.getContext()),
        pointer_(llvm_ir::LLVMPointerType::get(module.getContext())),
        i32_(b_.getI32Type()),
        i64_(b_.getI64Type()),
        void_(llvm_ir::LLVMVoidType::get(module.getContext())) {}

  absl::Status RewriteKernels() {
    std::vector<mlir::Operation*> operations;
    for (auto function : module_.getOps<llvm_ir::LLVMFuncOp>()) {
      function.walk([&](mlir::Operation* op) { operations.push_back(op); });
      MakeOrdinary(function);
    }
    for (mlir::Operation* op : operations) {
      b_.setInsertionPoint(op);
      if (op->getName().getDialectNamespace() == "nvvm") {
        if (!RewriteInstruction(op))
          return absl::FailedPreconditionError(
              absl::StrCat("the emulator does not have ", op->getName().getStringRef().str()));
      } else {
        RewriteMemory(op);
      }
    }
    if (auto arena = module_.lookupSymbol<llvm_ir::GlobalOp>(kSharedArena)) arena.erase();
    return absl::OkStatus();
  }

  // Adds two functions for the kernel K of a launch, by which a fake driver runs it: K_launch and K_arguments
  // (emulate.h). Returns their names.
  std::vector<std::string> AddLauncher(const Launch& launch) {
    b_.setInsertionPointToEnd(module_.getBody());
    const std::vector<std::string> names = {launch.kernel + "_launch", launch.kernel + "_arguments"};
    auto run = mlir::func::FuncOp::create(b_, names[0],
                                          b_.getFunctionType({pointer_, pointer_, i64_, i64_, i64_}, {i32_}));
    mlir::Block* const body = run.addEntryBlock();
    b_.setInsertionPointToStart(body);
    const Value count = Number(i64_, static_cast<int64_t>(launch.arguments.size()));
    const auto given = body->getArguments();
    const Value status = Call("kiln_emulate_launch", i32_,
                              {NameOf(launch), llvm_ir::AddressOfOp::create(b_, TableKernel(launch)),
                               given[0], given[1], count, given[2], given[3], given[4]});
    mlir::func::ReturnOp::create(b_, status);
    b_.setInsertionPointToEnd(module_.getBody());
    auto arguments = mlir::func::FuncOp::create(b_, names[1], b_.getFunctionType({}, {i32_}));
    b_.setInsertionPointToStart(arguments.addEntryBlock());
    mlir::func::ReturnOp::create(b_, Number(i32_, static_cast<int64_t>(launch.arguments.size())));
    return names;
  }

  // Adds func NAME(pointers...) -> i32, which runs all launches of a phase and joins their statuses by `or`.
  void AddEntry(const std::string& name, const LaunchList& launches, bool prepare) {
    b_.setInsertionPointToEnd(module_.getBody());
    const llvm::SmallVector<mlir::Type> types(launches.parameters.size(), pointer_);
    auto entry = mlir::func::FuncOp::create(b_, name, b_.getFunctionType(types, {i32_}));
    mlir::Block* const body = entry.addEntryBlock();
    b_.setInsertionPointToStart(body);
    Value workspace, status = Number(i32_, 0);
    if (launches.workspace_bytes > 0)
      workspace = Call("kiln_emulate_workspace", pointer_, {Number(i64_, launches.workspace_bytes)});
    for (const Launch& launch : launches.launches) {
      if (launch.prepare != prepare) continue;
      const auto count = static_cast<int64_t>(launch.arguments.size());
      const Value table = Array(pointer_, count), bytes = Array(i64_, count);
      for (int64_t a = 0; a < count; ++a) {
        const LaunchArgument& argument = launch.arguments[a];
        const Value memory = argument.is_workspace ? At(b_.getI8Type(), workspace, argument.value)
                                                   : Value(body->getArgument(argument.value));
        llvm_ir::StoreOp::create(b_, memory, At(pointer_, table, a));
        llvm_ir::StoreOp::create(b_, Number(i64_, argument.bytes), At(i64_, bytes, a));
      }
      const Value text = NameOf(launch);
      const Value kernel = llvm_ir::AddressOfOp::create(b_, TableKernel(launch));
      const Value result = Call("kiln_emulate_launch", i32_,
                                {text, kernel, table, bytes, Number(i64_, count), Number(i64_, launch.blocks),
                                 Number(i64_, launch.threads), Number(i64_, launch.shared_bytes)});
      status = llvm_ir::OrOp::create(b_, status, result);
    }
    mlir::func::ReturnOp::create(b_, status);
  }

 private:
  // Makes a kernel an ordinary function of the host: removes the nvvm attributes, and all attributes of arguments, such
  // as noalias. The function becomes internal to the object.
  void MakeOrdinary(llvm_ir::LLVMFuncOp function) {
    for (const mlir::NamedAttribute attribute : llvm::SmallVector<mlir::NamedAttribute>(function->getAttrs()))
      if (attribute.getName().strref().starts_with("nvvm.")) function->removeAttr(attribute.getName());
    function.removeArgAttrsAttr();
    if (!function.isExternal()) function.setLinkage(llvm_ir::Linkage::Internal);
  }

  Value Number(mlir::Type type, int64_t value) {
    return llvm_ir::ConstantOp::create(b_, type, b_.getIntegerAttr(type, value));
  }
  Value Array(mlir::Type element, int64_t count) {
    return llvm_ir::AllocaOp::create(b_, pointer_, element, Number(i64_, std::max<int64_t>(count, 1)));
  }
  Value At(mlir::Type element, Value base, int64_t index) {
    return llvm_ir::GEPOp::create(b_, base.getType(), element, base,
                                  llvm::ArrayRef<llvm_ir::GEPArg>{static_cast<int32_t>(index)});
  }
  Value Generic(Value pointer) {
    return pointer.getType() == pointer_
               ? pointer
               : llvm_ir::AddrSpaceCastOp::create(b_, pointer_, pointer).getResult();
  }

  // Emits a call of a function of the emulator, and declares the function as a weak symbol if need be, so that the
  // object links without an emulator. Returns null if the result is void.
  Value Call(const std::string& name, mlir::Type result, const llvm::SmallVector<Value>& arguments) {
    auto function = module_.lookupSymbol<llvm_ir::LLVMFuncOp>(name);
    if (!function) {
      llvm::SmallVector<mlir::Type> types;
      for (const Value argument : arguments) types.push_back(argument.getType());
      mlir::OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(module_.getBody());
      function = llvm_ir::LLVMFuncOp::create(b_, name, llvm_ir::LLVMFunctionType::get(result, types),
                                             llvm_ir::Linkage::ExternWeak);
    }
    auto call = llvm_ir::CallOp::create(b_, function, mlir::ValueRange(arguments));
    return result == void_ ? Value() : call.getResult();
  }
  Value Site() { return Number(i64_, sites_++); }

  Value NameOf(const Launch& launch) {
    const std::string symbol = absl::StrCat("name.", launch.kernel);
    if (auto global = module_.lookupSymbol<llvm_ir::GlobalOp>(symbol))
      return llvm_ir::AddressOfOp::create(b_, global);
    return llvm_ir::createGlobalString(b_.getLoc(), b_, symbol, launch.kernel + std::string(1, '\0'),
                                       llvm_ir::Linkage::Internal);
  }

  // Returns a function that takes an array of pointers and calls the launch's kernel with them as arguments. Adds the
  // function to the module at the first call.
  llvm_ir::LLVMFuncOp TableKernel(const Launch& launch) {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(module_.getBody());
    const std::string name = absl::StrCat(launch.kernel, "_by_table");
    if (auto made = module_.lookupSymbol<llvm_ir::LLVMFuncOp>(name)) return made;
    auto kernel = module_.lookupSymbol<llvm_ir::LLVMFuncOp>(launch.kernel);
    auto function = llvm_ir::LLVMFuncOp::create(b_, name, llvm_ir::LLVMFunctionType::get(void_, {pointer_}),
                                                llvm_ir::Linkage::Internal);
    b_.setInsertionPointToStart(function.addEntryBlock(b_));
    llvm::SmallVector<Value> arguments;
    for (int64_t a = 0; a < std::ssize(launch.arguments); ++a)
      arguments.push_back(llvm_ir::LoadOp::create(b_, pointer_, At(pointer_, function.getArgument(0), a)));
    llvm_ir::CallOp::create(b_, kernel, mlir::ValueRange(arguments));
    llvm_ir::ReturnOp::create(b_, mlir::ValueRange());
    return function;
  }

  void Replace(mlir::Operation* op, Value value) {
    if (value) op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  bool RewriteInstruction(mlir::Operation* op) {
    static const std::map<std::string, const char*> registers = {
        {"nvvm.read.ptx.sreg.tid.x", "kiln_emulate_thread"},
        {"nvvm.read.ptx.sreg.ctaid.x", "kiln_emulate_block"},
        {"nvvm.read.ptx.sreg.ntid.x", "kiln_emulate_threads"},
        {"nvvm.read.ptx.sreg.nctaid.x", "kiln_emulate_blocks"}};
    const auto name = registers.find(op->getName().getStringRef().str());
    const Value zero = Number(i32_, 0);
    if (name != registers.end()) {
      Replace(op, Call(name->second, i32_, {}));
    } else if (auto barrier = mlir::dyn_cast<nvvm::BarrierOp>(op); barrier && !barrier.getReductionOp()) {
      const Value number = barrier.getBarrierId(), threads = barrier.getNumberOfThreads();
      Call("kiln_emulate_barrier", void_, {Site(), number ? number : zero, threads ? threads : zero});
      op->erase();
    } else if (mlir::isa<nvvm::Barrier0Op>(op)) {
      Call("kiln_emulate_barrier", void_, {Site(), zero, zero});
      op->erase();
    } else if (auto warp = mlir::dyn_cast<nvvm::SyncWarpOp>(op)) {
      Call("kiln_emulate_warp_barrier", void_, {Site(), warp.getMask()});
      op->erase();
    } else if (auto shuffle = mlir::dyn_cast<nvvm::ShflOp>(op);
               shuffle && op->getResult(0).getType().isIntOrFloat()) {
      RewriteShuffle(shuffle);
    } else if (auto copy = mlir::dyn_cast<nvvm::CpAsyncOp>(op)) {
      const Value bytes = Number(i32_, copy.getSize());
      Call("kiln_emulate_copy", void_,
           {Generic(copy.getDst()), Generic(copy.getSrc()), bytes,
            copy.getCpSize() ? copy.getCpSize() : bytes});
      op->erase();
    } else if (mlir::isa<nvvm::CpAsyncCommitGroupOp>(op)) {
      Call("kiln_emulate_commit", void_, {});
      op->erase();
    } else if (auto wait = mlir::dyn_cast<nvvm::CpAsyncWaitGroupOp>(op)) {
      Call("kiln_emulate_wait", void_, {Number(i32_, wait.getN())});
      op->erase();
    } else {
      return false;
    }
    return true;
  }

  void RewriteShuffle(nvvm::ShflOp shuffle) {
    const mlir::Type type = shuffle.getVal().getType();
    Value value = shuffle.getVal();
    if (type != i32_) value = llvm_ir::BitcastOp::create(b_, i32_, value);
    int64_t kind = 0;
    switch (shuffle.getKind()) {
      case nvvm::ShflKind::bfly:
        break;
      case nvvm::ShflKind::up:
        kind = 1;
        break;
      case nvvm::ShflKind::down:
        kind = 2;
        break;
      case nvvm::ShflKind::idx:
        kind = 3;
        break;
    }
    Value got = Call("kiln_emulate_shuffle", i32_,
                     {Site(), shuffle.getThreadMask(), value, shuffle.getOffset(), shuffle.getMaskAndClamp(),
                      Number(i32_, kind)});
    if (type != i32_) got = llvm_ir::BitcastOp::create(b_, type, got);
    Replace(shuffle, got);
  }

  // --- Emits a call that checks bounds, alignment and races before each load and store, except of a thread's stack and
  // of globals.

  static int64_t BytesOf(mlir::Type type) {
    if (const auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return vector.getNumElements() * BytesOf(vector.getElementType());
    return type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 7) / 8 : 8;
  }
  void Check(Value pointer, Value bytes, int64_t alignment, bool write) {
    Call("kiln_emulate_access", void_,
         {Generic(pointer), bytes, Number(i64_, alignment), Number(i32_, write)});
  }
  // True if accesses at a pointer, or at a vector of pointers, need no check: it points to the stack of a thread or to
  // a global constant.
  static bool NeedsNoCheck(Value pointer) {
    const Value base = BaseOf(pointer);
    return base.getDefiningOp<llvm_ir::AllocaOp>() || base.getDefiningOp<llvm_ir::AddressOfOp>();
  }
  void Access(Value pointer, mlir::Type type, std::optional<uint64_t> alignment, bool write) {
    if (NeedsNoCheck(pointer)) return;
    const int64_t bytes = BytesOf(type);
    Check(pointer, Number(i64_, bytes), static_cast<int64_t>(alignment.value_or(bytes)), write);
  }
  // Emits a check for each vector lane of a load or store. Lanes outside of the mask check 0 bytes. `pointers`: a
  // pointer for each lane, or one pointer to adjacent elements.
  void Lanes(Value pointers, mlir::Type type, Value mask, bool write) {
    const auto vector = mlir::cast<mlir::VectorType>(type);
    const int64_t bytes = BytesOf(vector.getElementType());
    if (NeedsNoCheck(pointers)) return;
    const bool one = !mlir::isa<mlir::VectorType>(pointers.getType());
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
      const Value number = Number(i64_, lane);
      const Value pointer = one ? At(vector.getElementType(), pointers, lane)
                                : llvm_ir::ExtractElementOp::create(b_, pointers, number).getResult();
      const Value runs = llvm_ir::ExtractElementOp::create(b_, mask, number);
      Check(pointer, llvm_ir::SelectOp::create(b_, runs, Number(i64_, bytes), Number(i64_, 0)), bytes, write);
    }
  }

  void RewriteMemory(mlir::Operation* op) {
    if (auto load = mlir::dyn_cast<llvm_ir::LoadOp>(op)) {
      Access(load.getAddr(), load.getType(), load.getAlignment(), false);
    } else if (auto store = mlir::dyn_cast<llvm_ir::StoreOp>(op)) {
      Access(store.getAddr(), store.getValue().getType(), store.getAlignment(), true);
    } else if (auto masked = mlir::dyn_cast<llvm_ir::MaskedLoadOp>(op)) {
      Lanes(masked.getData(), op->getResult(0).getType(), masked.getMask(), false);
    } else if (auto masked = mlir::dyn_cast<llvm_ir::MaskedStoreOp>(op)) {
      Lanes(masked.getData(), masked.getValue().getType(), masked.getMask(), true);
    } else if (auto gather = mlir::dyn_cast<llvm_ir::masked_gather>(op)) {
      Lanes(gather.getPtrs(), op->getResult(0).getType(), gather.getMask(), false);
    } else if (auto scatter = mlir::dyn_cast<llvm_ir::masked_scatter>(op)) {
      Lanes(scatter.getPtrs(), scatter.getValue().getType(), scatter.getMask(), true);
    } else if (auto address = mlir::dyn_cast<llvm_ir::AddressOfOp>(op);
               address && address.getGlobalName() == kSharedArena) {
      const Value arena = Call("kiln_emulate_shared", pointer_, {});
      Replace(op, llvm_ir::AddrSpaceCastOp::create(b_, op->getResult(0).getType(), arena));
    }
  }

  mlir::ModuleOp module_;
  mlir::ImplicitLocOpBuilder b_;
  const mlir::Type pointer_, i32_, i64_, void_;
  int64_t sites_ = 1;
};

}  // namespace

absl::StatusOr<std::string> EmulateKernels(mlir::ModuleOp module, const LaunchList& launches,
                                           const std::string& name) {
  static auto* const codegen = new absl::StatusOr<std::unique_ptr<Codegen>>(Codegen::Create(Host()));
  if (!codegen->ok()) return codegen->status();
  Rewriter rewriter(module);
  if (absl::Status status = rewriter.RewriteKernels(); !status.ok()) return status;
  std::vector<std::string> entries = {name};
  rewriter.AddEntry(name, launches, false);
  if (std::any_of(launches.launches.begin(), launches.launches.end(),
                  [](const Launch& l) { return l.prepare; })) {
    entries.push_back(absl::StrCat(name, "_prepare"));
    rewriter.AddEntry(entries.back(), launches, true);
  }
  for (const Launch& launch : launches.launches)
    for (const std::string& function : rewriter.AddLauncher(launch)) entries.push_back(function);
  CodegenOptions options;
  for (const std::string& entry : entries) options.entries.push_back({.name = entry, .alignment = 1});
  const auto object = (**codegen)->Compile(module, options);
  if (!object.ok()) return object.status();
  return LinkShared({object->bytes}, {.exports = entries});
}

}  // namespace kiln
