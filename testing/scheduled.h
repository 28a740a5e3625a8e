// Makes a schedule of a program for tests. The sampling steps of all schedules draw from one generator, so tests should
// not depend on what they draw.
//
//   Schedule s = Scheduled(Matmul(8, 8, 8));
//   s.Parallel(s.GetLoops(s.GetBlock("matmul"))[0]);
#pragma once

#include <utility>

#include "lang/schedule/schedule.h"

namespace kiln {

inline Schedule Scheduled(Program program, const Target& target = Target()) {
  static RandomDice dice(Engine({1}));
  static RandomChooser chooser(dice);
  return Schedule(std::move(program), target, chooser);
}

}  // namespace kiln
