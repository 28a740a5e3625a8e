// Summarizes a program for cost features and limits. Flat arrays hold every access as a linear function of
// the live loops.
//
// Read follows each loop's definition once, applies layouts, and compacts temporaries as lowering does: a temporary
// whose uses are all below some loops keeps only the elements that one iteration of these loops needs. Strides and
// sizes are thus those of the generated code. Reading takes microseconds. Use it where thousands of programs are
// analysed each second, and lang/analysis/bindings.h elsewhere.
//
//   LoopNestSummary nests;            // one per thread: keeps its memory from program to program
//   nests.Read(program);              // refers to the program until the next Read
//   for (const NestBlock& block : nests.blocks()) ...
//
// Loops and blocks are in program order and are named by their position. The set of loops around a block is a
// mask with one bit per depth (0 is the outermost loop); depths from 63 on share the last bit. All extents must be
// constants: Read aborts for a parameter.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

struct NestLoop {
  Id node = kNone;
  int32_t parent = -1;  // the loop around it
  int32_t depth = 0;
  int64_t extent = 1;
  LoopKind kind = LoopKind::kSerial;
};

// A term scale * ((loop / lower) % extent) of an index; extent 0 means no remainder. The term takes `values` different
// values, at least two.
struct NestTerm {
  int32_t loop = 0;
  bool guess = false;  // a part of a digit that is not linear: the loop is right, the numbers are guesses
  int64_t scale = 1, lower = 1, extent = 0, values = 1;
};

// How an access indexes one axis of a buffer's memory. The axes are those of the layout, or the dimensions if the
// buffer has no layout.
struct NestAxis {
  int64_t offset = 0;
  int64_t size = 1;          // elements along the axis, after compaction
  int64_t stride = 1;        // elements between neighbors along the axis
  Range terms;               // LoopNestSummary::terms, without those that compaction removed
  bool exact = true;         // false: not linear; some terms are guesses, or all are
  Interval digits = {0, 0};  // if not exact: what the digits that are not linear add
  bool bounded = true;  // if not exact: true if `digits` and the terms that are no guesses bound the index
};

struct NestAccess {
  Id buffer = kNone;
  int32_t block = 0;
  int32_t next = -1;                   // the access of this buffer that was added before; -1: none
  bool reads = false, writes = false;  // both: the destination of a reduction
  uint64_t within = 0;                 // mask of the loops that decide whether a load under kWithin happens
  Range axes;
};

struct NestBlock {
  Id node = kNone;
  int32_t loop = -1;                    // the innermost loop around it
  int32_t depth = 0;                    // number of loops around it, those around enclosing blocks included
  bool leaf = true;                     // contains no other blocks
  bool prepared = false;                // in the prepare phase, which runs once per set of constants
  Range path;                           // LoopNestSummary::path: its loops, outermost first
  Range accesses;                       // loads in order of first use, then destinations
  Range exprs;                          // LoopNestSummary::exprs: what one instance evaluates, each once
  uint64_t spatial = 0, reduction = 0;  // loops that feed iters of this kind
  uint64_t guarded = 0;                 // loops that decide whether an instance exists
};

struct NestBuffer {
  int32_t first = -1;  // the access added last; NestAccess::next leads to the earlier ones; -1: not used
  int32_t shared = 0;  // number of loops around all of its accesses
  // The number of loops around the buffer's allocation: the loops around all its accesses, up to the first one that has
  // several iterations and is vectorized or is an axis whose iterations share the buffer. 0 if it is no temporary.
  int32_t home = 0;
  int32_t home_loop = -1;
  int64_t elements = 0;  // after compaction; of a fragment, those that a lane holds
};

class LoopNestSummary {
 public:
  // Fills the summary with the loops, blocks and accesses of a program, which must pass Verify.
  void Read(const Program& program);

  const Program& program() const { return *program_; }
  const std::vector<NestLoop>& loops() const { return loops_; }
  const std::vector<NestBlock>& blocks() const { return blocks_; }
  const std::vector<NestAccess>& accesses() const { return accesses_; }
  const std::vector<NestBuffer>& buffers() const { return buffers_; }  // by id
  absl::Span<const int32_t> path(const NestBlock& block) const { return Part(path_, block.path); }
  absl::Span<const NestAccess> accesses(const NestBlock& block) const {
    return Part(accesses_, block.accesses);
  }
  absl::Span<const NestAxis> axes(const NestAccess& access) const { return Part(axes_, access.axes); }
  absl::Span<const NestTerm> terms(const NestAxis& axis) const { return Part(terms_, axis.terms); }
  absl::Span<const Id> exprs(const NestBlock& block) const { return Part(exprs_, block.exprs); }

  static uint64_t Bit(int depth) { return uint64_t{1} << (depth < 63 ? depth : 63); }
  // Returns a mask of the loops that the index of an access depends on: bit d for the loop at depth d.
  uint64_t Indexed(const NestAccess& access) const;
  // Returns by how many elements of memory one iteration of the loop at `depth` moves an access; 0 if it does not move.
  // Counts the terms of the index that contain the loop or its remainder (i, i % n), as if no remainder wrapped around.
  // Ignores terms that contain a quotient of the loop (i / n, (i / n) % m). In an index that is not exact, guesses
  // count with their guessed scales.
  int64_t Stride(const NestAccess& access, int depth) const;

 private:
  struct Value {  // an index over live loops
    int64_t offset = 0;
    Range terms;           // in terms_
    uint64_t guarded = 0;  // loops that its conditions depend on
    bool exact = true;
    Interval digits = {0, 0};  // as in NestAxis
    bool bounded = true;
  };

  template <typename T>
  static absl::Span<const T> Part(const std::vector<T>& pool, Range r) {
    return {pool.data() + r.begin, static_cast<size_t>(r.count)};
  }
  // Reads all nodes below a node. `loop` is the position of the innermost loop around them, `iters` the position in
  // values_ of the first iter that Source::Iter refers to, and `guarded` the mask of loops that decide whether they
  // run.
  void Visit(Id node, int32_t loop, int32_t iters, uint64_t guarded);
  void AddBlock(Id node, int32_t loop, int32_t scope, uint64_t guarded);
  void AddBody(Id expr, uint64_t within, int32_t iters);
  using Values = absl::InlinedVector<Value, 6>;
  void AddAccess(Id buffer, Values index, bool reads, bool writes, uint64_t within);
  void AddGather(const Expr& gather, uint64_t within, int32_t iters);
  Values ValuesOf(Range marks, int32_t iters);
  Value Guess(Id index, int32_t iters);
  Value ValueOf(Id mark, int32_t iters);
  Value ValueOfSource(Source source, int32_t iters);
  Value Checked(Id mark, int32_t iters);
  uint64_t Condition(Id mark, const Value& value) const;
  bool Divide(const Value& value, const IndexSplit& split);
  void DivideSlow(const Value& value, const IndexSplit& split, Value& out);
  void AddTerms(const IndexSum& sum, int64_t scale);
  void Normalize(Value& value);
  Interval BoundsOf(const Value& value) const;
  uint64_t LoopsOf(Range terms) const;
  IndexSum AsSum(const Value& value) const;
  void Place(NestBuffer& placed, bool temporary);
  int64_t PlaceAxis(const NestBuffer& placed, int axis);
  bool IsPrivate(Id buffer, const NestLoop& loop) const;

  const Program* program_ = nullptr;
  std::vector<NestLoop> loops_;
  std::vector<NestBlock> blocks_;
  std::vector<NestAccess> accesses_;
  std::vector<NestBuffer> buffers_;
  std::vector<NestAxis> axes_;
  std::vector<NestTerm> terms_;
  std::vector<int32_t> path_;
  std::vector<Id> exprs_;
  std::vector<int32_t> position_;  // by node: the position of a live loop
  std::vector<int32_t> known_;     // by node: the position in values_ of a dead loop's value
  std::vector<Value> values_;
  std::vector<int32_t> seen_;  // by expression: the last block that evaluated it
};

}  // namespace kiln
