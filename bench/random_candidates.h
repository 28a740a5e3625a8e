// Draws random traces of the default space: what a search proposes before it knows anything.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "backends/import/import.h"
#include "lang/base/check.h"
#include "lang/graph/outline.h"
#include "modules/space.h"
#include "search/propose/prefilter.h"
#include "search/sampler/chain.h"
#include "trace/enumerate.h"

namespace kiln {

inline constexpr const char* kEightOperators[] = {"torch_matmul_1024",
                                                  "jax_conv2d_nhwc_3x3_bias_relu",
                                                  "torch_conv2d_nchw_3x3_bias",
                                                  "torch_conv2d_depthwise",
                                                  "jax_conv2d_group4",
                                                  "torch_dense_bias_gelu",
                                                  "torch_softmax",
                                                  "torch_layernorm"};

class RandomCandidates {
 public:
  // Takes the only task in the file tests/inputs/ops/NAME.mlir. Run from the root of the sources.
  RandomCandidates(const std::string& name, const Target& target)
      : RandomCandidates(OnlyTask("tests/inputs/ops/" + name + ".mlir"), target) {}
  RandomCandidates(Program program, const Target& target) {
    space_.original = std::move(program);
    space_.target = target;
    space_.make_prefilter = [this] { return MakePrefilter(space_.target); };
    const auto sketches = Enumerate(ParseSpace(DefaultSpace(target)).value(), space_.original, target);
    KILN_CHECK(sketches.ok(), sketches.status().ToString());
    for (const Sketch& sketch : sketches->sketches) space_.sketches.push_back(sketch.trace);
    prefilter_ = space_.make_prefilter();
  }

  const SearchSpace& space() const { return space_; }
  const Program& original() const { return space_.original; }

  // Returns the first random trace that the validator accepts. Does not end if there is none.
  Point Draw(uint64_t seed) {
    RandomDice dice(Engine{seed});
    return Draw(dice);
  }
  Point Draw(Dice& dice) {
    while (true) {
      if (absl::StatusOr<Point> point = DrawPoint(space_, prefilter_, dice); point.ok())
        return *std::move(point);
    }
  }

 private:
  static Program OnlyTask(const std::string& file) {
    auto imported = ImportFile(file);
    KILN_CHECK(imported.ok(), imported.status().ToString());
    auto tasks = ExtractTasks(imported->program);
    KILN_CHECK(tasks.ok(), tasks.status().ToString());
    KILN_CHECK(tasks->size() == 1, file, " is not one operator");
    return std::move(tasks->front().program);
  }

  SearchSpace space_;
  Prefilter prefilter_;
};

}  // namespace kiln
