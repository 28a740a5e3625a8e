// The search spaces of the search benchmarks: the default space of a fixed AVX2 machine over the programs
// that the time budgets name. Built once, on first use. Run from the root of the sources, because the inputs
// are in tests/.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bench/random_candidates.h"
#include "testing/matmul.h"

namespace kiln {

struct DefaultSearch {
  explicit DefaultSearch(Program program) : candidates(std::move(program), OneCore()) {
    RandomDice dice(Engine{1});
    while (draws.size() < 256) draws.push_back(std::make_shared<const Point>(candidates.Draw(dice)));
  }
  static Target OneCore() {  // the default of `kiln tune`
    Target target;
    target.cores = 1;
    return target;
  }

  RandomCandidates candidates;
  const SearchSpace& space = candidates.space();
  std::vector<std::shared_ptr<const Point>> draws;  // draws from the prior
};

inline DefaultSearch& MatmulSearch() {
  static auto& search = *new DefaultSearch(Matmul(1024, 1024, 1024));
  return search;
}

inline DefaultSearch& ConvolutionSearch() {
  static auto& search =
      *new DefaultSearch(ImportFile("tests/inputs/ops/torch_conv2d_nchw_3x3_bias.mlir").value().program);
  return search;
}

}  // namespace kiln
