// Masked loads, stores, gathers and scatters that the machine has no instruction for, which LLVM would make a
// branch for each lane. What it has (vmaskmov on AVX2, k-masks on AVX-512) stays.
//
//   masked.load p, mask, rest  ->  a[i] = select mask[i], p + i, spare   // an address for each lane
//                                  select mask, (load a[0], load a[1], ...), rest
//
// A store of one lane that is known is a store of an element. f16 and bf16 go as i16. `spare` is a word on
// the stack, which lanes outside of the mask read and write.
#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace kiln {

void ExpandMaskedMemory(llvm::Function& function, const llvm::TargetMachine& target);

}  // namespace kiln
