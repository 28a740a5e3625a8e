// Declares buffers: element type, role, scope, shape, layout, and the bytes of constants (design D1). Blocks index a
// buffer by its logical shape. The layout determines where the elements lie in memory, and changes no result.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "lang/program/dtype.h"
#include "lang/program/ids.h"

namespace kiln {

enum class Storage : uint8_t { kGlobal, kStack, kRegister, kShared, kWarp, kWarpgroup };
absl::string_view ToString(Storage storage);
std::optional<Storage> ParseStorage(absl::string_view text);
enum class Owner : uint8_t { kThread, kWarp, kWarpgroup, kBlock, kCluster, kGrid };
struct Scope {
  Storage storage = Storage::kGlobal;
  Owner owner = Owner::kGrid;
  friend bool operator==(Scope a, Scope b) { return a.storage == b.storage && a.owner == b.owner; }
};

// Returns the scope of a storage, that is, the storage with its owner. The grid owns global memory, a block shared
// memory, a thread its stack and registers, and a warp or warpgroup its fragments, which are spread over registers of
// its lanes.
Scope ScopeOf(Storage storage);

// What a buffer is to the program's function. The roles kInput, kOutput, kConstant and kScalar (an input of rank 0) are
// parameters, in the order of Program::parameters, except constants whose bytes the program holds. kTemporary is
// internal. kStatus is an i32 of rank 0 that the function returns: 0 means success, and any other value means that the
// outputs are not valid. A program has at most one buffer of kStatus.
enum class Role : uint8_t { kInput, kOutput, kConstant, kScalar, kTemporary, kStatus };

// True for the roles kInput, kConstant and kScalar: the caller provides the contents of such a buffer, or the program
// holds them (constants with bytes). No block writes it.
inline bool IsGiven(Role role) {
  return role == Role::kInput || role == Role::kConstant || role == Role::kScalar;
}

// The kinds of a layout's axes: what the position along the axis selects. Layouts in memory have only address axes.
// Fragments have lane axes (together at most 32 lanes, of a warp or warpgroup), warp axes (together at most 4 warps, of
// a warpgroup) and register axes, but no address axes.
enum class AxisKind : uint8_t { kAddress, kRegister, kLane, kWarp };
// A permutation of addresses, which count elements: XORs address bits [from, from+bits) into bits [to, to+bits), where
// from != to. It is one to one if the memory's size is a multiple of 2^(to + bits). bits 0: no swizzle.
struct Swizzle {
  int8_t from = 0, to = 0, bits = 0;
};
// Maps logical indices to an address, or to the lane, warp and register that hold an element (AxisKind). axes[i] (a
// mark over Source::Iter(dimension)) is the i-th axis, outermost first. Without axes, the layout is row-major.
// `swizzle` permutes the addresses. Elements that no logical index maps to hold `padding`, unless that is kNone.
struct Layout {
  Range axes;   // marks in Program::lists
  Range kinds;  // AxisKind in Program::lists; empty: all kAddress
  Swizzle swizzle;
  Id padding = kNone;  // a constant expression
};

struct Buffer {
  Id name = kNone;
  DType dtype = DType::kF32;
  Role role = Role::kTemporary;
  Scope scope;
  Range shape;  // Program::dims
  Layout layout;
  Id data = kNone;  // for kConstant: index in Program::constants, or kNone if the caller passes it
};

}  // namespace kiln
