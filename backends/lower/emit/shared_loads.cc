#include "backends/lower/emit/shared_loads.h"

#include <utility>

namespace kiln {

SharedLoads::Key SharedLoads::KeyOf(Id buffer, const IndexValue& at) {
  Key key{buffer, {}};
  at.AppendKey(key.key);
  return key;
}

mlir::Value SharedLoads::Find(const Key& key) const {
  const auto known = loads_.find(key);
  return known == loads_.end() ? mlir::Value() : known->second;
}

void SharedLoads::Forget(Id buffer) {
  const Id memory = plan_.MemoryOf(buffer);
  std::erase_if(loads_, [&](const auto& load) { return plan_.MemoryOf(load.first.buffer) == memory; });
}

void SharedLoads::InRegion(llvm::function_ref<void()> emit) {
  Loads before = loads_;
  emit();
  std::erase_if(before, [&](const auto& load) { return Find(load.first) != load.second; });
  loads_ = std::move(before);
}

void SharedLoads::ForgetWritten() {
  std::erase_if(loads_, [&](const auto& load) {
    const Role role = program_.buffers[load.first.buffer].role;
    return role != Role::kInput && role != Role::kConstant && role != Role::kScalar;
  });
}

void SharedLoads::InLoop(llvm::function_ref<void()> emit) {
  InRegion([&] {
    ForgetWritten();
    emit();
  });
}

}  // namespace kiln
