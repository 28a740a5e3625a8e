// A Program: loops, blocks and buffers as one flat value (design D1).
//
// The meaning of a program:
// - The body is a tree under the root (node 0). A *loop* runs its children for 0 .. extent-1. A *block* is the unit of
//   work: it has iters (spatial or reduction), a body over its own iters, and one *binding* (a Mark) per iter. The
//   bindings map a point of the surrounding loops to an instance of the block. The children of a block, if any, are a
//   nested scope: their bindings may use the block's iters as sources.
// - An instance exists if and only if all marks that it depends on (its bindings, the marks these use, and the block's
//   domain marks) lie within 0 .. extent-1. So imperfect tiles need no separate predicate.
// - A block without a monoid stores values[r] to dests[r]. Running an instance twice stores the same value twice.
// - A reduction block combines lift values[r] into dests[r] with its monoid. Unless `accumulates`, the destination is
//   first set to the monoid's identity (or to initial[r], a function of the spatial iters). This happens each time the
//   outermost loop that feeds a reduction iter is entered, for every element that the instances below it touch. The
//   order of the combination is free within the monoid's flags: floating point sums may round differently.
// - Loops that feed only spatial iters are data parallel. Ids are assigned in order and never reused, so the same steps
//   on the same program give the same ids. A loop that was split or fused is dead; its definition (a mark) gives its
//   value in terms of the loops that replaced it. Bindings that name it do not change.
// - Prepared children of the root come before the others. They read constants and the results of other prepared
//   children, and run once per set of constants.
// - Threads: a child of the root with a block or thread axis below it is a kernel. Iterations of an axis are
//   independent, except that those of a thread axis may combine into one element, which is complete at the end of the
//   outermost axis loop that feeds it. Outside thread axes, one thread runs. Siblings run one after the other. After
//   the end of a loop, all its threads may read what any of them wrote, if the buffer's owner contains them all. A
//   buffer lives as long as its owner: only the same thread, warp or block reads it, in the same kernel. In a program
//   with axes the other children of the root are kernels, too, of one thread. A child is never several kernels: a
//   pipelined loop without a block axis around it runs in one kernel of one block. Kernels run in order, and each sees
//   all that those before it wrote.
// - Lanes: a kernel with fragments consists of warps (or warpgroups). Its thread-x counts the lanes of one, whether a
//   loop is on thread-x or not; thread-y and thread-z count warps. Outside thread-x, the lanes of the owner run a block
//   that writes or reads a fragment, the issuer of an intrinsic runs its call, and one thread runs a copy in bulk.
// - Producers of a pipelined loop run on threads beyond those of the axes. They may be ahead by as many copies as their
//   rings have, beyond the end of the loop too. So a kernel must not write what its producers read.
// - Pipelined loops: the instances (child, iteration) may run in any order with three properties. The iterations of a
//   child are in order. A child runs after the children that write what it reads in the same iteration. A copy in a
//   ring is overwritten only after all its readers. Stages, orders, depths and transports choose among these orders and
//   never change a result. Running the children one after the other, iteration by iteration, is one of these orders.
// - Bodies index the logical shape of buffers, whatever their layout. Scalars are buffers of rank 0.
//
// Copying takes a few memory copies. Not thread safe while it is written; any number of threads may read.
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
  std::vector<Node> nodes;  // nodes[0] is the root
  std::vector<LoopNode> loops;
  std::vector<BlockNode> blocks;
  std::vector<Buffer> buffers;
  std::vector<Id> parameters;  // buffers, in the order of the function's arguments
  std::vector<Iter> iters;
  std::vector<IndexMark> marks;
  std::vector<IndexSplit> splits;
  std::vector<Expr> exprs;
  ExprIndex expr_index;  // index of `exprs`
  std::vector<Access> accesses;
  std::vector<Monoid> monoids;
  std::vector<Extent> dims;
  std::vector<int32_t> lists;
  std::vector<PipelineNode> pipelines;
  std::vector<PipelineStage> stages;
  std::vector<Ring> rings;
  std::string names;  // each ends with '\0'; a name's id is its offset
  std::shared_ptr<const std::vector<std::string>> constants;  // bytes of constant buffers

  Program();

  // --- reading: access to nodes and lists by id
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
  absl::Span<const IndexSplit> Splits(Range r) const {
    return {splits.data() + r.begin, static_cast<size_t>(r.count)};
  }
  absl::Span<const Access> Accesses(Range r) const {
    return {accesses.data() + r.begin, static_cast<size_t>(r.count)};
  }
  // Return the stages of a pipelined loop's children, and its rings: the buffers with several copies that pass data
  // between children. The lists are empty for other loops.
  absl::Span<const PipelineStage> Stages(const LoopNode& loop) const;
  absl::Span<const Ring> Rings(const LoopNode& loop) const;
  absl::Span<const Extent> Dims(Range r) const {
    return {dims.data() + r.begin, static_cast<size_t>(r.count)};
  }
  IndexSum SumOf(Id mark) const;
  // Returns the index expressions of a gather (kGather), one for each dimension of the buffer that it reads.
  std::vector<Id> GatherIndex(const Expr& e) const;

  // --- building: Add functions return the id or range of what they added. AddExpr and AddMonoid return the id of an
  // equal expression or monoid that is there already.
  Id AddName(absl::string_view name);
  Id Intern(absl::string_view name);  // returns the existing id if the name is there
  Id AddMark(const IndexSum& sum, Extent extent);
  Id AddExpr(const Expr& expr);
  Id AddMonoid(Monoid::Kind kind, DType dtype);
  // Adds argmax (kMax) or argmin (kMin): the greatest or least value and its index. NaN is greater (less)
  // than all numbers; integers may be compared as unsigned. Of equal values the least index wins, or the
  // greatest if `last`. So it is commutative, associative, idempotent and exact for all values.
  Id AddArgMonoid(Monoid::Kind kind, DType value, DType index, bool last = false, bool is_unsigned = false);
  // Adds a monoid of kind kCustom with one result, which starts from `identity` and combines two values with the
  // operation `combine`. It is marked as exact, so `combine` must give the same bits in any order.
  Id AddCustomMonoid(Op combine, DType dtype, int64_t identity, bool idempotent);
  Range AddList(absl::Span<const int32_t> values);
  Range AddDims(absl::Span<const Extent> shape);
  Id AddBuffer(absl::string_view name, DType dtype, absl::Span<const Extent> shape, Role role,
               Scope scope = {});
  Id AddLoop(absl::string_view name, Extent extent, LoopKind kind = LoopKind::kSerial);  // detached
  Id AddBlock(const BlockNode& block);                                                   // detached
  void SetPipeline(Id loop, absl::Span<const PipelineStage> of_children, absl::Span<const Ring> carried);
  std::string FreshName(absl::string_view wanted) const;  // unique among buffers and live blocks

  // --- changing the tree. A node that is inserted beside a sibling becomes prepared if the sibling is, and not
  // prepared otherwise. A prepared node that is appended stays prepared below the root only.
  void Append(Id parent, Id node);
  void InsertBefore(Id sibling, Id node);
  void InsertAfter(Id sibling, Id node);
  void Detach(Id node);  // with everything below it
  void Kill(Id node);    // detached and dead; move its children away first
  // Inserts the detached `node` in the place of `old`, and detaches `old`. Each keeps its children.
  void Replace(Id old, Id node);
};

// Checks every invariant of a program: tree links, ids in range, bindings of live loops in scope, positive extents and
// shapes, accesses of the right rank and within bounds (considering guards), dtypes of expressions, monoids,
// parameters, the order of writes and reads (a block reads only what an earlier block or an outer iteration wrote),
// calls of intrinsics (lang/patterns/match.h), prepared nests and pipelines (lang/analysis/legality.h). Sizes that are
// parameters are checked at their upper bounds. A violation is kInternal with the node and the rule.
absl::Status Verify(const Program& program);

// Returns OK if Known() may be called on every extent. Otherwise returns kFailedPrecondition with the buffer,
// loop, iter or index whose extent is a parameter; `needing` (such as "lowering") names what needs constants.
absl::Status CheckConstantExtents(const Program& program, absl::string_view needing);

}  // namespace kiln
