#include "backends/codegen/typed_arrays.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

namespace kiln {

void GiveArraysTheirType(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(function.getEntryBlock())) {
    auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (array == nullptr || !array->isArrayAllocation()) continue;
    const auto* count = llvm::dyn_cast<llvm::ConstantInt>(array->getArraySize());
    if (count == nullptr) continue;
    llvm::IRBuilder<> b(array);
    auto* typed = b.CreateAlloca(llvm::ArrayType::get(array->getAllocatedType(), count->getZExtValue()));
    typed->setAlignment(array->getAlign());
    array->replaceAllUsesWith(typed);
    array->eraseFromParent();
  }
}

}  // namespace kiln
