// What schedules and modules hold: handles of blocks, loops and sampled values.
#pragma once

#include <cstdint>
#include <string>

#include "lang/step.h"

namespace kiln {

// Handles. -1 is inert.
struct Block {
  int32_t number = -1;
};
struct Loop {
  int32_t number = -1;
};
struct Value {
  int32_t number = -1;
};

// A factor of Split: a number, a sampled value, or kAuto for what is left (at most one).
inline constexpr int64_t kAuto = -1;
struct Factor {
  Operand operand;
  Factor(int64_t number) : operand{Operand::Kind::kInt, number} {}  // NOLINT: factors are written as numbers
  Factor(int number) : Factor(int64_t{number}) {}                   // NOLINT
  Factor(Value value) : operand{Operand::Kind::kValue, value.number} {}  // NOLINT
};

// A structural choice that was made.
struct StructuralChoice {
  std::string name;
  int n = 1, picked = 0;
  friend bool operator==(const StructuralChoice&, const StructuralChoice&) = default;
};

}  // namespace kiln
