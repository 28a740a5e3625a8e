// The search spaces of the search benchmarks: the default space of one core with AVX2 over a matmul and a 3x3
// convolution, and that of an H100 over these two and a softmax. Each is made on first use, with 256 valid draws from
// its prior. Run from the root of the sources, because the inputs are in tests/.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/targets.h"
#include "bench/random_candidates.h"
#include "testing/matmul.h"

namespace kiln {

struct DefaultSearch {
  explicit DefaultSearch(Program program, const Target& target = OneCore())
      : candidates(std::move(program), target) {
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
  std::vector<std::shared_ptr<const Point>> draws;  // valid draws from the prior
};

inline DefaultSearch& MatmulSearch() {
  static auto& search = *new DefaultSearch(Matmul(1024, 1024, 1024));
  return search;
}

inline Program Convolution3x3() {
  return ImportFile("tests/inputs/ops/torch_conv2d_nchw_3x3_bias.mlir").value().program;
}

inline DefaultSearch& ConvolutionSearch() {
  static auto& search = *new DefaultSearch(Convolution3x3());
  return search;
}

inline DefaultSearch& GpuMatmulSearch() {
  static auto& search = *new DefaultSearch(Matmul(1024, 1024, 1024), NamedTarget("h100").value());
  return search;
}

inline DefaultSearch& GpuConvolutionSearch() {
  static auto& search = *new DefaultSearch(Convolution3x3(), NamedTarget("h100").value());
  return search;
}

inline DefaultSearch& GpuSoftmaxSearch() {
  static auto& search = *new DefaultSearch(ImportFile("tests/inputs/ops/torch_softmax.mlir").value().program,
                                           NamedTarget("h100").value());
  return search;
}

}  // namespace kiln
