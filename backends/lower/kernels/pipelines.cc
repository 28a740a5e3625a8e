#include "backends/lower/kernels/pipelines.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "backends/lower/plan/plan_rewriter.h"
#include "lang/analysis/dataflow.h"

namespace kiln::plan {
namespace {

// A child of a pipelined loop, and the barriers (Sync nodes) before it.
struct Child {
  Nodes syncs = {};
  Node node;
};

std::vector<Child> ChildrenOf(Nodes nodes) {
  std::vector<Child> children;
  Nodes syncs;
  for (Node& node : nodes) {
    if (node.As<Sync>() != nullptr) {
      syncs.push_back(std::move(node));
    } else {
      children.push_back({std::exchange(syncs, {}), std::move(node)});
    }
  }
  return children;
}

bool Writes(const Program& program, const Node& node, Id buffer) {
  return absl::c_any_of(BlocksIn(program, node),
                        [&](Id block) { return kiln::Writes(program, block, buffer); });
}

// Makes all stores to the buffer asynchronous in a node and the nodes below it.
void MakeAsynchronous(const Program& program, Id buffer, Node& node) {
  if (Leaf* leaf = std::get_if<Leaf>(&node.what);
      leaf != nullptr && kiln::Writes(program, leaf->block, buffer))
    leaf->stores = {{.mode = Store::Mode::kAsync}};
  for (Nodes& arm : node.arms)
    for (Node& child : arm) MakeAsynchronous(program, buffer, child);
}

class Writer {
 public:
  Writer(const Program& program, const SyncPlan& points, Node& node)
      : loop_(*node.As<Loop>()),
        children_(ChildrenOf(std::move(node.arms[0]))),
        stages_(program.Stages(program.loop(loop_.loop))),
        order_(children_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](int a, int b) { return stages_[a].order < stages_[b].order; });
    for (const PipelineStage& stage : stages_) last_ = std::max<int64_t>(last_, stage.stage);
    for (const RingPlan& ring : points.rings) {
      if (ring.loop != loop_.loop || ring.transport != Transport::kAsync) continue;
      for (size_t c = 0; c < children_.size(); ++c) {
        if (!Writes(program, children_[c].node, ring.buffer)) continue;
        MakeAsynchronous(program, ring.buffer, children_[c].node);
        last_copy_ = std::max(last_copy_, stages_[c].order);
      }
    }
  }

  Nodes Write() {
    Nodes written;
    const int64_t iterations = loop_.count;
    for (int64_t turn = 0; turn < last_; ++turn) {
      EachChild(written, [&](int c) {
        const int64_t iteration = turn - stages_[c].stage;
        if (iteration >= 0 && iteration < iterations) Append(iteration, false, c, written);
      });
    }
    Loop others = loop_;
    if (iterations == 1) others.run = Run::kUnrolled;
    Nodes body;
    EachChild(body, [&](int c) {
      const int64_t later = last_ - stages_[c].stage;
      if (later == 0) {
        body.push_back(children_[c].node);
      } else if (later < iterations) {
        Append(later, true, c, body);
      }
    });
    written.push_back({others, {std::move(body)}});
    return written;
  }

 private:
  // Calls append for each child of a pipelined loop, in the order in which children run in a turn. Adds to `out` the
  // syncs before each child, and a Commit after the last child that copies asynchronously, also if `append` adds
  // nothing.
  template <typename Append>
  void EachChild(Nodes& out, const Append& append) {
    for (const int c : order_) {
      out.insert(out.end(), children_[c].syncs.begin(), children_[c].syncs.end());
      append(c);
      if (stages_[c].order == last_copy_) out.push_back({Commit(), {}});
    }
  }
  // Appends a child to `out` as code of one iteration of the pipelined loop: to the last node, if that is a copy of
  // this iteration, or else to a new copy. `ahead`: `iteration` counts from the current iteration of the loop around.
  void Append(int64_t iteration, bool ahead, int child, Nodes& out) {
    const Loop copy{.loop = loop_.loop, .run = Run::kUnrolled, .first = iteration, .ahead = ahead};
    const Loop* last = out.empty() ? nullptr : out.back().As<Loop>();
    if (last == nullptr || !(*last == copy)) out.push_back({copy, {{}}});
    out.back().arms[0].push_back(children_[child].node);
  }

  const Loop loop_;
  std::vector<Child> children_;
  const absl::Span<const PipelineStage> stages_;
  std::vector<int> order_;  // the children as they run in a turn
  int64_t last_ = 0;        // stage
  int32_t last_copy_ = -1;  // the position of the last child that copies asynchronously
};

}  // namespace

void WriteOutPipelines(const Program& program, const SyncPlan& points, Nodes& nodes) {
  Nodes written;
  for (Node& node : nodes) {
    const Loop* loop = node.As<Loop>();
    const bool is_pipeline = loop != nullptr && (loop->run == Run::kSerial || loop->run == Run::kOne) &&
                             program.loop(loop->loop).kind == LoopKind::kPipelined;
    if (is_pipeline) {
      Nodes turns = Writer(program, points, node).Write();
      std::move(turns.begin(), turns.end(), std::back_inserter(written));
    } else {
      written.push_back(std::move(node));
    }
  }
  for (Node& node : written)
    for (Nodes& arm : node.arms) WriteOutPipelines(program, points, arm);
  nodes = std::move(written);
}

}  // namespace kiln::plan
