#include "backends/cpu/passes/extrema.h"

#include <algorithm>
#include <vector>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

// Returns the intrinsic if the value is a maximum or minimum of f32 or f64 vectors that does not distinguish -0 from
// +0; otherwise null.
llvm::IntrinsicInst* AsExtremum(llvm::Value* value) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  if (call == nullptr || !call->getType()->isVectorTy() || !call->hasNoSignedZeros()) return nullptr;
  if (call->getType()->getScalarSizeInBits() < 32) return nullptr;
  const llvm::Intrinsic::ID id = call->getIntrinsicID();
  return id == llvm::Intrinsic::maximum || id == llvm::Intrinsic::minimum ? call : nullptr;
}

// True if the result of this maximum or minimum is used once, by another one of the same kind in the same basic block.
bool IsWithin(llvm::IntrinsicInst* call) {
  if (!call->hasOneUse()) return false;
  llvm::IntrinsicInst* above = AsExtremum(*call->user_begin());
  return above != nullptr && above->getIntrinsicID() == call->getIntrinsicID() &&
         above->getParent() == call->getParent();
}

// A tree of maxima, or of minima, whose inner results have no other uses, and the values at its leaves.
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

// Emits the larger (or smaller) of x and y; y if one of them is NaN.
llvm::Value* IgnoringNan(llvm::IRBuilder<>& b, llvm::IntrinsicInst* extremum, llvm::Value* x,
                         llvm::Value* y) {
  const bool max = extremum->getIntrinsicID() == llvm::Intrinsic::maximum;
  return b.CreateSelect(max ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y), x, y);
}

unsigned LanesOf(llvm::Value* value) {
  return llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
}

// Returns `count` lanes of a vector from `begin` on; lanes beyond its end are undefined.
llvm::Value* Part(llvm::IRBuilder<>& b, llvm::Value* value, unsigned begin, unsigned count) {
  llvm::SmallVector<int> mask;
  for (unsigned lane = begin; lane < begin + count; ++lane)
    mask.push_back(lane < LanesOf(value) ? static_cast<int>(lane) : llvm::PoisonMaskElem);
  return b.CreateShuffleVector(value, mask);
}

// Computes a lane-wise function of `values`, vectors of one type, in pieces of at most `lanes` lanes (one register),
// and concatenates the results. Masks of wider vectors would be assembled and split again.
llvm::Value* ByRegisters(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> values, unsigned lanes,
                         llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> compute) {
  const unsigned all = LanesOf(values[0]);
  llvm::SmallVector<llvm::Value*> results;
  for (unsigned begin = 0; begin < all; begin += lanes) {
    llvm::SmallVector<llvm::Value*> parts;
    for (llvm::Value* value : values) parts.push_back(Part(b, value, begin, std::min(lanes, all - begin)));
    results.push_back(compute(parts));
  }
  return results.size() == 1 ? results[0] : llvm::concatenateVectors(b, results);
}

// Returns `value`, but NaN in lanes where `x` is NaN, by one instruction of AVX-512 (vfixupimm). The vectors fit one
// register.
llvm::Value* FixUp(llvm::IRBuilder<>& b, llvm::Value* value, llvm::Value* x) {
  constexpr uint32_t kNanIsKept =
      0x22;  // four bits for each class of x: quieted, if a quiet or signaling NaN
  namespace intrinsics = llvm::Intrinsic;
  llvm::Type* element = x->getType()->getScalarType();
  const unsigned bits = element->getScalarSizeInBits(), lanes = LanesOf(x);
  const bool single = element->isFloatTy();
  unsigned width = 128;
  while (width < lanes * bits) width *= 2;
  const llvm::Intrinsic::ID id = width == 128   ? (single ? intrinsics::x86_avx512_mask_fixupimm_ps_128
                                                          : intrinsics::x86_avx512_mask_fixupimm_pd_128)
                                 : width == 256 ? (single ? intrinsics::x86_avx512_mask_fixupimm_ps_256
                                                          : intrinsics::x86_avx512_mask_fixupimm_pd_256)
                                                : (single ? intrinsics::x86_avx512_mask_fixupimm_ps_512
                                                          : intrinsics::x86_avx512_mask_fixupimm_pd_512);
  const unsigned count = width / bits;
  llvm::Value* table = b.CreateVectorSplat(count, b.getIntN(bits, kNanIsKept));
  llvm::SmallVector<llvm::Value*> arguments{
      Part(b, value, 0, count), Part(b, x, 0, count), table, b.getInt32(0),
      b.getIntN(std::max(8u, count), ~uint64_t{0} >> (64 - std::max(8u, count)))};
  if (width == 512) arguments.push_back(b.getInt32(4));  // current rounding mode
  return Part(b, b.CreateIntrinsic(id, arguments), 0, lanes);
}

// Replaces each maximum (or minimum) of a tree by one that ignores NaN. Sets the final result to NaN if any value at
// the leaves is NaN.
void ShortenChain(const Chain& chain, unsigned lanes) {
  llvm::IRBuilder<> b(chain.root);
  for (llvm::IntrinsicInst* node : chain.nodes) {
    b.SetInsertPoint(node);
    llvm::Value* result = IgnoringNan(b, node, node->getArgOperand(0), node->getArgOperand(1));
    if (node == chain.root) {
      std::vector<llvm::Value*> all = chain.values;
      all.push_back(result);
      result = ByRegisters(b, all, lanes, [&](llvm::ArrayRef<llvm::Value*> parts) {
        const llvm::ArrayRef<llvm::Value*> values = parts.drop_back();
        llvm::Value* any = nullptr;
        for (size_t i = 0; i < values.size(); i += 2) {
          llvm::Value* nan = b.CreateFCmpUNO(values[i], values[std::min(i + 1, values.size() - 1)]);
          any = any == nullptr ? nan : b.CreateOr(any, nan);
        }
        return b.CreateSelect(any, llvm::ConstantFP::getNaN(parts.back()->getType()), parts.back());
      });
    }
    node->replaceAllUsesWith(result);
  }
  for (auto node = chain.nodes.rbegin(); node != chain.nodes.rend(); ++node) (*node)->eraseFromParent();
}

}  // namespace

void ShortenExtrema(llvm::Function& function, const llvm::TargetMachine& target, int64_t least) {
  if (!target.getTargetTriple().isX86()) return;
  const bool fixes_up = target.getMCSubtargetInfo()->checkFeatures("+avx512vl");
  const uint64_t bits = target.getTargetTransformInfo(function)
                            .getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
                            .getFixedValue();
  std::vector<llvm::IntrinsicInst*> extrema;
  std::vector<Chain> chains;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    llvm::IntrinsicInst* call = AsExtremum(&instruction);
    if (call == nullptr) continue;
    if (fixes_up)
      extrema.push_back(call);
    else if (!IsWithin(call))
      chains.emplace_back(call);
  }
  const auto lanes_of = [&](llvm::IntrinsicInst* call) {
    return static_cast<unsigned>(bits) / call->getType()->getScalarSizeInBits();
  };
  for (llvm::IntrinsicInst* call : extrema) {
    llvm::IRBuilder<> b(call);
    call->replaceAllUsesWith(ByRegisters(
        b, {call->getArgOperand(0), call->getArgOperand(1)}, lanes_of(call),
        [&](llvm::ArrayRef<llvm::Value*> x) { return FixUp(b, IgnoringNan(b, call, x[0], x[1]), x[0]); }));
    call->eraseFromParent();
  }
  for (const Chain& chain : chains)
    if (std::ssize(chain.values) >= least) ShortenChain(chain, lanes_of(chain.root));
}

}  // namespace kiln
