// The nodes of a Program: marks, loops, blocks and their parts. lang/program/program.h defines their
// meaning.
#pragma once

#include "absl/strings/string_view.h"
#include "lang/program/ids.h"

namespace kiln {

// An index value: `offset` plus the sum of `splits`. For a binding, a domain mark or a mark of a kWithin, the value is
// tested: it must lie in 0 .. extent-1 for the instance to exist or the guard to hold. For the index of an access,
// extent is the buffer's, and the value is known to lie in it.
struct IndexMark {
  Extent extent;
  int64_t offset = 0;
  Range splits;  // Program::splits
};

enum class LoopKind : uint8_t {
  kSerial,
  kParallel,
  kVectorized,
  kUnrolled,
  kPipelined,
  kBlockX,
  kBlockY,
  kBlockZ,
  kThreadX,
  kThreadY,
  kThreadZ,
  kVirtualThread
};
absl::string_view ToString(LoopKind kind);

// The pipeline of a loop: for each child, in program order, the stage in which it runs, and for each buffer that one
// child writes and others read, how it is transported. Lowering derives barriers and tokens.
enum class PipelineRole : int32_t { kConsumer, kProducer };  // a producer writes only buffers in rings
struct PipelineStage {
  int32_t stage = 0;  // iterations by which the child lags behind the first stage
  int32_t order = 0;  // its position among the children in one turn: a permutation of 0 .. children-1
  PipelineRole role = PipelineRole::kConsumer;
};
enum class Transport : int32_t { kSync, kAsync, kBulk };  // plain accesses; async copies; bulk copies
absl::string_view ToString(Transport transport);
struct Ring {
  Id buffer = kNone;
  int32_t depth = 1;  // copies of the buffer: iteration i uses copy i % depth
  Transport transport = Transport::kSync;
};

struct PipelineNode {
  Range stages;  // Program::stages, one per child
  Range rings;   // Program::rings
};

struct LoopNode {
  Id name = kNone;
  Id pipeline = kNone;  // for a pipelined loop: index in Program::pipelines
  Extent extent;
  LoopKind kind = LoopKind::kSerial;
  bool tainted = false;   // the extent depends on a draw
  Id definition = kNone;  // for a dead loop: the mark that replaces it
  Range annotations;      // (name, value) pairs in Program::lists
};

enum class IterKind : uint8_t { kSpatial, kReduction };
struct Iter {
  Id name = kNone;
  Extent extent;
  IterKind kind = IterKind::kSpatial;
  Id binding = kNone;  // a mark over loops and the enclosing block's iters, with this iter's extent
};

struct Access {
  Id buffer = kNone;
  Range index;  // marks in Program::lists, over the block's own iters; one per dimension
};

// A commutative and associative operation with identity, for reductions. It has one result or several (argmax has two).
//
// Declaring a reduction permits reordering it, for floats too. The trace determines the order: serial, in lanes, or in
// parts that are combined. If `exact` is false, different orders may round differently. Results are then compared
// within a bound (validator/numeric/tolerance.h), and a record gets the flag "reassociated"
// (lang/patterns/reassociation.h). Computations that are not declared as reductions are never reordered.
struct Monoid {
  enum class Kind : uint8_t { kSum, kProduct, kMin, kMax, kAnd, kOr, kCustom };
  Kind kind = Kind::kSum;
  bool idempotent = false;
  bool exact = false;  // any order gives the same bits
  Range identity;      // an expression per result, in Program::lists
  Range combine;       // an expression per result over kArg, in Program::lists
};
absl::string_view ToString(Monoid::Kind kind);

// Where a block comes from (design D1, D9): from a block of the imported program, or from a primitive that added it to
// copy or pad a buffer.
struct Provenance {
  enum class Kind : uint8_t { kCompute, kCopy, kInit, kPartial, kPadding };
  Kind kind = Kind::kCompute;
  Id origin = kNone;  // block of the original program (kCompute, kInit, kPartial); kCopy: the buffer copied
  Range map;          // marks over the block's iters: the instance of the origin; empty means identity
};
absl::string_view ToString(Provenance::Kind kind);

struct BlockNode {
  Id name = kNone;
  Range iters;   // Program::iters
  Range domain;  // marks in Program::lists over own iters, which must lie in their extents
  Id monoid = kNone;
  Range dests;               // Program::accesses; one per result
  Range values;              // expressions in Program::lists; one per result
  Range initial;             // expressions in Program::lists over spatial iters, one per result, or empty
  bool accumulates = false;  // the destinations were initialized by another block
  Provenance provenance;
  Range annotations;
  Id intrinsic =
      kNone;  // name of the intrinsic that this block, around others, calls (lang/patterns/intrinsic.h)
};

// A node of the program's tree: the root, a loop, a block, or a dead node. It links to its parent, its siblings, and
// its first and last child. `index` is the position of the loop in Program::loops, or of the block in
// Program::blocks.
struct Node {
  enum class Kind : uint8_t { kRoot, kLoop, kBlock, kDead };
  Kind kind = Kind::kRoot;
  bool prepare = false;  // child of the root: runs before all others, once per set of constants
  Id index = kNone;
  Id parent = kNone, prev = kNone, next = kNone, first = kNone, last = kNone;
};

}  // namespace kiln
