#include "lang/nested.h"

namespace kiln {

absl::Status RunNested(Call& call, const char* name, const std::vector<Id>& loops,
                       const std::vector<int64_t>& numbers, const std::vector<Attribute>& attributes,
                       std::vector<Id>* results) {
  State state;
  std::swap(state.program, call.program());
  Step step;
  step.primitive = FindPrimitive(name);
  for (const Id loop : loops) {
    step.operands.push_back({Operand::Kind::kLoop, static_cast<int64_t>(state.loops.size())});
    state.loops.push_back(loop);
  }
  for (const int64_t number : numbers) step.operands.push_back({Operand::Kind::kInt, number});
  step.attributes.assign(attributes.begin(), attributes.end());
  for (size_t i = attributes.size(); i < step.primitive->attributes.size(); ++i)
    step.attributes.push_back(step.primitive->attributes[i].fallback);
  const size_t known = state.loops.size();
  Call nested(state, call.target(), step, 0, nullptr);
  const absl::Status status = step.primitive->apply(nested);
  if (results != nullptr)
    results->assign(state.loops.begin() + static_cast<int64_t>(known), state.loops.end());
  std::swap(state.program, call.program());
  return status;
}

}  // namespace kiln
