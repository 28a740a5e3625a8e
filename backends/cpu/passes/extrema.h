// Shortens vector maxima and minima that return NaN if either value is NaN. The x86 instructions ignore NaN
// on one side, so LLVM emits three instructions: the maximum, a test for NaN, and a blend. With AVX-512, two
// are enough:
//
//   maximum(a, b)   ->   vfixupimm(vmax(a, b), a), which is a where that is NaN
//
// Without AVX-512, a tree of several extrema needs one maximum each, one comparison for each two values, and
// one blend:
//
//   maximum(maximum(maximum(a, b), c), d)
//   ->  m = larger of (larger of (larger of (a, b), c), d)
//       select (a or b is NaN) | (c or d is NaN), NaN, m       one each, a comparison for two,
//                                                              a blend for all
#pragma once

#include <cstdint>

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace kiln {

// Rewrites the extrema of a function for x86; other targets' stay. Without AVX-512, rewrites only trees of at least
// `least` values: a smaller one would take as many instructions as before.
void ShortenExtrema(llvm::Function& function, const llvm::TargetMachine& target, int64_t least);

}  // namespace kiln
