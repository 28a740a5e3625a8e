// LoopPlan: all that lowering decides about a program, as a tree of plain data. Passes make it and change it
// (backends/lower/passes). The emitter translates it to MLIR and decides nothing. testing/plan_interpreter.h runs it.
//
//   const plan::Planned planned = plan::PlanLoops(program, options);     runs all passes
//   std::cout << ToString(planned.program, planned.plan);                loop_plan_text.h has the form
//
// A plan has a tree for each entry point. A loop of the program occurs once for each range of its iterations that
// lowering treats alike: an unrolled loop of 7 taps whose first tap has no left edge is a node for copy 0 and a node
// for copies 1 to 6. A condition is tested where its node stands, for all values of the loops that are not bound there.
// The sums of IndexPlan (addresses, conditions, marks) hold everywhere.
//
// GPUs: a child of an entry is a kernel if loops below it run on axes. The size of an axis is the number of iterations
// of the largest loop on it. Every thread runs the whole kernel, except that it runs one iteration of a loop on an
// axis, the one with the thread's number on that axis, or none. A leaf outside of an axis's loops runs on the threads
// with number 0. Each thread, block or grid that owns a buffer has its own copy. A leaf `across` combines the values of
// the threads that differ only in the axes of its reduction loops. One of them stores the result, which the others see
// after a sync. A pipeline is written as loops: `for k 4 { for k 1..2 unrolled ahead { copy } multiply }` copies for
// iteration k + 1, if there is one, before it multiplies for iteration k. An asynchronous store is under way until its
// thread waits for the group that a Commit after it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/lower/plan/index_plan.h"

namespace kiln::plan {

struct Node;
using Nodes = std::vector<Node>;

// How the iterations of a loop node run: serially, on threads, as a single iteration, as copies, as vector lanes, or on
// an axis of a GPU.
enum class Run {
  kSerial,    // one after the other
  kThreads,   // on the threads of a pool, in any order
  kOne,       // its only iteration; loads inside are not shared with the code after it
  kUnrolled,  // copies of the code, in order
  kLanes,     // lanes of vectors: each leaf computes all of them before the next leaf
  kAxis,      // each on a thread or block of a GPU
};

// A node of a loop plan that runs the iterations first .. first + count - 1 of a loop of the program, or, if `steps` is
// above 1, the groups of `steps` iterations with these numbers.
struct Loop {
  Id loop = kNone;
  Run run = Run::kSerial;
  int64_t first = 0, count = 1;
  // kSerial: the number of iterations that one run of the body computes. The children are then kUnrolled nodes of the
  // same loop with the iterations 0 .. steps - 1, which count from the first iteration of this run. In general, a node
  // of a loop inside another node of the same loop counts from the outer node's current iteration.
  int64_t steps = 1;
  int64_t lanes = 0;  // kLanes: number of lanes that run at once; the last group may have fewer
  std::vector<int> trims =
      {};  // not kAxis: conditions that end the loop. It runs while all hold for the least value of their other terms
  // Guards that hold for everything below while the loop runs, by its trims or in any case.
  std::vector<int> decided = {};
  bool runs_once = false;  // at least one iteration runs, whatever the trims say
  bool ahead =
      false;  // kUnrolled: inside of another node of the loop, and leaves out what is beyond its last iteration
  LoopKind axis = LoopKind::kThreadX;  // kAxis: the axis, from block-x to thread-z
  int role = -1;                       // kAxis; -1: none. Kernels with other roles are refused (backends/gpu)
  bool operator==(const Loop&) const = default;
};

// A node of a loop plan that tests conditions. Arm 0 runs if all `tests` hold for all values of the loops that have no
// value yet at this place; inside, they are known to hold. Otherwise arm 1 runs, if there is one.
struct Branch {
  std::vector<int> tests = {};
  // True: there is a single test, and arm 1 (the else branch) knows that it fails for all values of the loops that have
  // no value yet at this place. False: arm 1 is the code for incomplete tiles, in which the tests are still open.
  bool decided = false;
  bool operator==(const Branch&) const = default;
};

// A node of a loop plan that selects code by a condition 0 <= value < extent. Arm 0 runs if the condition holds for all
// values of the loops that have no value yet at this place. Otherwise arm i + 1 runs if the condition's terms over the
// other loops sum to values[i]. The last arm is not tested and runs in all other cases.
struct Switch {
  int condition = 0;
  std::vector<int64_t> values = {};
  bool operator==(const Switch&) const = default;
};

// A node of a loop plan that tells the first iteration of a reduction from the others. Arm 0 runs where all `loops` are
// at 0: there the reduction stores its first term. Arm 1 runs elsewhere: there it combines a term with the stored
// value.
struct First {
  std::vector<Id> loops = {};
  bool operator==(const First&) const = default;
};

// How a leaf, which computes an instance of a block, stores a result: as usual, past the caches (kStream), delayed
// until a Flush stores it transposed, or by a copy of memory that runs beside the thread (kAsync, on a GPU).
struct Store {
  enum class Mode { kPlain, kStream, kTransposed, kAsync };
  Mode mode = Mode::kPlain;
  int flush = -1;  // kTransposed: the number of that Flush
  bool operator==(const Store&) const = default;
};

// A node of a loop plan that computes one instance of a block; in a vectorized loop, one instance in each vector lane.
struct Leaf {
  Id block = kNone;
  std::vector<int> asks = {};       // guards that are tested for each instance
  std::optional<bool> starts = {};  // of an uninitialized reduction: true if it stores, false if it combines
  bool across = false;  // GPU: combines the values of all threads on the axes of its reduction loops
  bool fast = false;    // functions may be less accurate
  std::vector<Store> stores = {};  // by result; empty: all plain
  bool operator==(const Leaf&) const = default;
};

// A node of a loop plan that calls an intrinsic: one instruction computes what the loops of the intrinsic's description
// compute. The node keeps these loops as arm 0 until a pass has decided that the instruction fits.
struct Call {
  std::string intrinsic;
  Id outer = kNone;            // the outermost loop of the description
  std::vector<int> asks = {};  // guards that are tested for the call
  bool operator==(const Call&) const = default;
};

// A node of a loop plan that prefetches `lines` cache lines of a buffer, from `address` on, once for each iteration of
// the loops `over`. If the address differs between vector lanes, that of the first lane counts.
struct Prefetch {
  Id buffer = kNone;
  IndexSum address = {};
  std::vector<Loop> over = {};  // kOne or kUnrolled
  int64_t lines = 1;
  int locality = 3;  // 0: not kept in caches; 3: kept in all
  bool write = false;
  bool operator==(const Prefetch&) const = default;
};

// A node of a loop plan that stores, transposed in registers, the results that leaves have delayed until the flush with
// this number.
struct Flush {
  int number = 0;
  bool operator==(const Flush&) const = default;
};

// A node of a loop plan that emits a memory fence. It orders the non-temporal stores before it (those that bypass the
// caches) before all later accesses to memory.
struct Fence {
  bool operator==(const Fence&) const = default;
};

// A barrier in a GPU kernel: each thread of the scope (such as a block of threads) waits until all of them have
// arrived. Before a thread arrives, it waits until at most `groups` of its groups of asynchronous stores are still
// under way; if `groups` is -1, it does not wait for stores.
struct Sync {
  Owner scope = Owner::kBlock;
  int32_t groups = -1;
  bool operator==(const Sync&) const = default;
};

// A node of a loop plan for a GPU: each thread ends its current group of asynchronous stores, which may be empty. A
// Sync waits for whole groups.
struct Commit {
  bool operator==(const Commit&) const = default;
};

struct Node {
  std::variant<Loop, Branch, Switch, First, Leaf, Call, Prefetch, Flush, Fence, Sync, Commit> what;
  std::vector<Nodes> arms =
      {};  // Loop: one; Call: one or none; Branch: one or two; First: two; Switch: one more than values
  bool operator==(const Node&) const = default;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&what);
  }
};

struct Entry {
  std::string name;
  bool prepare = false;
  Nodes nodes;
};

struct LoopPlan {
  IndexPlan indices;
  std::vector<Entry> entries;
};

}  // namespace kiln::plan
