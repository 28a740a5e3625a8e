// Finds the points of a synchronization plan, where threads wait for each other, that threads pass between two
// statements (instances of blocks). A part of validator/proof/synchronization.h.
//
//   const std::vector<Passing> passed = points.Between(from, to, {.loop = k, .steps = 1});
//
// Only points that are passed for sure are given, in the order in which threads pass them, and only those that both
// statements' threads pass: each axis around a point is around both statements.
#pragma once

#include <vector>

#include "lang/threads/sync_points.h"

namespace kiln::proof {

struct Passing {
  const SyncPoint* point = nullptr;
  bool copied = false;  // what `from` copies asynchronously is complete after the point
};

// How the second statement follows the first one: in a later iteration of a serial loop around both, a number
// of steps later in a pipelined loop (0: in the same step), or, without a loop, in the same iteration of all
// loops around both.
struct Follows {
  Id loop = kNone;
  int64_t steps = 1;
};

class PassedPoints {
 public:
  PassedPoints(const Program& program, const SyncPlan& plan) : p_(program), plan_(plan) {}

  // Returns the points that threads pass after block `from` and before block `to`. `copies_in` is the loop of the
  // asynchronous ring that `from` writes; kNone: it writes none.
  std::vector<Passing> Between(Id from, Id to, const Follows& follows, Id copies_in) const;

  // Returns the child of `node` that is `below` or an ancestor of it.
  Id ChildTowards(Id node, Id below) const;
  // True if the node is a pipelined loop, whose children run in overlapping steps.
  bool IsPipelined(Id node) const;
  PipelineStage StageOf(Id loop, Id child) const;

 private:
  struct Search {
    Id from = kNone, to = kNone, copies_in = kNone;
    std::vector<Passing> found = {};
  };
  void AddPoint(Search& search, Id before, bool copied = false) const;
  void AddNode(Search& search, Id node) const;
  void AddSteps(Search& search, Id loop, int32_t after, int64_t steps, int32_t until) const;
  void AddAfter(Search& search, Id top) const;
  void AddBefore(Search& search, Id top) const;
  bool Meets(const Search& search, const SyncPoint& point) const;
  int32_t LastCopy(Id loop) const;

  const Program& p_;
  const SyncPlan& plan_;
};

}  // namespace kiln::proof
