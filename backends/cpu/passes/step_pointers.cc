#include "backends/cpu/passes/step_pointers.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

namespace kiln {
namespace {

using llvm::PatternMatch::m_Add;
using llvm::PatternMatch::m_ConstantInt;
using llvm::PatternMatch::m_Mul;
using llvm::PatternMatch::m_Specific;
using llvm::PatternMatch::m_Value;
using llvm::PatternMatch::match;

// A loop counter: i = phi [first, entry], [i + step, latch].
struct Counter {
  llvm::PHINode* phi;
  llvm::Value* first;
  int64_t step;
};

std::optional<Counter> CounterOf(const llvm::Loop& loop) {
  for (llvm::PHINode& phi : loop.getHeader()->phis()) {
    llvm::ConstantInt* step = nullptr;
    if (phi.getType()->isIntegerTy(64) && match(phi.getIncomingValueForBlock(loop.getLoopLatch()),
                                                m_Add(m_Specific(&phi), m_ConstantInt(step))))
      return Counter{&phi, phi.getIncomingValueForBlock(loop.getLoopPreheader()), step->getSExtValue()};
  }
  return std::nullopt;
}

// The index of an address in a loop with the counter i: outer + scale * i. A null `outer` means zero.
struct Index {
  llvm::Value* outer;
  int64_t scale;
};

std::optional<int64_t> ScaleOf(llvm::Value* value, const Counter& counter) {
  llvm::ConstantInt* scale = nullptr;
  if (value == counter.phi) return 1;
  if (match(value, m_Mul(m_Specific(counter.phi), m_ConstantInt(scale)))) return scale->getSExtValue();
  return std::nullopt;
}

std::optional<Index> IndexOf(llvm::Value* value, const Counter& counter, const llvm::Loop& loop) {
  if (const auto scale = ScaleOf(value, counter)) return Index{nullptr, *scale};
  llvm::Value *one = nullptr, *other = nullptr;
  if (!match(value, m_Add(m_Value(one), m_Value(other)))) return std::nullopt;
  if (!loop.isLoopInvariant(one)) std::swap(one, other);
  const auto scale = ScaleOf(other, counter);
  if (!loop.isLoopInvariant(one) || !scale) return std::nullopt;
  return Index{one, *scale};
}

void StepPointersOf(const llvm::Loop& loop, int64_t most) {
  if (loop.getLoopPreheader() == nullptr || loop.getLoopLatch() == nullptr) return;
  const std::optional<Counter> counter = CounterOf(loop);
  if (!counter) return;
  llvm::IRBuilder<> before(loop.getLoopPreheader()->getTerminator()),
      after(loop.getLoopLatch()->getTerminator());
  std::map<std::tuple<llvm::Value*, llvm::Type*, llvm::Value*, int64_t>, llvm::PHINode*> pointers;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      if (address == nullptr || address->getNumIndices() != 1 || address->getType()->isVectorTy() ||
          !loop.isLoopInvariant(address->getPointerOperand()))
        continue;
      const auto index = IndexOf(address->getOperand(1), *counter, loop);
      if (!index) continue;
      llvm::Type* const element = address->getSourceElementType();
      llvm::Value* const base = address->getPointerOperand();
      const auto [known, is_new] = pointers.try_emplace({base, element, index->outer, index->scale}, nullptr);
      if (is_new) {
        if (std::ssize(pointers) > most) {
          pointers.erase(known);
          continue;
        }
        llvm::Value* at = before.CreateMul(counter->first, before.getInt64(index->scale));
        if (index->outer != nullptr) at = before.CreateAdd(index->outer, at);
        llvm::IRBuilder<> b(loop.getHeader(), loop.getHeader()->begin());
        known->second = b.CreatePHI(address->getType(), 2);
        known->second->addIncoming(before.CreateGEP(element, base, at), loop.getLoopPreheader());
        known->second->addIncoming(
            after.CreateGEP(element, known->second, after.getInt64(index->scale * counter->step)),
            loop.getLoopLatch());
      }
      address->replaceAllUsesWith(known->second);
      address->eraseFromParent();
    }
  }
}

}  // namespace

void StepPointers(const llvm::LoopInfo& loops, int64_t most) {
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost()) StepPointersOf(*loop, most);
  }
}

}  // namespace kiln
