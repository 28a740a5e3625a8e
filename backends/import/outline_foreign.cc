#include "backends/import/outline_foreign.h"

#include "backends/import/constants.h"
#include "backends/import/refusal.h"
#include "backends/import/values.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln {
namespace {

using OpSet = llvm::SetVector<mlir::Operation*>;

bool IsTensor(mlir::Value value) { return llvm::isa<mlir::TensorType>(value.getType()); }

// True if a buffer can hold the value: a scalar or a tensor of static shape with a known element type.
bool FitsBuffer(mlir::Value value) {
  std::vector<int64_t> shape;
  Why why;
  return ToDType(value.getType()) || ShapeOf(value.getType(), &shape, &why);
}

// Returns all values that the operation and those in its regions use, and that are defined outside of it.
llvm::SetVector<mlir::Value> Uses(mlir::Operation* op) {
  llvm::SetVector<mlir::Value> uses;
  op->walk([&](mlir::Operation* inner) {
    for (mlir::Value value : inner->getOperands()) {
      if (!op->isAncestor(value.getParentBlock()->getParentOp())) uses.insert(value);
    }
  });
  return uses;
}

class Outliner {
 public:
  Outliner(mlir::func::FuncOp function, int64_t least_detached)
      : function_(function), block_(function.getBody().front()), least_detached_(least_detached) {}

  void Run(llvm::ArrayRef<RefusedOp> refused) {
    for (const RefusedOp& op : refused) {
      region_[op.op] = regions_.size();
      regions_.emplace_back().insert(op.op);
      why_[op.op] = op.why;
    }
    Grow();
    for (const OpSet& region : regions_) {
      if (!region.empty()) Replace(region);
    }
    mlir::sortTopologically(&block_);
  }

 private:
  // True if each cut copies the operation: small constants, empty tensors, computations of scalars, and a
  // linalg.generic that uses only values of copied operations, such as a fill. False for an operation that is in a cut
  // itself.
  bool IsCopied(mlir::Operation* op) const {
    if (op == nullptr || op->getBlock() != &block_ || region_.contains(op) || !mlir::isMemoryEffectFree(op) ||
        IsDetached(op, least_detached_))
      return false;
    if (op->hasTrait<mlir::OpTrait::ConstantLike>() || llvm::isa<mlir::tensor::EmptyOp>(op)) return true;
    if (llvm::isa<mlir::linalg::GenericOp>(op))  // a fill
      return llvm::all_of(Uses(op), [&](mlir::Value value) { return IsCopied(value.getDefiningOp()); });
    return op->getNumRegions() == 0 && llvm::none_of(op->getResults(), IsTensor);
  }

  // Adds to `sources` the values that an operation of a cut takes from outside, directly or through operations that are
  // copied into the cut.
  void SourcesOf(mlir::Operation* op, llvm::SetVector<mlir::Value>& sources) const {
    for (const mlir::Value value : Uses(op)) {
      mlir::Operation* from = value.getDefiningOp();
      if (IsCopied(from)) {
        SourcesOf(from, sources);
      } else {
        sources.insert(value);
      }
    }
  }

  void Add(size_t region, mlir::Operation* op) {
    const auto known = region_.find(op);
    if (known == region_.end()) {
      region_[op] = region;
      regions_[region].insert(op);
    } else if (const size_t other = known->second; other != region) {
      for (mlir::Operation* member : regions_[other]) {
        region_[member] = region;
        regions_[region].insert(member);
      }
      regions_[other].clear();
    }
  }

  void Grow() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t r = 0; r < regions_.size(); ++r) {
        const size_t before = regions_[r].size();
        TakeWhatFitsNoBuffer(r);
        TakePaths(r);
        changed = changed || regions_[r].size() != before;
      }
    }
  }

  void TakeWhatFitsNoBuffer(size_t region) {
    for (size_t i = 0; i < regions_[region].size(); ++i) {
      llvm::SetVector<mlir::Value> sources;
      SourcesOf(regions_[region][i], sources);
      for (mlir::Value value : sources) {
        if (value.getDefiningOp() && value.getParentBlock() == &block_ && !FitsBuffer(value))
          Add(region, value.getDefiningOp());
      }
    }
  }

  // Adds to a cut the operations that lie on a path from one operation of the cut to another.
  void TakePaths(size_t region) {
    if (regions_[region].size() < 2) return;
    llvm::SmallPtrSet<mlir::Operation*, 32> after;
    for (mlir::Operation& op : block_) {
      if (region_.contains(&op) && region_[&op] == region) {
        after.insert(&op);
        continue;
      }
      for (const mlir::Value value : Uses(&op)) {
        if (after.contains(value.getDefiningOp())) after.insert(&op);
      }
    }
    llvm::SmallPtrSet<mlir::Operation*, 32> before;
    OpSet path;
    for (mlir::Operation& op : llvm::reverse(block_)) {
      const bool member = region_.contains(&op) && region_[&op] == region;
      if (!member && !before.contains(&op)) continue;
      if (!member && after.contains(&op)) path.insert(&op);
      for (const mlir::Value value : Uses(&op)) {
        if (value.getDefiningOp()) before.insert(value.getDefiningOp());
      }
    }
    for (mlir::Operation* op : path) Add(region, op);
  }

  // --- Replacing the operations of one cut by one call

  // Makes a value that a cut uses available in the cut's function: copies the operations that define it, or makes a
  // parameter of it. A scalar is passed as a tensor of rank 0.
  void Take(mlir::Value value, mlir::OpBuilder& inside, mlir::IRMapping& map) {
    if (map.contains(value)) return;
    mlir::Operation* from = value.getDefiningOp();
    if (IsCopied(from)) {
      for (const mlir::Value operand : Uses(from)) Take(operand, inside, map);
      inside.clone(*from, map);
      return;
    }
    const mlir::Location loc = value.getLoc();
    mlir::Block& body = *inside.getInsertionBlock();
    if (IsTensor(value)) {
      map.map(value, body.addArgument(value.getType(), loc));
      operands_.push_back(value);
      return;
    }
    const auto type = mlir::RankedTensorType::get({}, value.getType());
    mlir::OpBuilder outside(block_.getParentOp()->getContext());
    outside.setInsertionPointToStart(&block_);
    if (from != nullptr) outside.setInsertionPointAfter(from);
    operands_.push_back(mlir::tensor::FromElementsOp::create(outside, loc, type, value));
    const mlir::Value parameter = body.addArgument(type, loc);
    const mlir::Value element = mlir::tensor::ExtractOp::create(inside, loc, parameter, mlir::ValueRange());
    map.map(value, element);
  }

  void Replace(const OpSet& region) {
    llvm::SmallVector<mlir::Operation*> members(region.begin(), region.end());
    llvm::sort(members, [](mlir::Operation* a, mlir::Operation* b) { return a->isBeforeInBlock(b); });
    mlir::MLIRContext* context = block_.getParentOp()->getContext();
    const mlir::Location loc = members.front()->getLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(context));
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(module->getBody());
    auto function = mlir::func::FuncOp::create(inside, mlir::UnknownLoc::get(context), "foreign",
                                               inside.getFunctionType({}, {}));
    inside.setInsertionPointToStart(function.addEntryBlock());
    operands_.clear();
    mlir::IRMapping map;
    for (mlir::Operation* op : members) {
      for (const mlir::Value value : Uses(op)) Take(value, inside, map);
      inside.clone(*op, map);
    }
    llvm::SmallVector<mlir::Value> results, inner;
    for (mlir::Operation* op : members) {
      for (const mlir::Value value : op->getResults()) {
        if (!IsUsedOutside(value, region)) continue;
        results.push_back(value);
        inner.push_back(AsTensor(map.lookup(value), inside));
      }
    }
    mlir::func::ReturnOp::create(inside, loc, inner);
    function.setFunctionType(inside.getFunctionType(inside.getInsertionBlock()->getArgumentTypes(),
                                                    mlir::ValueRange(inner).getTypes()));
    Call(members, results, inner, TextOf(*module));
  }

  bool IsUsedOutside(mlir::Value value, const OpSet& region) const {
    return llvm::any_of(value.getUsers(), [&](mlir::Operation* user) {
      mlir::Operation* at = block_.findAncestorOpInBlock(*user);
      return at == nullptr || !region.contains(at);
    });
  }

  static mlir::Value AsTensor(mlir::Value value, mlir::OpBuilder& b) {
    if (IsTensor(value)) return value;
    return mlir::tensor::FromElementsOp::create(b, value.getLoc(),
                                                mlir::RankedTensorType::get({}, value.getType()), value);
  }

  // Returns the module's text; "" if upstream MLIR does not know all operations in it, or if one of them calls a
  // function.
  static std::string TextOf(mlir::ModuleOp module) {
    const mlir::WalkResult known = module.walk([](mlir::Operation* op) {
      const bool called = llvm::isa<mlir::func::CallOp>(op);
      return op->isRegistered() && !called ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
    });
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (!known.wasInterrupted()) module->print(stream);
    return text;
  }

  void Call(llvm::ArrayRef<mlir::Operation*> members, llvm::ArrayRef<mlir::Value> results,
            llvm::ArrayRef<mlir::Value> inner, const std::string& text) {
    mlir::OpBuilder outside(members.back());
    outside.setInsertionPointAfter(members.back());
    mlir::OperationState state(members.front()->getLoc(), kForeignOp);
    state.addOperands(operands_);
    state.addTypes(mlir::ValueRange(inner).getTypes());
    const Refusal& why =
        why_[*llvm::find_if(members, [&](mlir::Operation* op) { return why_.contains(op); })];
    state.addAttribute(kForeignOperation, outside.getStringAttr(why.op));
    state.addAttribute(kForeignReason, outside.getStringAttr(why.reason));
    state.addAttribute(kForeignHint, outside.getStringAttr(why.hint));
    state.addAttribute(kForeignCode, outside.getStringAttr(text));
    mlir::Operation* call = outside.create(state);
    for (size_t i = 0; i < results.size(); ++i) {
      mlir::Value value = call->getResult(static_cast<unsigned>(i));
      if (!IsTensor(results[i]))
        value = mlir::tensor::ExtractOp::create(outside, call->getLoc(), value, mlir::ValueRange());
      mlir::Value(results[i]).replaceAllUsesWith(value);
    }
    for (mlir::Operation* op : llvm::reverse(members)) op->erase();
  }

  mlir::func::FuncOp function_;
  mlir::Block& block_;
  const int64_t least_detached_;
  llvm::DenseMap<mlir::Operation*, size_t> region_;
  llvm::DenseMap<mlir::Operation*, Refusal> why_;
  std::vector<OpSet> regions_;
  llvm::SmallVector<mlir::Value> operands_;  // of the call that is being made
};

}  // namespace

void OutlineForeign(mlir::func::FuncOp function, llvm::ArrayRef<RefusedOp> refused, int64_t least_detached) {
  Outliner(function, least_detached).Run(refused);
}

}  // namespace kiln
