// A Program: loops, blocks and buffers as one flat value (design D1).
//
// Meaning, before the structs:
// - The body is a tree under the root (node 0). A *loop* runs its children for 0 .. extent-1. A *block* is
//   the unit of work: iters (spatial or reduction), a body in terms of its own iters, and one *binding*
//   (a Mark) per iter that says which instance of the block a point of the loops around it is. A block's
//   children, if any, are a nested scope: their bindings use the block's iters as sources.
// - An instance exists if and only if every mark on its way (its bindings, the marks these use, and the
//   block's domain marks) lies within 0 .. extent-1. Imperfect tiles therefore need no predicate of their own.
// - A block without a monoid stores values[r] to dests[r]. Running an instance twice stores the same value
//   twice.
// - A reduction block combines lift values[r] into dests[r] with its monoid. Unless `accumulates`, the
//   destination is set to the monoid's identity (or to initial[r], a function of the spatial iters) each time
//   the outermost loop that feeds a reduction iter is entered, for every element that the instances below it
//   touch. The order of the combination is free, up to what the monoid's flags say: floating point sums may
//   differ in rounding.
// - Loops are data parallel where they feed spatial iters only. Ids are assigned in order and never reused:
//   the same steps on the same program give the same ids. A loop that was split or fused is dead, and
//   `definition` (a mark) says its value in terms of the loops that replaced it; bindings that name it stay
//   as they are.
// - Prepared children of the root stand before the others. They read constants and what prepared ones write,
//   and run once per set of constants.
// - Threads: a child of the root with a block or thread axis below is a kernel. Iterations of an axis are
//   independent of each other, but that those of a thread axis may combine into one element (complete at the
//   loop's end); outside of thread axes one thread runs. Siblings run one after the other: what threads
//   wrote, all may read after the loop's end, if the buffer's owner holds them all. A buffer lives as long as
//   its owner: what a thread, a warp, a block wrote in it, only the same one reads, in the same kernel.
// - Pipelined loops: instances (child, iteration) run in any order in which each child's iterations are in
//   order, a child comes after those that write what it reads in the same iteration, and a ring's copy is
//   written again after all who read it. Stages, orders, depths and transports choose among these orders and
//   never change a result; running the children in turn, iteration by iteration, is one of them.
// - Buffers are logical: bodies index the logical shape, whatever the layout. Scalars are buffers of rank 0.
//
// Copying is a few memory copies. Not thread safe while written; any number of threads may read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lang/index/index_map.h"
#include "lang/program/buffer.h"
#include "lang/program/dtype.h"
#include "lang/program/expr.h"
#include "lang/program/expr_index.h"
#include "lang/program/ids.h"
#include "lang/program/nodes.h"

namespace kiln {

struct Program {
  std::string name;
  std::vector<Node> nodes;  // [0] is the root
  std::vector<LoopNode> loops;
  std::vector<BlockNode> blocks;
  std::vector<Buffer> buffers;
  std::vector<Id> parameters;  // buffers, in the order of the function's arguments
  std::vector<Iter> iters;
  std::vector<Mark> marks;
  std::vector<Split> splits;
  std::vector<Expr> exprs;
  ExprIndex expr_index;  // of `exprs`
  std::vector<Access> accesses;
  std::vector<Monoid> monoids;
  std::vector<Extent> dims;
  std::vector<int32_t> lists;
  std::vector<PipelineNode> pipelines;
  std::vector<PipelineStage> stages;
  std::vector<Ring> rings;
  std::string names;                                          // each ended by '\0'; a name's id is its offset
  std::shared_ptr<const std::vector<std::string>> constants;  // bytes of constant buffers

  Program();

  // --- reading
  absl::string_view Text(Id name) const { return names.c_str() + name; }
  bool IsLoop(Id node) const { return nodes[node].kind == Node::Kind::kLoop; }
  bool IsBlock(Id node) const { return nodes[node].kind == Node::Kind::kBlock; }
  const LoopNode& loop(Id node) const { return loops[nodes[node].index]; }
  LoopNode& loop(Id node) { return loops[nodes[node].index]; }
  const BlockNode& block(Id node) const { return blocks[nodes[node].index]; }
  BlockNode& block(Id node) { return blocks[nodes[node].index]; }
  absl::Span<const int32_t> List(Range r) const {
    return {lists.data() + r.begin, static_cast<size_t>(r.count)};
  }
  absl::Span<const Iter> Iters(Range r) const {
    return {iters.data() + r.begin, static_cast<size_t>(r.count)};
  }
  absl::Span<Iter> Iters(Range r) { return {iters.data() + r.begin, static_cast<size_t>(r.count)}; }
  absl::Span<const Split> Splits(Range r) const {
    return {splits.data() + r.begin, static_cast<size_t>(r.count)};
  }
  absl::Span<const Access> Accesses(Range r) const {
    return {accesses.data() + r.begin, static_cast<size_t>(r.count)};
  }
  // None of a loop that is not pipelined.
  absl::Span<const PipelineStage> Stages(const LoopNode& loop) const;
  absl::Span<const Ring> Rings(const LoopNode& loop) const;
  absl::Span<const Extent> Dims(Range r) const {
    return {dims.data() + r.begin, static_cast<size_t>(r.count)};
  }
  Sum SumOf(Id mark) const;
  // Range of the marks of a kWithin expression.
  static Range WithinMarks(const Expr& e) {
    return {static_cast<int32_t>(e.bits >> 32), static_cast<int32_t>(e.bits)};
  }
  // The index expressions of a kGather, one per dimension of its buffer.
  std::vector<Id> GatherIndex(const Expr& e) const;

  // --- making: each returns the id or the range of what it appended (expressions and monoids are shared)
  Id AddName(absl::string_view name);
  Id Intern(absl::string_view name);  // the name that is there, if one is
  Id AddMark(const Sum& sum, Extent extent);
  Id AddExpr(const Expr& expr);
  Id AddMonoid(Monoid::Kind kind, DType dtype);
  // Argmax (kMax) and argmin (kMin): the greatest (least) value, and the index where it stands. NaN is
  // greater (less) than all numbers, integers may be read without sign; among equals the least index wins, or
  // the greatest (`last`). So it is commutative, associative, idempotent and exact, whatever the values.
  Id AddArgMonoid(Monoid::Kind kind, DType value, DType index, bool last = false, bool is_unsigned = false);
  // A monoid without a kind of its own: exact, it combines with one operation.
  Id AddCustomMonoid(Op combine, DType dtype, int64_t identity, bool idempotent);
  Range AddList(absl::Span<const int32_t> values);
  Range AddDims(absl::Span<const Extent> shape);
  Id AddBuffer(absl::string_view name, DType dtype, absl::Span<const Extent> shape, Role role,
               Scope scope = {});
  Id AddLoop(absl::string_view name, Extent extent, LoopKind kind = LoopKind::kSerial);  // detached
  Id AddBlock(const BlockNode& block);                                                   // detached
  void SetPipeline(Id loop, absl::Span<const PipelineStage> of_children, absl::Span<const Ring> carried);
  std::string FreshName(absl::string_view wanted) const;  // unique among the buffers' and live blocks' names

  // --- the tree: next to a prepared child of the root, a node is prepared too
  void Append(Id parent, Id node);
  void InsertBefore(Id sibling, Id node);
  void InsertAfter(Id sibling, Id node);
  void Detach(Id node);  // with everything below it
  void Kill(Id node);    // detached and dead; children must have been moved away
  // Puts `node` where `old` is and moves nothing else.
  void Replace(Id old, Id node);
};

// Checks every invariant of the structs above: tree links, ids in range, bindings of live loops in scope,
// extents and shapes positive, accesses of the right rank and within bounds (guards considered), dtypes of
// expressions, monoids, parameters, one writer per buffer element order (a block reads only what a block
// before it, or an outer iteration, wrote), prepared nests and pipelines (analysis/restrictions.h).
// Sizes that are parameters are checked at their upper bounds.
// kInternal with the node and the rule on a violation.
absl::Status Verify(const Program& program);

// OK where Known() may be asked of every extent; else kFailedPrecondition with the buffer or loop whose
// extent is a parameter, and `needing` ("lowering") as what needs constants.
absl::Status CheckConstantExtents(const Program& program, absl::string_view needing);

}  // namespace kiln
