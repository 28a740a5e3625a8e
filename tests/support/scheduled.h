// A schedule for tests whose steps draw nothing.
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
