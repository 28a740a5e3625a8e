// The synchronization plan of a program, for tests.
#pragma once

#include <gtest/gtest.h>

#include "lang/threads/synchronization.h"

namespace kiln {

// Returns the plan. Fails the test and returns an empty plan if there is none.
inline SyncPlan PlanOf(const Program& p) {
  const absl::StatusOr<SyncPlan> plan = PlanSynchronization(p);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : SyncPlan();
}

}  // namespace kiln
