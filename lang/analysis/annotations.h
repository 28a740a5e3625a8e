// Annotations: named numbers on blocks and loops, stored as (name, value) pairs in Program::lists. Values are cut to 32
// bits.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Returns the value of the annotation `key`; 0 if it is not set.
int64_t AnnotationOf(const Program& program, Range annotations, absl::string_view key);

// Annotation of a block: its math functions of floats may be faster, and a few units in the last place less accurate.
inline constexpr absl::string_view kFastMath = "fast-math";

// Annotation of a sum of products: all factors are assumed to be finite. Then a term with a factor that is zero beyond
// the bounds of its buffer adds nothing and may be left out. The lemma assume-finite sets it.
inline constexpr absl::string_view kAssumeFinite = "finite";

// Annotation of a block: those of its stores that write whole aligned vectors to parameters of the program bypass the
// caches (non-temporal stores). This pays for results that do not fit the caches.
inline constexpr absl::string_view kNonTemporal = "stream";

// Annotation of a serial loop: unroll it by this factor, if the factor divides the extent.
inline constexpr absl::string_view kUnrolledSteps = "unrolled-steps";

void SetAnnotation(Program& program, Range& annotations, absl::string_view key, int64_t value);

}  // namespace kiln
