#include "backends/cpu/extremum_chains.h"

#include <algorithm>
#include <vector>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

constexpr size_t kWorthIt = 4;  // values; of fewer it takes as many instructions

// Zeros of either sign are one.
llvm::IntrinsicInst* AsExtremum(llvm::Value* value) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  if (call == nullptr || !call->getType()->isVectorTy() || !call->hasNoSignedZeros()) return nullptr;
  const llvm::Intrinsic::ID id = call->getIntrinsicID();
  return id == llvm::Intrinsic::maximum || id == llvm::Intrinsic::minimum ? call : nullptr;
}

// Whether another of the kind, and nobody else, uses it.
bool IsWithin(llvm::IntrinsicInst* call) {
  if (!call->hasOneUse()) return false;
  llvm::IntrinsicInst* above = AsExtremum(*call->user_begin());
  return above != nullptr && above->getIntrinsicID() == call->getIntrinsicID() &&
         above->getParent() == call->getParent();
}

// A tree of extrema, of which nobody uses what is within.
struct Chain {
  llvm::IntrinsicInst* root;
  std::vector<llvm::IntrinsicInst*> nodes;  // operands first
  std::vector<llvm::Value*> values;

  explicit Chain(llvm::IntrinsicInst* from) : root(from) { Add(from); }
  void Add(llvm::IntrinsicInst* node) {
    for (llvm::Value* operand : node->args()) {
      llvm::IntrinsicInst* below = AsExtremum(operand);
      below != nullptr&& IsWithin(below) ? Add(below) : values.push_back(operand);
    }
    nodes.push_back(node);
  }
};

// Masks of more lanes than a register has would be put together and taken apart again.
llvm::Value* NanWhereAnyIs(llvm::IRBuilder<>& b, const std::vector<llvm::Value*>& values, llvm::Value* result,
                           unsigned lanes) {
  const auto of_register = [&](llvm::Value* value, unsigned begin, unsigned count) {
    llvm::SmallVector<int> mask;
    for (unsigned lane = 0; lane < count; ++lane) mask.push_back(static_cast<int>(begin + lane));
    return b.CreateShuffleVector(value, mask);
  };
  const unsigned all = llvm::cast<llvm::FixedVectorType>(result->getType())->getNumElements();
  llvm::SmallVector<llvm::Value*> parts;
  for (unsigned begin = 0; begin < all; begin += lanes) {
    const unsigned count = std::min(lanes, all - begin);
    llvm::Value* any = nullptr;
    for (size_t i = 0; i < values.size(); i += 2) {
      llvm::Value* one = of_register(values[i], begin, count);
      llvm::Value* other = i + 1 < values.size() ? of_register(values[i + 1], begin, count) : one;
      llvm::Value* nan = b.CreateFCmpUNO(one, other);
      any = any == nullptr ? nan : b.CreateOr(any, nan);
    }
    llvm::Value* part = of_register(result, begin, count);
    parts.push_back(b.CreateSelect(any, llvm::ConstantFP::getNaN(part->getType()), part));
  }
  return parts.size() == 1 ? parts[0] : llvm::concatenateVectors(b, parts);
}

}  // namespace

void ShortenExtremumChains(llvm::Function& function, const llvm::TargetMachine& target) {
  if (!target.getTargetTriple().isX86()) return;
  std::vector<Chain> chains;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    llvm::IntrinsicInst* call = AsExtremum(&instruction);
    if (call != nullptr && !IsWithin(call)) chains.emplace_back(call);
  }
  const llvm::TypeSize bits = target.getTargetTransformInfo(function).getRegisterBitWidth(
      llvm::TargetTransformInfo::RGK_FixedWidthVector);
  for (Chain& chain : chains) {
    const unsigned element = chain.root->getType()->getScalarSizeInBits();
    if (chain.values.size() < kWorthIt || element < 32) continue;
    const bool max = chain.root->getIntrinsicID() == llvm::Intrinsic::maximum;
    llvm::IRBuilder<> b(chain.root);
    for (llvm::IntrinsicInst* node : chain.nodes) {
      b.SetInsertPoint(node);
      llvm::Value *x = node->getArgOperand(0), *y = node->getArgOperand(1);
      llvm::Value* result = b.CreateSelect(max ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y), x, y);
      if (node == chain.root)
        result =
            NanWhereAnyIs(b, chain.values, result, static_cast<unsigned>(bits.getFixedValue()) / element);
      node->replaceAllUsesWith(result);
    }
    for (auto node = chain.nodes.rbegin(); node != chain.nodes.rend(); ++node) (*node)->eraseFromParent();
  }
}

}  // namespace kiln
