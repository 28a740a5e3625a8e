#include "lang/schedule/sampling_schedule.h"

#include <utility>

namespace kiln {
namespace {

// The bounds of a sampled tile that are operands of its step: those of `each` (but for the number 0), and those of
// `most` that are sampled values. Bounds in `most` that are plain numbers are in the step's attribute `most`.
struct TileBoundOperands {
  std::vector<Operand> operands;
  std::vector<int64_t> most, each;  // which bound each operand is
};
bool IsNumber(const Factor& factor) { return factor.operand.kind == Operand::Kind::kInt; }

TileBoundOperands BoundOperandsOf(const TileOptions& options) {
  TileBoundOperands bounds;
  for (size_t i = 0; i < options.most.size(); ++i) {
    if (IsNumber(options.most[i])) continue;
    bounds.operands.push_back(options.most[i].operand);
    bounds.most.push_back(static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < options.each.size(); ++i) {
    if (IsNumber(options.each[i]) && options.each[i].operand.number == 0) continue;
    bounds.operands.push_back(options.each[i].operand);
    bounds.each.push_back(static_cast<int64_t>(i));
  }
  return bounds;
}

std::vector<Operand> TileOperands(Loop loop, const TileOptions& options) {
  std::vector<Operand> operands{OperandOf(loop)};
  for (const Value value : options.within) operands.push_back(OperandOf(value));
  const TileBoundOperands bounds = BoundOperandsOf(options);
  operands.insert(operands.end(), bounds.operands.begin(), bounds.operands.end());
  return operands;
}

std::vector<Attribute> TileAttributes(const TileOptions& options) {
  const TileBoundOperands bounds = BoundOperandsOf(options);
  std::vector<int64_t> most;
  for (const Factor& bound : options.most) most.push_back(IsNumber(bound) ? bound.operand.number : 0);
  while (!bounds.most.empty() && !most.empty() && most.back() == 0) most.pop_back();
  return {int64_t{options.parts}, options.innermost, options.budget, options.bound, most,
          options.multiple,       options.lanes,     bounds.most,    bounds.each};
}

}  // namespace

Value SamplingSchedule::SamplePerfectTile(Loop loop, TileOptions options, absl::string_view label,
                                          Where where) {
  return {Do("sample-perfect-tile", TileOperands(loop, options), TileAttributes(options), where,
             label.empty() ? "tile" : label)
              .first};
}

Value SamplingSchedule::SampleTile(Loop loop, TileOptions options, absl::string_view label, Where where) {
  std::vector<Attribute> attributes = TileAttributes(options);
  attributes.emplace_back(options.waste);
  return {Do("sample-tile", TileOperands(loop, options), std::move(attributes), where,
             label.empty() ? "tile" : label)
              .first};
}

Value SamplingSchedule::SampleCategorical(const std::vector<int64_t>& values,
                                          const std::vector<double>& weights, absl::string_view label,
                                          Where where) {
  return {
      Do("sample-categorical", {}, {values, weights}, where, label.empty() ? "categorical" : label).first};
}
Value SamplingSchedule::SampleCategoricalUpTo(Factor most, const std::vector<int64_t>& values,
                                              absl::string_view label, Where where) {
  return {Do("sample-categorical", {most.operand}, {values, std::vector<double>()}, where,
             label.empty() ? "categorical" : label)
              .first};
}

Value SamplingSchedule::SampleComputeLocation(Block block, absl::string_view label, Where where) {
  return {
      Do("sample-compute-location", {OperandOf(block)}, {}, where, label.empty() ? "location" : label).first};
}

Value SamplingSchedule::Multiply(const std::vector<Factor>& numbers, Where where) {
  return {Do("multiply", OperandsOf(numbers), {}, where).first};
}
Value SamplingSchedule::Add(const std::vector<Factor>& numbers, Where where) {
  return {Do("add", OperandsOf(numbers), {}, where).first};
}
Value SamplingSchedule::Divide(Factor number, Factor by, Where where) {
  return {Do("divide", {number.operand, by.operand}, {}, where).first};
}
Value SamplingSchedule::Subtract(Factor number, Factor less, Where where) {
  return {Do("subtract", {number.operand, less.operand}, {}, where).first};
}
Value SamplingSchedule::Minimum(const std::vector<Factor>& numbers, Where where) {
  return {Do("minimum", OperandsOf(numbers), {}, where).first};
}
Value SamplingSchedule::Part(Value tile, int index, Where where) {
  return {Do("part", {OperandOf(tile)}, {int64_t{index}}, where).first};
}

}  // namespace kiln
