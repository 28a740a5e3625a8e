#include "backends/lower/kernels/pipelines.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace kiln::plan {
namespace {

// One iteration of a loop, or one that is `first` after that of the loop around.
Node Copy(Id loop, int64_t first, Nodes body) {
  return {Loop{.loop = loop, .run = Run::kUnrolled, .first = first, .count = 1}, {std::move(body)}};
}

class Writer {
 public:
  Writer(const Program& program, const Node& node)
      : loop_(*node.As<Loop>()),
        children_(node.arms[0]),
        stages_(program.Stages(program.loop(loop_.loop))),
        order_(children_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](int a, int b) { return stages_[a].order < stages_[b].order; });
    for (const PipelineStage& stage : stages_) last_ = std::max<int64_t>(last_, stage.stage);
  }

  Nodes Write() {
    Nodes written;
    const int64_t iterations = loop_.count, whole = std::max<int64_t>(0, iterations - last_);
    for (int64_t turn = 0; turn < last_; ++turn) WriteTurn(turn, iterations, written);
    if (whole > 0) {
      Nodes body;
      for (const int c : order_) {
        const int64_t later = last_ - stages_[c].stage;
        later == 0 ? body.push_back(children_[c]) : Append(later, c, body);
      }
      Loop steady = loop_;
      steady.run = whole == 1 ? Run::kUnrolled : Run::kSerial;
      steady.count = whole;
      written.push_back({steady, {std::move(body)}});
    }
    for (int64_t turn = std::max(last_, iterations); turn < iterations + last_; ++turn)
      WriteTurn(turn, iterations, written);
    return written;
  }

 private:
  // The children that run in a turn at the beginning or the end.
  void WriteTurn(int64_t turn, int64_t iterations, Nodes& out) {
    for (const int c : order_) {
      const int64_t iteration = turn - stages_[c].stage;
      if (iteration >= 0 && iteration < iterations) Append(iteration, c, out);
    }
  }
  // Adds a child to the copy of its iteration, if that was the last, or to a new one.
  void Append(int64_t iteration, int child, Nodes& out) {
    const Loop* last = out.empty() ? nullptr : out.back().As<Loop>();
    if (last == nullptr || last->loop != loop_.loop || last->run != Run::kUnrolled ||
        last->first != iteration || last->count != 1)
      out.push_back(Copy(loop_.loop, iteration, {}));
    out.back().arms[0].push_back(children_[child]);
  }

  const Loop loop_;
  const Nodes& children_;
  const absl::Span<const PipelineStage> stages_;
  std::vector<int> order_;  // the children as they run in a turn
  int64_t last_ = 0;        // stage
};

}  // namespace

absl::Status WriteOutPipelines(const Program& program, Nodes& nodes) {
  Nodes written;
  for (Node& node : nodes) {
    for (Nodes& arm : node.arms)
      if (absl::Status status = WriteOutPipelines(program, arm); !status.ok()) return status;
    const Loop* loop = node.As<Loop>();
    const bool is_pipeline = loop != nullptr && loop->run == Run::kSerial && loop->steps == 1 &&
                             loop->first == 0 && program.loop(loop->loop).kind == LoopKind::kPipelined;
    if (!is_pipeline) {
      written.push_back(std::move(node));
      continue;
    }
    if (program.Stages(program.loop(loop->loop)).size() != node.arms[0].size())
      return absl::FailedPreconditionError(absl::StrCat("loop ", program.Text(program.loop(loop->loop).name),
                                                        " is pipelined, and a reduction begins inside it"));
    Nodes copies = Writer(program, node).Write();
    std::move(copies.begin(), copies.end(), std::back_inserter(written));
  }
  nodes = std::move(written);
  return absl::OkStatus();
}

}  // namespace kiln::plan
