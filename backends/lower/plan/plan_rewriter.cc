#include "backends/lower/plan/plan_rewriter.h"

#include <algorithm>
#include <utility>

#include "lang/analysis/dataflow.h"
#include "lang/base/defect.h"

namespace kiln::plan {

Nodes Rewriter::Rewrite(const Nodes& nodes) {
  Nodes out;
  for (const Node& node : nodes) Visit(node, out);
  return out;
}

void Rewriter::AppendCopies(const Loop& loop, absl::FunctionRef<Nodes()> body, Nodes& out) {
  Loop* last = nullptr;  // the node of the preceding copy, which an equal copy extends
  context_.ForEachCopy(loop, [&](int64_t first, int64_t count) {
    Nodes made = body();
    if (made.empty()) {
      last = nullptr;
      return;
    }
    if (last != nullptr && (out.back().arms[0] == made || KILN_DEFECT("plan.rewriter.copies"))) {
      last->count += count;
      return;
    }
    Loop part = loop;
    part.first = first;
    part.count = count;
    out.push_back({part, {}});
    out.back().arms.push_back(std::move(made));
    last = &std::get<Loop>(out.back().what);
  });
}

void Rewriter::Visit(const Node& node, Nodes& out) {
  if (const Loop* loop = node.As<Loop>())
    return AppendCopies(*loop, [&] { return Rewrite(node.arms[0]); }, out);
  Node made{node.what, std::vector<Nodes>(node.arms.size())};
  const auto rewrite = [&](size_t arm) { made.arms[arm] = Rewrite(node.arms[arm]); };
  if (const Branch* branch = node.As<Branch>()) {
    context_.With(branch->tests, true, [&] { rewrite(0); });
    if (node.arms.size() > 1) {
      branch->decided ? context_.With(branch->tests, false, [&] { rewrite(1); }) : rewrite(1);
      if (made.arms[1].empty()) made.arms.pop_back();
    }
  } else if (const Switch* by = node.As<Switch>()) {
    context_.With({by->condition}, true, [&] { rewrite(0); });
    for (size_t i = 0; i < by->values.size(); ++i)
      context_.WithBoundary(by->condition, by->values[i], [&] { rewrite(i + 1); });
  } else {
    for (size_t arm = 0; arm < node.arms.size(); ++arm) rewrite(arm);
  }
  const bool is_empty = !node.arms.empty() && std::all_of(made.arms.begin(), made.arms.end(),
                                                          [](const Nodes& arm) { return arm.empty(); });
  if (!is_empty) out.push_back(std::move(made));
}

std::vector<Id> BlocksIn(const Program& program, const Node& node) {
  if (const Leaf* leaf = node.As<Leaf>()) return {leaf->block};
  if (const Call* call = node.As<Call>()) return BlocksBelow(program, call->outer);
  std::vector<Id> blocks;
  for (const Nodes& arm : node.arms)
    for (const Node& inside : arm)
      for (const Id block : BlocksIn(program, inside)) blocks.push_back(block);
  return blocks;
}

}  // namespace kiln::plan
