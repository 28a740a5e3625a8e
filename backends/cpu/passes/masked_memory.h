// Replaces masked loads, stores, gathers and scatters for which the machine has no instruction by accesses of single
// lanes without branches, since LLVM would emit a branch for each lane. Supported ones (vmaskmov on AVX2, k-masks on
// AVX-512) stay.
//
//   masked.load p, mask, rest  ->  a[i] = select mask[i], p + i, spare   // an address for each lane
//                                  select mask, (load a[0], load a[1], ...), rest
//
// A store with one known lane becomes a scalar store. f16 and bf16 are accessed as i16. `spare` is a word on the stack,
// which lanes outside of the mask read and write.
#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace kiln {

void ExpandMaskedMemory(llvm::Function& function, const llvm::TargetMachine& target);

}  // namespace kiln
