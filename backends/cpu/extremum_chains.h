// Maxima and minima of many vectors, which are NaN where any is, on x86, whose instructions ignore NaN on one
// side:
//
//   maximum(maximum(maximum(a, b), c), d)     three instructions each: the larger, who is NaN, and a blend
//   ->  m = larger of (larger of (larger of (a, b), c), d)
//       select (a or b is NaN) | (c or d is NaN), NaN, m       one each, a comparison for two, a blend for
//       all
#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace kiln {

void ShortenExtremumChains(llvm::Function& function, const llvm::TargetMachine& target);

}  // namespace kiln
