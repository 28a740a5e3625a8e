// exp, log, tanh, erf, sin, cos, powf and quotients by one number on f32 as vector code that is right
// everywhere: over the whole range, with infinities, NaN and denormal operands and results. Largest errors,
// in units of the last place (tests/backends/vector_math_test.cc; bounds of what was seen on every seventh of
// all operands):
//
//                   accurate   fast
//   exp             0.9        2.5                             f32, 2^n times a polynomial
//   exp,  AVX-512   0.8        2.5                             f32, 2^(n/16) of a table, a shorter one
//   log             1          1
//   tanh            0.6        5; the same                     accurate in f64
//   sin             1.6        1.6 up to 10^5, then unknown    f32, three-part pi/2
//   cos             1.6        1.6 up to 10^5, then unknown
//   powf            0.6        200; of a positive base         accurate in f64
//   powf, AVX-512   0.7        0.7                             f32, by tables: power_tables.h
//   erf             5          5                               a quotient of polynomials
//   rsqrt           1.5        1.5                             from a guess by bits
//   x / y           1.5        1.5; one y for all lanes        a product with 1 / y
//
// A sigmoid has no operation of its own: 1 / (1 + exp(-x)) as a body is right to 2.5 units, 4 fast, over the
// whole range, with NaN, infinities and denormals (tests/backends/sigmoid_test.cc); below -88.73, where
// exp(-x) is infinite, it is 0, and the right result is less than 2^-127. Functions of f64 are libm's.
//
// log and rsqrt of vectors whose lanes all are finite and at least 2^-125 take no care of others. exp of
// vectors without a lane beyond 44 adds to the exponent; others, for whose lanes the result may be denormal
// or infinite, multiply twice. The reciprocal is taken of divisors from 2^-100 to 2^100. Accurate sin and cos
// of vectors with a lane beyond 10^5, and powf of those with a base or an exponent that is not a positive or
// a finite number, call libm for each lane; powf by tables leaves vectors with a base or a result next to
// denormal or infinite to the way in f64. Powers of 2 and 3 are products everywhere. Fast is what
// `fastmath<afn>` on the operation asks for: annotate-block key="fast-math" value=1 puts it on all operations
// of a block, and the trace keeps it.
#pragma once

#include "mlir/IR/Operation.h"

namespace kiln {

// Replaces the operation by such code, if this file has some for it and for its type: f32, and for those that
// have a way through libm vectors alone. The machine must fuse multiplication and addition; with `avx512`
// exp and powf of eight lanes and more read tables in registers.
bool ExpandVectorMath(mlir::Operation* op, bool avx512);

// Whether `fastmath<afn>` is on it.
bool IsFast(mlir::Operation* op);

}  // namespace kiln
