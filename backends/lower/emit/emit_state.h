// What the sources emit_*.cc remember while code is emitted. Private to emit.h.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/lower/emit/index_value.h"
#include "lang/program/ids.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace kiln {

// The body of a loop that runs, or the function: where values that depend on nothing deeper are made.
struct Level {
  mlir::Block* block = nullptr;
  mlir::Operation* last = nullptr;                   // of those made ahead
  std::map<std::vector<int64_t>, mlir::Value> made;  // keys start with the kind of value
};

// A condition that what is written out decides once its bound part has a value; and the values of this part
// at which it does not hold for all of the rest.
struct BoundaryVersions {
  int condition = 0;
  IndexValue bound;
  Interval rest;
  std::vector<int64_t> values;
};

struct BoundaryValue {
  IndexValue bound;
  int64_t value = 0;
};

struct LoadKey {
  Id buffer;
  std::vector<int64_t> key;
  bool operator<(const LoadKey& o) const { return buffer != o.buffer ? buffer < o.buffer : key < o.key; }
};

}  // namespace kiln
