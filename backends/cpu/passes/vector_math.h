// Expands exp, log, tanh, erf, sin, cos, powf, rsqrt, and quotients whose lanes have one divisor, on f32 to inlined
// vector code. The code is correct over the whole range, with infinities, NaN, and denormal operands and results. The
// table has the largest errors over every seventh operand, in units of the last place
// (tests/backends/vector_math_test.cc), and the method:
//
//                   accurate   fast
//   exp             0.9        2.5                             f32, 2^n times a polynomial
//   exp,  AVX-512   0.8        2.5                             f32, 2^(n/16) from a table times a shorter polynomial
//   log             1          1
//   tanh            0.6        5 (expand_math.h)               accurate: in f64
//   sin             1.6        1.6 up to 10^5, then unknown    f32, three-part pi/2
//   cos             1.6        1.6 up to 10^5, then unknown
//   powf            0.6        200, positive bases only        accurate: in f64
//   powf, AVX-512   0.7        0.7                             f32, by tables: power_tables.h
//   erf             5          5                               a quotient of polynomials
//   rsqrt           1.5        1.5                             a guess by bits, then Newton steps
//   x / y           1.5        1.5                             a product with 1 / y, if all lanes have one y
//
// A sigmoid is no operation of its own: a block that computes 1 / (1 + exp(-x)) has an error of 2.5 units (4 with
// fast-math) over the whole range, with NaN, infinities and denormals (tests/backends/sigmoid_test.cc). Below -88.73,
// exp(-x) is infinite and the result 0, while the exact one is less than 2^-127. Functions of f64 call libm.
//
// Common operands take a fast path. log and rsqrt of a vector whose lanes are all finite and at least 2^-125 ignore
// other cases. exp of a vector without a lane beyond 44 adds to the exponent; otherwise the result may be denormal or
// infinite, and exp multiplies twice. Quotients use the reciprocal of divisors from 2^-100 to 2^100. Accurate sin and
// cos of a vector with a lane beyond 10^5 call libm for each lane. So does powf of a vector with a base that is not
// positive or an operand that is not finite. powf by tables uses the f64 code if a base or result is close to denormal
// or infinite. Powers 2 and 3 are products. The column "fast" applies to operations with `fastmath<afn>`:
// annotate-block key="fast-math" value=1 sets this flag on all operations of a block, and the trace keeps the
// annotation.
#pragma once

#include "mlir/IR/Operation.h"

namespace kiln {

// Replaces an operation on f32 by inlined code of polynomials or tables and returns true: exp, log, tanh, erf, sin,
// cos, powf, rsqrt, and divf with one divisor for all lanes. Returns false and changes nothing for other operations,
// for a tanh with `fastmath<afn>`, for a divf by a constant of a magnitude outside 2^-100 .. 2^100, and for scalars,
// except for exp, log, tanh, erf and powf with the exponent 2 or 3. The machine must have fused multiply-add. With
// `tables`, which take AVX-512, exp and powf of eight lanes or more read tables in registers.
bool ExpandVectorMath(mlir::Operation* op, bool tables);

// True if the operation has `fastmath<afn>`.
bool IsFast(mlir::Operation* op);

}  // namespace kiln
