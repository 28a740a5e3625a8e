// Named numbers on blocks and loops: (name, value) pairs in Program::lists, values within 32 bits.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// 0 where it is not set.
int64_t AnnotationOf(const Program& program, Range annotations, absl::string_view key);

// Of a block: its functions may be a few units of the last place less accurate, and faster.
inline constexpr absl::string_view kFastMath = "fast-math";

// Of a sum of products: its factors are finite, so that terms in which one is a zero beyond the bounds of
// what it reads add nothing, and may be left out. The lemma assume-finite sets it.
inline constexpr absl::string_view kFinite = "finite";

// Of a block: what it stores goes past the caches, for results that none holds until somebody reads them.
inline constexpr absl::string_view kStream = "stream";

// Of a serial loop: so many iterations are written out in each that runs, if they divide its extent.
inline constexpr absl::string_view kUnrolledSteps = "unrolled-steps";

void SetAnnotation(Program& program, Range& annotations, absl::string_view key, int64_t value);

}  // namespace kiln
