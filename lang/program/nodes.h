// The nodes of a Program: marks, loops, blocks and what blocks are made of.
// Their meaning stands in lang/program/program.h.
#pragma once

#include "absl/strings/string_view.h"
#include "lang/program/ids.h"

namespace kiln {

// An index value: offset + Σ splits, which must lie within 0 .. extent-1 for an instance to exist.
// As an index of an access, extent is the buffer's and the value is known to lie within it.
struct Mark {
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

// A pipelined loop: of each child, in the order of the children, when it runs; of each buffer that one child
// writes and others read, how it travels. Barriers and tokens follow from these, and are lowering's to
// derive.
enum class PipelineRole : int32_t { kConsumer, kProducer };  // a producer writes only what rings carry
struct PipelineStage {
  int32_t stage = 0;  // iterations that the child lags behind the first stage
  int32_t order = 0;  // its position among the children in one turn: a permutation of 0 .. children-1
  PipelineRole role = PipelineRole::kConsumer;
};
enum class Transport : int32_t { kSync, kAsync, kBulk };  // loads and stores; copies that are waited for
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
  Id pipeline = kNone;  // of a pipelined loop: in Program::pipelines
  Extent extent;
  LoopKind kind = LoopKind::kSerial;
  bool tainted = false;   // the extent depends on a draw
  Id definition = kNone;  // of a dead loop: the mark that stands for it
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

// A commutative and associative combination with identity; one or several results (argmax has two).
//
// A declared reduction may be reordered: that it is declared is the permission, for floats too. The trace
// says how it is: as the loops stand, in lanes, in parts that are combined. Where `exact` is false, roundings
// tell one order from another; results are then compared within a bound (validator/numeric/tolerance.h), and flags of
// a record say "reassociated" (analysis/reassociation.h). What is not a declared reduction is never
// reordered.
struct Monoid {
  enum class Kind : uint8_t { kSum, kProduct, kMin, kMax, kAnd, kOr, kCustom };
  Kind kind = Kind::kSum;
  bool idempotent = false;
  bool exact = false;  // any order gives the same bits
  Range identity;      // an expression per result, in Program::lists
  Range combine;       // an expression per result over kArg
};
absl::string_view ToString(Monoid::Kind kind);

// What a block is, in terms of the program that was imported (design D1, D9).
struct Provenance {
  enum class Kind : uint8_t { kCompute, kCopy, kInit, kPartial, kPadding };
  Kind kind = Kind::kCompute;
  Id origin = kNone;  // block of the original program (kCompute, kInit, kPartial); kCopy: the buffer copied
  Range map;          // marks over the block's iters: which of the origin's instances; empty = identity
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
      kNone;  // a name: a block around others whose inside is a call of it (lang/patterns/intrinsic.h)
};

// A place in the tree. `index` is into Program::loops or Program::blocks.
struct Node {
  enum class Kind : uint8_t { kRoot, kLoop, kBlock, kDead };
  Kind kind = Kind::kRoot;
  bool prepare = false;  // children of the root: runs once per constants, apart, before all others
  Id index = kNone;
  Id parent = kNone, prev = kNone, next = kNone, first = kNone, last = kNone;
};

}  // namespace kiln
