#include "lang/schedule/nested.h"

namespace kiln {
namespace {

absl::Status Run(Call& call, const char* name, const std::vector<Id>& blocks, const std::vector<Id>& loops,
                 const std::vector<int64_t>& numbers, const std::vector<Attribute>& attributes,
                 std::vector<Id>* results) {
  State state;
  std::swap(state.program, call.program());
  state.blocks = blocks;
  state.loops = loops;
  Step step;
  step.primitive = FindPrimitive(name);
  for (int64_t i = 0; i < static_cast<int64_t>(blocks.size()); ++i)
    step.operands.push_back({Operand::Kind::kBlock, i});
  for (int64_t i = 0; i < static_cast<int64_t>(loops.size()); ++i)
    step.operands.push_back({Operand::Kind::kLoop, i});
  for (const int64_t number : numbers) step.operands.push_back({Operand::Kind::kInt, number});
  step.attributes.assign(attributes.begin(), attributes.end());
  for (size_t i = attributes.size(); i < step.primitive->attributes.size(); ++i)
    step.attributes.push_back(step.primitive->attributes[i].fallback);
  Call nested(state, call.target(), step, 0, nullptr);
  const absl::Status status = step.primitive->apply(nested);
  const bool of_block = step.primitive->result == HandleKind::kBlock;
  const std::vector<Id>& made = of_block ? state.blocks : state.loops;
  const auto known = static_cast<int64_t>((of_block ? blocks : loops).size());
  if (results != nullptr) results->assign(made.begin() + known, made.end());
  std::swap(state.program, call.program());
  return status;
}

}  // namespace

absl::Status RunNested(Call& call, const char* name, const std::vector<Id>& loops,
                       const std::vector<int64_t>& numbers, const std::vector<Attribute>& attributes,
                       std::vector<Id>* results) {
  return Run(call, name, {}, loops, numbers, attributes, results);
}

absl::Status RunNestedOnBlock(Call& call, const char* name, Id block, const std::vector<Id>& loops,
                              const std::vector<Attribute>& attributes, std::vector<Id>* results) {
  return Run(call, name, {block}, loops, {}, attributes, results);
}

}  // namespace kiln
