#include "backends/codegen/table_entry.h"

#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace kiln {

std::string TableSymbol(const std::string& name) { return name + "_by_table"; }

void AddTableEntry(llvm::Function& entry) {
  llvm::IRBuilder<> b(entry.getContext());
  auto* const type = llvm::FunctionType::get(entry.getReturnType(), {b.getPtrTy()}, /*isVarArg=*/false);
  auto* const table = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                             TableSymbol(entry.getName().str()), entry.getParent());
  b.SetInsertPoint(llvm::BasicBlock::Create(entry.getContext(), "", table));
  std::vector<llvm::Value*> parameters;
  for (unsigned i = 0; i < entry.arg_size(); ++i) {
    llvm::Value* const address = b.CreateConstInBoundsGEP1_32(b.getPtrTy(), table->getArg(0), i);
    parameters.push_back(b.CreateLoad(b.getPtrTy(), address));
  }
  b.CreateRet(b.CreateCall(&entry, parameters));
}

}  // namespace kiln
