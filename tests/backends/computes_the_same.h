// Compiles and runs a program on random inputs, and expects exactly the results of the interpreter.
#pragma once

#include <string>
#include <vector>

#include "testing/compiled/run_program.h"
#include "testing/random_program.h"

namespace kiln {

inline void ComputesTheSame(const Program& p) {
  RandomDice dice(Engine{7});
  const std::vector<std::string> inputs = RandomInputs(p, dice);
  std::vector<std::string> found;
  EXPECT_EQ(RunCompiled(p, inputs, &found), 0);
  EXPECT_EQ(found, Run(p, inputs).value());
}

}  // namespace kiln
