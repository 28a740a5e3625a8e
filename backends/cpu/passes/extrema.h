// Rewrites vector maxima and minima that return NaN if either value is NaN to fewer x86 instructions. The x86
// instructions ignore NaN on one side, so LLVM emits three instructions: the maximum, a test for NaN, and a blend. With
// AVX-512, two are enough:
//
//   maximum(a, b)   ->   vfixupimm(vmax(a, b), a), which returns a where a is NaN, and the maximum elsewhere
//
// Without AVX-512, a tree of several maxima needs one instruction for each maximum, one comparison for each two values,
// and one blend:
//
//   maximum(maximum(maximum(a, b), c), d)
//   ->  m = larger of (larger of (larger of (a, b), c), d)
//       select (a or b is NaN) | (c or d is NaN), NaN, m
#pragma once

#include <cstdint>

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace kiln {

// Rewrites vector maxima and minima of f32 and f64 that need not distinguish -0 from +0 to fewer instructions; x86
// only. Without AVX-512, rewrites only trees of at least `least` values: a smaller one would take as many instructions
// as before.
void ShortenExtrema(llvm::Function& function, const llvm::TargetMachine& target, int64_t least);

}  // namespace kiln
