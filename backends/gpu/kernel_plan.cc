#include "backends/gpu/kernel_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kWarp = 32;
constexpr int64_t kMaxBlocks = (int64_t{1} << 31) - 1;

int64_t ElementsOfArgument(const Program& p, const IndexPlan& plan, Id id) {
  const BufferPlan& buffer = plan.buffers[id];
  return buffer.used() ? buffer.elements : LayoutElements(p, id);
}

// Fills in a Kernel from its nodes in the loop plan: sizes of axes, buffers and shared memory. Refuses what lowering to
// GPUs does not have.
class Reader {
 public:
  Reader(const Program& program, const IndexPlan& plan, Kernel& kernel)
      : p_(program), plan_(plan), kernel_(kernel) {}

  absl::Status Read(const plan::Node& node) {
    Sizes(node);
    ReadNode(node);
    kernel_.reads.assign(reads_.begin(), reads_.end());
    kernel_.writes.assign(writes_.begin(), writes_.end());
    std::set<Id> uses = reads_;
    uses.insert(writes_.begin(), writes_.end());
    for (const Id id : uses) {
      const BufferPlan& buffer = plan_.buffers[id];
      const int64_t bytes = buffer.elements * SizeOf(p_.buffers[id].dtype);
      if (buffer.place == Memory::kShared)
        kernel_.shared_bytes = std::max(kernel_.shared_bytes, buffer.offset + bytes);
      if (buffer.place == Memory::kParameter || buffer.place == Memory::kWorkspace)
        kernel_.arguments.push_back(id);
      if (buffer.place == Memory::kHeap) Refuse("memory of the heap");
      if (p_.buffers[id].role == Role::kStatus) Refuse("a status");
      const Storage storage = p_.buffers[id].scope.storage;
      if (storage == Storage::kWarp || storage == Storage::kWarpgroup) Refuse("fragments");
    }
    if (kernel_.threads() > kMaxThreads)
      return absl::FailedPreconditionError(
          absl::StrCat("a block of ", kernel_.threads(), " threads; a GPU runs ", kMaxThreads, " at most"));
    if (kernel_.blocks() > kMaxBlocks)
      return absl::FailedPreconditionError("a grid of more than 2^31 - 1 blocks");
    return status_;
  }

 private:
  void Refuse(absl::string_view what) {
    if (status_.ok())
      status_ = absl::FailedPreconditionError(absl::StrCat("kernel ", kernel_.name, " uses ", what,
                                                           ", which lowering to GPUs does not have yet"));
  }

  void Sizes(const plan::Node& node) {
    const plan::Loop* loop = node.As<plan::Loop>();
    if (loop != nullptr && loop->run == plan::Run::kAxis) {
      int64_t& size = kernel_.sizes[AxisOf(loop->axis)];
      size = std::max(size, loop->first + loop->count);
    }
    for (const plan::Nodes& arm : node.arms)
      for (const plan::Node& child : arm) Sizes(child);
  }

  void ReadNode(const plan::Node& node) {
    if (const auto* leaf = node.As<plan::Leaf>()) {
      for (const Id buffer : ReadBuffers(p_, leaf->block)) reads_.insert(buffer);
      for (const Id buffer : WrittenBuffers(p_, leaf->block)) {
        writes_.insert(buffer);
        if (p_.block(leaf->block).monoid != kNone) reads_.insert(buffer);
      }
      if (leaf->across) ReadAcross(*leaf);
    }
    if (const auto* loop = node.As<plan::Loop>()) {
      if (loop->run == plan::Run::kThreads) Refuse("a parallel loop");
      if (loop->role >= 0) Refuse("roles");
    }
    if (node.As<plan::Call>() != nullptr) Refuse("calls of intrinsics");
    if (node.As<plan::Prefetch>() || node.As<plan::Flush>() || node.As<plan::Fence>())
      Refuse("steps of a CPU's plan");
    const int64_t outside = of_vectors_;
    if (const auto* loop = node.As<plan::Loop>(); loop != nullptr && loop->run == plan::Run::kLanes)
      of_vectors_ = loop->lanes;
    for (const plan::Nodes& arm : node.arms)
      for (const plan::Node& child : arm) ReadNode(child);
    of_vectors_ = outside;
  }

  void ReadAcross(const plan::Leaf& leaf) {
    const std::vector<size_t> axes = AxesAcross(p_, plan_, leaf);
    const int64_t lanes = LanesAcross(kernel_, axes);
    int64_t threads = 1;
    for (const size_t axis : axes) threads *= kernel_.sizes[axis];
    if (lanes == threads) return;
    constexpr int64_t kSlot = 8;
    const int64_t results = p_.block(leaf.block).dests.count;
    kernel_.exchange_bytes =
        std::max(kernel_.exchange_bytes, kernel_.threads() / lanes * results * of_vectors_ * kSlot);
  }

  const Program& p_;
  const IndexPlan& plan_;
  Kernel& kernel_;
  std::set<Id> reads_, writes_;
  int64_t of_vectors_ = 1;  // lanes
  absl::Status status_;
};

// Checks that only one kernel uses a buffer that is not in global memory, because its contents end with the kernel.
absl::Status CheckMemory(const Program& p, const std::vector<Kernel>& kernels) {
  std::map<Id, const Kernel*> users;
  for (const Kernel& kernel : kernels) {
    for (const std::vector<Id>* buffers : {&kernel.reads, &kernel.writes}) {
      for (const Id id : *buffers) {
        if (p.buffers[id].scope.owner == Owner::kGrid) continue;
        const Kernel* first = users.try_emplace(id, &kernel).first->second;
        if (first != &kernel)
          return absl::FailedPreconditionError(absl::StrCat("kernel ", kernel.name, " uses buffer ",
                                                            p.Text(p.buffers[id].name),
                                                            ", which ends with kernel ", first->name));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool Kernel::Reads(Id buffer) const { return absl::c_linear_search(reads, buffer); }
bool Kernel::Writes(Id buffer) const { return absl::c_linear_search(writes, buffer); }

size_t AxisOf(LoopKind axis) {
  constexpr LoopKind kAxes[] = {LoopKind::kThreadX, LoopKind::kThreadY, LoopKind::kThreadZ,
                                LoopKind::kBlockX,  LoopKind::kBlockY,  LoopKind::kBlockZ};
  return std::find(std::begin(kAxes), std::end(kAxes), axis) - std::begin(kAxes);
}

std::vector<size_t> AxesAcross(const Program& program, const IndexPlan& plan, const plan::Leaf& leaf) {
  std::set<size_t> axes;
  for (const Id loop : plan.blocks.at(leaf.block).reduction_loops) {
    const LoopKind kind = program.loop(loop).kind;
    if (IsThreadAxis(kind) && program.loop(loop).extent.Known() > 1) axes.insert(AxisOf(kind));
  }
  return {axes.begin(), axes.end()};
}

int64_t LanesAcross(const Kernel& kernel, const std::vector<size_t>& axes) {
  const int64_t width = kernel.sizes[0];
  if (axes.empty() || axes[0] != 0) return 1;
  if (width % kWarp == 0) return kWarp;
  return width <= kWarp && (width & (width - 1)) == 0 ? width : 1;
}

absl::StatusOr<std::vector<Kernel>> Kernels(const Program& program, const plan::LoopPlan& plan) {
  std::vector<Kernel> kernels;
  for (const plan::Entry& entry : plan.entries) {
    for (size_t n = 0; n < entry.nodes.size(); ++n) {
      Kernel kernel{
          .name = absl::StrCat(entry.name, "_", n), .node = &entry.nodes[n], .prepare = entry.prepare};
      if (absl::Status status = Reader(program, plan.indices, kernel).Read(entry.nodes[n]); !status.ok())
        return status;
      kernels.push_back(std::move(kernel));
    }
  }
  if (absl::Status status = CheckMemory(program, kernels); !status.ok()) return status;
  return kernels;
}

std::vector<Id> ParametersOf(const Program& program, const IndexPlan& plan) {
  std::vector<Id> parameters = program.parameters;
  for (size_t id = 0; id < plan.buffers.size(); ++id)
    if (plan.buffers[id].crosses) parameters.push_back(static_cast<Id>(id));
  return parameters;
}

LaunchList LaunchesOf(const Program& program, const IndexPlan& plan, const std::vector<Kernel>& kernels) {
  LaunchList list;
  std::map<Id, int64_t> numbers;
  const auto bytes_of = [&](Id id) {
    return ElementsOfArgument(program, plan, id) * SizeOf(program.buffers[id].dtype);
  };
  for (const Id id : ParametersOf(program, plan)) {
    numbers[id] = std::ssize(list.parameters);
    list.parameters.push_back(bytes_of(id));
  }
  for (size_t id = 0; id < plan.buffers.size(); ++id) {
    if (plan.buffers[id].used() && plan.buffers[id].place == Memory::kWorkspace)
      list.workspace_bytes =
          std::max(list.workspace_bytes, plan.buffers[id].offset + bytes_of(static_cast<Id>(id)));
  }
  for (const Kernel& kernel : kernels) {
    Launch launch{.kernel = kernel.name,
                  .blocks = kernel.blocks(),
                  .threads = kernel.threads(),
                  .shared_bytes = kernel.exchange_bytes > 0 ? kernel.exchange_offset() + kernel.exchange_bytes
                                                            : kernel.shared_bytes,
                  .prepare = kernel.prepare};
    for (const Id id : kernel.arguments) {
      const bool is_workspace = plan.buffers[id].place == Memory::kWorkspace;
      launch.arguments.push_back({is_workspace, is_workspace ? plan.buffers[id].offset : numbers.at(id),
                                  bytes_of(id), kernel.Reads(id), kernel.Writes(id)});
    }
    list.launches.push_back(std::move(launch));
  }
  return list;
}

}  // namespace kiln
