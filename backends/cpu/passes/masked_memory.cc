#include "backends/cpu/passes/masked_memory.h"

#include <vector>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

// The operands of a masked load, store, gather or scatter.
struct Access {
  llvm::IntrinsicInst* call;
  bool store, apart;   // apart: each lane has its own address
  llvm::Value* value;  // the stored value, or the value of lanes outside of the mask
  llvm::Value* pointer;
  llvm::Value* mask;
  llvm::FixedVectorType* type;
  llvm::Align align;
};

std::optional<Access> AccessOf(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return std::nullopt;
  const llvm::Intrinsic::ID id = call->getIntrinsicID();
  const bool load = id == llvm::Intrinsic::masked_load || id == llvm::Intrinsic::masked_gather;
  const bool store = id == llvm::Intrinsic::masked_store || id == llvm::Intrinsic::masked_scatter;
  if (!load && !store) return std::nullopt;
  Access access{.call = call,
                .store = store,
                .apart = false,
                .value = nullptr,
                .pointer = nullptr,
                .mask = nullptr,
                .type = nullptr,
                .align = {}};
  access.apart = id == llvm::Intrinsic::masked_gather || id == llvm::Intrinsic::masked_scatter;
  access.value = call->getArgOperand(store ? 0 : 2);
  access.pointer = call->getArgOperand(store ? 1 : 0);
  access.mask = call->getArgOperand(store ? 2 : 1);
  access.type = llvm::cast<llvm::FixedVectorType>(access.value->getType());
  access.align = call->getParamAlign(store ? 1 : 0).valueOrOne();
  return access;
}

bool Legal(const llvm::TargetTransformInfo& target, const Access& a) {
  if (!a.apart)
    return a.store ? target.isLegalMaskedStore(a.type, a.align, 0)
                   : target.isLegalMaskedLoad(a.type, a.align, 0);
  if (a.store)
    return target.isLegalMaskedScatter(a.type, a.align) &&
           !target.forceScalarizeMaskedScatter(a.type, a.align);
  return target.isLegalMaskedGather(a.type, a.align) && !target.forceScalarizeMaskedGather(a.type, a.align);
}

// Rewrites a masked access to vectors of f16 or bf16 as one to i16, because LLVM may lack every instruction for such
// vectors, even select. Returns the new access.
Access AsIntegers(const Access& a) {
  llvm::IRBuilder<> b(a.call);
  llvm::Type* type = llvm::VectorType::getInteger(a.type);
  llvm::Value* value = b.CreateBitCast(a.value, type);
  llvm::CallInst* call = nullptr;
  if (a.apart) {
    call = a.store ? b.CreateMaskedScatter(value, a.pointer, a.align, a.mask)
                   : b.CreateMaskedGather(type, a.pointer, a.align, a.mask, value);
  } else {
    call = a.store ? b.CreateMaskedStore(value, a.pointer, a.align, a.mask)
                   : b.CreateMaskedLoad(type, a.pointer, a.align, a.mask, value);
  }
  if (!a.store) a.call->replaceAllUsesWith(b.CreateBitCast(call, a.type));
  a.call->eraseFromParent();
  return *AccessOf(*call);
}

void LaneByLane(const Access& a, llvm::Value* spare) {
  llvm::IRBuilder<> b(a.call);
  llvm::Type* element = a.type->getElementType();
  const unsigned lanes = a.type->getNumElements();
  const llvm::Align align =
      a.apart ? a.align : std::min(a.align, llvm::Align(element->getPrimitiveSizeInBits() / 8));
  auto* constant = llvm::dyn_cast<llvm::Constant>(a.mask);
  llvm::Value* bits = constant == nullptr ? b.CreateBitCast(a.mask, b.getIntNTy(lanes)) : nullptr;
  llvm::Value* loaded = llvm::PoisonValue::get(a.type);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    llvm::Value* inside = constant == nullptr ? b.CreateTrunc(b.CreateLShr(bits, lane), b.getInt1Ty())
                                              : constant->getAggregateElement(lane);
    llvm::Value* address = a.apart ? b.CreateExtractElement(a.pointer, lane)
                                   : b.CreateConstInBoundsGEP1_64(element, a.pointer, lane);
    address = b.CreateSelect(inside, address, spare);
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(address))
      select->setMetadata(llvm::LLVMContext::MD_unpredictable, llvm::MDNode::get(b.getContext(), {}));
    if (a.store) {
      b.CreateAlignedStore(b.CreateExtractElement(a.value, lane), address, align);
    } else {
      loaded = b.CreateInsertElement(loaded, b.CreateAlignedLoad(element, address, align), lane);
    }
  }
  if (!a.store) a.call->replaceAllUsesWith(b.CreateSelect(a.mask, loaded, a.value));
  a.call->eraseFromParent();
}

// Returns the only lane that a constant mask includes; nullopt if the mask is not constant or includes no lane or
// several.
std::optional<unsigned> OnlyLane(const Access& a) {
  auto* mask = llvm::dyn_cast<llvm::Constant>(a.mask);
  std::optional<unsigned> only;
  for (unsigned lane = 0; mask != nullptr && lane < a.type->getNumElements(); ++lane) {
    const llvm::Constant* inside = mask->getAggregateElement(lane);
    if (inside == nullptr || !llvm::isa<llvm::ConstantInt>(inside)) return std::nullopt;
    if (inside->isNullValue()) continue;
    if (only.has_value()) return std::nullopt;
    only = lane;
  }
  return only;
}

// Replaces a masked store that writes one known lane by a scalar store. LLVM 22 would store a whole i64 for one lane of
// a truncated i64 vector.
void StoreLane(const Access& a, unsigned lane) {
  llvm::IRBuilder<> b(a.call);
  llvm::Type* element = a.type->getElementType();
  const llvm::Align align = std::min(a.align, llvm::Align(element->getPrimitiveSizeInBits() / 8));
  b.CreateAlignedStore(b.CreateExtractElement(a.value, lane),
                       b.CreateConstInBoundsGEP1_64(element, a.pointer, lane), align);
  a.call->eraseFromParent();
}

}  // namespace

void ExpandMaskedMemory(llvm::Function& function, const llvm::TargetMachine& target) {
  std::vector<llvm::Instruction*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (AccessOf(instruction).has_value()) calls.push_back(&instruction);
  }
  if (calls.empty()) return;
  const llvm::TargetTransformInfo info = target.getTargetTransformInfo(function);
  llvm::AllocaInst* spare = nullptr;
  for (llvm::Instruction* call : calls) {
    Access access = *AccessOf(*call);  // looked up now, since its operands may have been replaced
    if (const auto lane = OnlyLane(access); lane.has_value() && access.store && !access.apart) {
      StoreLane(access, *lane);
      continue;
    }
    if (Legal(info, access)) continue;
    if (access.type->getScalarSizeInBits() == 16 && access.type->isFPOrFPVectorTy()) {
      access = AsIntegers(access);
      if (Legal(info, access)) continue;
    }
    if (spare == nullptr) {
      llvm::IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
      spare = b.CreateAlloca(b.getInt64Ty());
      b.CreateStore(b.getInt64(0), spare);
    }
    LaneByLane(access, spare);
  }
}

}  // namespace kiln
