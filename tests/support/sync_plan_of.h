// The synchronization plan of a program, for tests.
#pragma once

#include <gtest/gtest.h>

#include "lang/threads/synchronization.h"

namespace kiln {

// Returns the synchronization plan of the program. Fails the test and returns an empty plan if PlanSynchronization
// returns an error.
inline SyncPlan PlanOf(const Program& p) {
  const absl::StatusOr<SyncPlan> plan = PlanSynchronization(p);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : SyncPlan();
}

}  // namespace kiln
