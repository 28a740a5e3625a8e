// Buffers: shape, element type, scope and layout (design D1). Bodies and regions are always logical; only
// lowering applies the layout.
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

// A storage with its owner: global is the grid's, shared a block's, warp and warpgroup (fragments, spread
// over the registers of their lanes) theirs, stack (local memory) and register a thread's.
Scope ScopeOf(Storage storage);

// Parameters of the function are the buffers with a role other than kTemporary and kStatus, in the order of
// Program::parameters.
// kScalar is an input of rank 0. kStatus is no parameter: an i32 of rank 0, at most one, that the function
// returns; 0 means that all is well, and where it is not 0 the outputs mean nothing.
enum class Role : uint8_t { kInput, kOutput, kConstant, kScalar, kTemporary, kStatus };

// Whether the caller gives the contents, which no block writes.
inline bool IsGiven(Role role) {
  return role == Role::kInput || role == Role::kConstant || role == Role::kScalar;
}

// How the logical indices become an address: axes[i] (a mark over Source::Iter(dimension)) is the i-th output
// axis, outermost first. Empty axes: row-major. An element that no logical index maps to holds `padding`.
// Fragments have lane axes (32 at most, of a warp or warpgroup), warp axes (4 at most, of a warpgroup) and
// register axes, and no address axes.
enum class AxisKind : uint8_t { kAddress, kRegister, kLane, kWarp };
// Address bits [to, to+bits) ^= address bits [from, from+bits), from != to; the address counts elements, in a
// memory whose size is a multiple of 2^(to + bits): one to one. bits 0: none.
struct Swizzle {
  int8_t from = 0, to = 0, bits = 0;
};
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
  Id data = kNone;  // role kConstant: index in Program::constants, or kNone where the caller passes it
};

}  // namespace kiln
