// The loop plan: all that lowering decides about a program, as plain data. Passes make it and change it
// (backends/lower/passes); the emitter translates it to MLIR and decides nothing; testing/plan_interpreter.h runs it.
//
//   plan::LoopPlan loops = plan::Build(program, PlanIndices(program));
//   plan::Guards(loops, options);
//   std::cout << ToString(program, loops);              // loop_plan_text.h has the form
//
// A plan is a tree for each entry point. A loop of the program occurs once for each range of its iterations that
// lowering treats alike: an unrolled loop of 7 taps whose first tap has no left edge is a node for copy 0 and a node
// for copies 1 to 6. A condition is tested where its node stands, for all values of the loops that are not bound
// there. The sums of IndexPlan (addresses, conditions, marks) hold everywhere.
//
// GPUs: a child of an entry is a kernel if loops below it run on axes. The size of an axis is the number of iterations
// of the largest loop on it. Every thread runs the whole kernel, except that it runs one iteration of a loop on an axis,
// the one with the thread's number on that axis, or none. A leaf outside of an axis's loops runs on the threads with
// number 0. Each owner of a buffer's scope has a memory of its own. A leaf `across` combines the values of the threads
// that differ only in the axes of its reduction loops. One of them stores the result, which the others see after a sync.
// A pipeline is written as loops: `for k 4 { for k 1..2 unrolled ahead { copy } multiply }` copies for iteration k + 1,
// if there is one, before it multiplies for iteration k. An asynchronous store is under way until its thread waits for
// the group that a Commit after it ends.
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

// How the iterations of a loop run.
enum class Run {
  kSerial,    // one after the other
  kThreads,   // on the threads of a pool, in any order
  kOne,       // its only iteration; loads inside are not shared with the code after it
  kUnrolled,  // copies of the code, in order
  kLanes,     // lanes of vectors: each leaf computes all of them before the next leaf
  kAxis,      // each on a thread or block of a GPU
};

// Runs iterations first .. first + count - 1 of a loop of the program.
struct Loop {
  Id loop = kNone;
  Run run = Run::kSerial;
  int64_t first = 0, count = 1;
  // kSerial: iterations that the body contains as copies; the children are kUnrolled nodes of the same loop with
  // the iterations 0 .. steps - 1. A node of a loop inside of another node of that loop is relative to it.
  int64_t steps = 1;
  int64_t lanes = 0;  // kLanes: number of lanes that run at once; the last group may have fewer
  std::vector<int> trims =
      {};  // kSerial: conditions that end the loop. It runs while they hold for the least value of their rest
  std::vector<int> decided = {};  // those of `trims` that hold for everything below while the loop runs
  bool runs_once = false;         // at least one iteration runs, whatever the trims say
  bool ahead =
      false;  // kUnrolled: inside of another node of the loop, and leaves out what is beyond its last iteration
  LoopKind axis = LoopKind::kThreadX;  // kAxis: the axis, from block-x to thread-z
  int role = -1;                       // kAxis
  bool operator==(const Loop&) const = default;
};

// if (all tests hold) { arm 0, where they are known to hold } else { arm 1 }
struct Branch {
  std::vector<int> tests = {};
  // True: there is one test, and in arm 1 it fails for all values of its rest (plan_context.h). False: arm 1 is the
  // code for incomplete tiles, where the tests are still open.
  bool decided = false;
  bool operator==(const Branch&) const = default;
};

// Arm 0 runs if the condition holds for all values of its rest (plan_context.h). Arm i + 1 runs if its bound part
// equals values[i]; the last arm is not tested and runs in all other cases.
struct Switch {
  int condition = 0;
  std::vector<int64_t> values = {};
  bool operator==(const Switch&) const = default;
};

// Arm 0 runs where all `loops` are at 0: there reductions start. Arm 1 runs elsewhere: there they combine.
struct First {
  std::vector<Id> loops = {};
  bool operator==(const First&) const = default;
};

// How a leaf stores a result: as usual, past the caches, delayed until a Flush stores it transposed, or by a copy of
// memory that runs beside the thread (GPU).
struct Store {
  enum class Mode { kPlain, kStream, kTransposed, kAsync };
  Mode mode = Mode::kPlain;
  int flush = -1;  // kTransposed: the number of that Flush
  bool operator==(const Store&) const = default;
};

// An instance of a block, for each lane.
struct Leaf {
  Id block = kNone;
  std::vector<int> asks = {};       // guards that are tested for each instance
  std::optional<bool> starts = {};  // of an uninitialized reduction: true if it stores, false if it combines
  bool across = false;  // GPU: combines the values of all threads on the axes of its reduction loops
  bool fast = false;    // functions may be less accurate
  std::vector<Store> stores = {};  // by result; empty: all plain
  bool operator==(const Leaf&) const = default;
};

// An instruction in place of the loops of an intrinsic's description. Until a pass knows that the instruction fits,
// the loops are arm 0.
struct Call {
  std::string intrinsic;
  Id outer = kNone;            // the outermost loop of the description
  std::vector<int> asks = {};  // guards that are tested for the call
  bool operator==(const Call&) const = default;
};

// Prefetches `lines` cache lines from an address on (that of the first lane), for each iteration of the loops `over`.
struct Prefetch {
  Id buffer = kNone;
  IndexSum address = {};
  std::vector<Loop> over = {};  // kOne or kUnrolled
  int64_t lines = 1;
  int locality = 3;  // 0: not kept in caches; 3: kept in all
  bool write = false;
  bool operator==(const Prefetch&) const = default;
};

// Stores the results that leaves have delayed until the flush with this number.
struct Flush {
  int number = 0;
  bool operator==(const Flush&) const = default;
};

// Orders non-temporal stores before what follows.
struct Fence {
  bool operator==(const Fence&) const = default;
};

// All threads of an owner's scope arrive before any goes on (GPU). Before that each waits until at most `groups` of its
// groups of asynchronous stores are under way. -1: it waits for none.
struct Sync {
  Owner scope = Owner::kBlock;
  int32_t groups = -1;
  bool operator==(const Sync&) const = default;
};

// Ends a group of the asynchronous stores of each thread, which may be empty (GPU).
struct Commit {
  bool operator==(const Commit&) const = default;
};

struct Node {
  std::variant<Loop, Branch, Switch, First, Leaf, Call, Prefetch, Flush, Fence, Sync, Commit> what;
  std::vector<Nodes> arms =
      {};  // Loop, Call: one; Branch: one or two; First: two; Switch: one more than values
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
