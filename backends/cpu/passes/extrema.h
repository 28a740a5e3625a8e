// Maxima and minima of vectors, which are NaN where either value is, on x86, whose instructions ignore NaN on
// one side, so that LLVM takes three: the larger, who is NaN, and a blend. With AVX-512 two:
//
//   maximum(a, b)   ->   vfixupimm(vmax(a, b), a), which is a where that is NaN
//
// Without it, of many:
//
//   maximum(maximum(maximum(a, b), c), d)
//   ->  m = larger of (larger of (larger of (a, b), c), d)
//       select (a or b is NaN) | (c or d is NaN), NaN, m       one each, a comparison for two,
//                                                              a blend for all
#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace kiln {

void ShortenExtrema(llvm::Function& function, const llvm::TargetMachine& target);

}  // namespace kiln
