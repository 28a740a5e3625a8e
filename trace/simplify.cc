#include "trace/simplify.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "lang/base/defect.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

using Handle = std::pair<int, int64_t>;  // (HandleKind, number)

std::vector<Handle> Results(const Step& step) {
  std::vector<Handle> results;
  for (int i = 0; i < step.num_results; ++i)
    results.emplace_back(static_cast<int>(step.primitive->result), step.first_result + i);
  return results;
}

}  // namespace

Trace Simplify(const Trace& trace) {
  absl::flat_hash_set<Handle> used;
  std::vector<bool> live(trace.steps.size());
  for (size_t i = trace.steps.size(); i-- > 0;) {
    const Step& step = trace.steps[i];
    const std::vector<Handle> results = Results(step);
    live[i] = !step.primitive->reads_only ||
              std::any_of(results.begin(), results.end(), [&](const Handle& h) { return used.contains(h); });
    if (!live[i]) continue;
    if (KILN_DEFECT("simplify.unused") && step.operands.size() > 1) continue;
    for (const Operand operand : step.operands) used.emplace(static_cast<int>(operand.kind), operand.number);
  }

  Trace simple;
  simple.choices = trace.choices;
  std::vector<int64_t> renamed[3];  // new number by HandleKind and old number
  int next[3] = {0, 0, 0};
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    const Step& old = trace.steps[i];
    const int kind = static_cast<int>(old.primitive->result);
    for (int r = 0; r < old.num_results; ++r) renamed[kind].push_back(next[kind] + r);
    if (!live[i]) continue;
    Step step = old;
    for (Operand& operand : step.operands) {
      if (operand.kind != Operand::Kind::kInt)
        operand.number = renamed[static_cast<int>(operand.kind)][operand.number];
    }
    step.first_result = next[kind];
    next[kind] += step.num_results;
    simple.steps.push_back(std::move(step));
  }
  return simple;
}

}  // namespace kiln
