// State that the sources emit_*.cc keep during emission. Private to emit.h.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/lower/plan/index_value.h"
#include "lang/program/ids.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace kiln {

// The body of a loop that runs, or of the function. Values that depend on no inner loop are computed here.
struct Level {
  mlir::Block* block = nullptr;
  mlir::Operation* last = nullptr;                   // the operation that was hoisted last
  std::map<std::vector<int64_t>, mlir::Value> made;  // keys start with the kind of value
};

struct LoadKey {
  Id buffer;
  std::vector<int64_t> key;
  bool operator<(const LoadKey& o) const { return buffer != o.buffer ? buffer < o.buffer : key < o.key; }
};

}  // namespace kiln
