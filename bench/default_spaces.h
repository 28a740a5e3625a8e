// The search spaces of the search benchmarks: the default space of a fixed AVX2 machine over the programs
// that the time budgets name. Built once, on first use. Run from the root of the sources, because the inputs
// are in tests/.
#pragma once

#include "backends/import/import.h"
#include "lang/base/check.h"
#include "modules/space.h"
#include "search/propose/prefilter.h"
#include "search/sampler/chain.h"
#include "testing/matmul.h"
#include "trace/enumerate.h"

namespace kiln {

struct DefaultSearch {
  explicit DefaultSearch(Program program) {
    space.original = std::move(program);
    space.target.cores = 1;  // the default of `kiln tune`
    space.make_prefilter = [this] { return MakePrefilter(space.target); };
    const Space function = ParseSpace(DefaultSpace(space.target)).value();
    const Enumeration sketches = Enumerate(function, space.original, space.target).value();
    for (const Sketch& sketch : sketches.sketches) space.sketches.push_back(sketch.trace);
    const Prefilter prefilter = space.make_prefilter();
    RandomDice dice(Engine{1});
    while (draws.size() < 256) {
      absl::StatusOr<Point> point = DrawPoint(space, prefilter, dice);
      if (point.ok()) draws.push_back(std::make_shared<const Point>(*std::move(point)));
    }
  }

  SearchSpace space;
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
