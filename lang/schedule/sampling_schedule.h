// The steps of Schedule (lang/schedule/schedule.h) that sample values, and arithmetic on values. Use Schedule instead.
#pragma once

#include <vector>

#include "lang/schedule/schedule_core.h"
#include "lang/schedule/tile_options.h"

namespace kiln {

class SamplingSchedule : public ScheduleCore {
 public:
  using ScheduleCore::ScheduleCore;

  using TileOptions = kiln::TileOptions;
  // Samples options.parts factors, outermost first, whose product is the extent of the loop, within the bounds of
  // `options`.
  Value SamplePerfectTile(Loop loop, TileOptions options, absl::string_view label = "",
                          Where where = Where::current());
  // Samples the factors of a tile of the loop, outermost first. Their product covers the extent and exceeds it by at
  // most options.waste times the extent, so extents with few divisors have tiles too.
  Value SampleTile(Loop loop, TileOptions options, absl::string_view label = "",
                   Where where = Where::current());
  // Samples one of `values` with the given weights (all equal if empty).
  Value SampleCategorical(const std::vector<int64_t>& values, const std::vector<double>& weights = {},
                          absl::string_view label = "", Where where = Where::current());
  // Samples one of the `values` up to `most`, all equally likely; the least of the values if all are greater.
  Value SampleCategoricalUpTo(Factor most, const std::vector<int64_t>& values, absl::string_view label = "",
                              Where where = Where::current());
  // Samples where to compute a block: -2 inlines the block, -1 leaves the block at its place, and i >= 0 is the i-th
  // loop around the block's first consumer, outermost first.
  Value SampleComputeLocation(Block block, absl::string_view label = "", Where where = Where::current());

  // Multiply and Add return the product and the sum of all numbers of the operands; a sampled tile contributes each of
  // its factors. They refuse negative numbers and results above 2^40. Results are opaque, as all sampled values are.
  Value Multiply(const std::vector<Factor>& numbers, Where where = Where::current());
  Value Add(const std::vector<Factor>& numbers, Where where = Where::current());
  // Divide returns the quotient of two numbers, rounded down, and refuses a divisor 0. Subtract returns their
  // difference, or 0 if that is negative. Both refuse negative numbers.
  Value Divide(Factor number, Factor by, Where where = Where::current());
  Value Subtract(Factor number, Factor less, Where where = Where::current());
  Value Minimum(const std::vector<Factor>& numbers, Where where = Where::current());
  // Takes one number of a sampled tile, counted from 0; a negative index counts from the end, so -1 is the last.
  Value Part(Value tile, int index, Where where = Where::current());
};

}  // namespace kiln
