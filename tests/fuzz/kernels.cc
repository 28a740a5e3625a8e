#include "tests/fuzz/kernels.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/threads/synchronization.h"
#include "tests/support/random_steps.h"
#include "tests/support/tiny_intrinsics.h"

namespace kiln::fuzz {
namespace {

constexpr uint64_t kAttempts = 6;
constexpr int64_t kStepsBefore = 3, kStepsAfter = 8, kLateSteps = 4;  // the most random steps
constexpr double kTiles = 0.8;                                        // share of the traces that tile

constexpr LeastShare kShares[] = {
    {"with axes", 0.95},
    {"with threads that a plan orders", 0.95},
    {"with shared memory", 0.5},
    {"with pipelines", 0.15},
    {"with asynchronous copies", 0.07},
    {"with several kernels", 0.5},
    {"with reductions over threads", 0.03},
    {"with calls", 0.002},
    {"proven", 0.95},
};

std::vector<const Primitive*> MakersOfKernels() {
  std::vector<const Primitive*> makers;
  for (const char* name : {"bind", "bind", "set-scope", "cache-read", "compute-at", "cooperative-fetch",
                           "pipeline", "call", "rfactor", "accumulate-at", "swizzle-lines", "bind-rest"})
    makers.push_back(FindPrimitive(name));
  return makers;
}

Operand Number(int64_t number) { return {Operand::Kind::kInt, number}; }

// Runs single steps of a session, given the name of a primitive, operands and attributes.
class Stepper {
 public:
  Stepper(Session& session, Dice& dice) : session_(session), dice_(dice) {}

 protected:
  using Operands = std::vector<Operand>;
  using Attributes = std::vector<std::pair<absl::string_view, Attribute>>;

  // Tries a step, where attributes that are not named have their defaults. Returns true if it applies, and stores the
  // handles of its results in results_. Otherwise clears results_.
  bool Do(const char* name, const Operands& operands, const Attributes& named = {}) {
    results_.clear();
    if (session_.broken()) return false;
    Step step;
    step.primitive = FindPrimitive(name);
    step.operands.assign(operands.begin(), operands.end());
    for (const AttributeDecl& decl : step.primitive->attributes) {
      const auto given = absl::c_find_if(named, [&](const auto& n) { return n.first == decl.name; });
      step.attributes.push_back(given == named.end() ? decl.fallback : given->second);
    }
    if (!session_.Try(step, dice_)) return false;
    const Step& done = session_.trace().steps.back();
    const bool blocks = done.primitive->result == HandleKind::kBlock;
    for (int r = 0; r < done.num_results; ++r)
      results_.push_back({blocks ? Operand::Kind::kBlock : Operand::Kind::kLoop, done.first_result + r});
    return true;
  }

  const Program& program() const { return session_.state().program; }
  Id NodeOf(Operand handle) const {
    const State& state = session_.state();
    return (handle.kind == Operand::Kind::kBlock ? state.blocks : state.loops)[handle.number];
  }
  Operand HandleOf(Id node) {
    session_.LookUp(dice_);
    const bool block = program().IsBlock(node);
    const std::vector<Id>& table = block ? session_.state().blocks : session_.state().loops;
    return {block ? Operand::Kind::kBlock : Operand::Kind::kLoop, absl::c_find(table, node) - table.begin()};
  }
  int64_t OneOf(std::initializer_list<int64_t> numbers) {
    return *(numbers.begin() + dice_.Below(std::ssize(numbers)));
  }

  Session& session_;
  Dice& dice_;
  Operands results_;
};

// Tiles a random block for a GPU. Splits up to two parallel loops into loops of blocks, threads and elements, and binds
// those of blocks and threads to axes. Splits a reduction loop into steps. Copies operands to shared memory with all
// threads and in a pipeline, sums in registers, computes producers in shared memory, and calls intrinsics. Draws which
// of these to do, and leaves out steps that do not apply.
class Tiler : public Stepper {
 public:
  using Stepper::Stepper;

  void Run() {
    session_.LookUp(dice_);
    const std::vector<Id> blocks = Blocks(program());
    Id block = blocks[dice_.Below(std::ssize(blocks))];
    if (program().block(block).monoid == kNone)
      block = blocks[dice_.Below(std::ssize(blocks))];  // prefers sums
    block_ = HandleOf(block);
    SplitLoops();
    Operands order = blocks_;
    for (const Operands* level : {&steps_, &threads_, &inner_, &elements_})
      order.insert(order.end(), level->begin(), level->end());
    if (blocks_.empty() || !Do("reorder", order)) return;
    constexpr const char* kBlockAxes[] = {"block-x", "block-y"};
    for (size_t i = 0; i < blocks_.size(); ++i)
      Do("bind", {blocks_[i]}, {{"to", std::string(kBlockAxes[i])}});
    if (!steps_.empty() && threads_.size() == blocks_.size() && dice_.Flip(0.5)) Accumulate();
    BindThreads(threads_);
    CopyOperands();
    MoveProducers();
    if (dice_.Flip(0.5)) Call(block_);
  }

 private:
  void SplitLoops() {
    for (const Id node : LoopsAround(program(), NodeOf(block_))) {
      const bool serial = program().loop(node).kind == LoopKind::kSerial;
      const bool spatial = serial && CheckDataParallel(program(), node).ok();
      const Operand loop = HandleOf(node);
      if (spatial && blocks_.size() < 2 &&
          Do("split", {loop, Number(-1), Number(OneOf({2, 3, 4, 8})), Number(OneOf({1, 1, 2, 3}))})) {
        blocks_.push_back(results_[0]);
        threads_.push_back(results_[1]);
        elements_.push_back(results_[2]);
      } else if (serial && !spatial && steps_.empty() &&
                 Do("split", {loop, Number(-1), Number(OneOf({1, 2, 3, 4}))})) {
        steps_.push_back(results_[0]);
        (dice_.Flip(0.2) ? threads_ : inner_).push_back(results_[1]);
      } else {
        inner_.push_back(loop);
      }
    }
  }

  // Binds loops to the axes of threads: the last loop to thread-x, the one before to thread-y, and so on.
  void BindThreads(const Operands& threads) {
    constexpr const char* kThreadAxes[] = {"thread-x", "thread-y", "thread-z"};
    for (size_t i = 0; i < threads.size(); ++i)
      Do("bind", {threads[i]}, {{"to", std::string(kThreadAxes[threads.size() - 1 - i])}});
  }

  // Lets the tiled block sum in an accumulator (accumulate-at), and distributes the block that combines it with the
  // destination over as many threads as the sum.
  void Accumulate() {
    std::vector<Operand> counts;
    for (const Operand thread : threads_)
      counts.push_back(Number(program().loop(NodeOf(thread)).extent.Known()));
    if (!Do("accumulate-at", {block_, blocks_.back()})) return;
    const Operand combine = results_[0];
    const std::vector<Id> around = LoopsAround(program(), NodeOf(combine));
    if (around.size() != blocks_.size() + counts.size()) return;
    Operands threads, elements;
    for (size_t i = 0; i < counts.size(); ++i) {
      if (!Do("split", {HandleOf(around[blocks_.size() + i]), counts[i], Number(-1)})) return;
      threads.push_back(results_[0]);
      elements.push_back(results_[1]);
    }
    Operands order = threads;
    order.insert(order.end(), elements.begin(), elements.end());
    Do("reorder", order);
    BindThreads(threads);
  }

  void CopyOperands() {
    const Operand at = steps_.empty() ? blocks_.back() : steps_[0];
    const auto operands = static_cast<int64_t>(ReadBuffers(program(), NodeOf(block_)).size());
    Operands copies;
    for (int64_t operand = 0; operand < operands; ++operand) {
      if (!dice_.Flip(0.8) ||
          !Do("cache-read", {block_}, {{"operand", operand}, {"storage", std::string("shared")}}))
        continue;
      const Operand copy = results_[0];
      if (Do("compute-at", {copy, at})) {
        copies.push_back(copy);
      } else {
        Do("set-scope", {copy}, {{"storage", std::string("global")}});  // another kernel writes it
      }
    }
    for (const Operand copy : copies) {
      if (dice_.Flip(0.2)) Do("swizzle-lines", {copy});
      if (dice_.Flip(0.1)) {
        Call(copy);
      } else {
        Do("cooperative-fetch", {copy, Number(OneOf({1, 2, 4}))});
      }
    }
    if (copies.empty() || steps_.empty() || !dice_.Flip(0.9)) return;
    constexpr const char* kTransports[] = {"sync", "async", "async", "bulk"};
    Do("pipeline", {steps_[0], Number(OneOf({1, 2, 3, 4}))},
       {{"transport", std::string(kTransports[dice_.Below(4)])}});
  }

  // Moves a random producer of the tiled block into the loops of thread blocks, in shared memory: each thread block
  // computes what it needs. Goes on with a producer of that producer, and so on, as often as the dice say.
  void MoveProducers() {
    for (Operand block = block_; dice_.Flip(0.7);) {
      const std::vector<Id> producers = Producers(program(), NodeOf(block));
      if (producers.empty()) return;
      block = HandleOf(producers[dice_.Below(std::ssize(producers))]);
      if (!Do("compute-at", {block, blocks_.back()})) return;
      Do("set-scope", {block}, {{"storage", std::string("shared")}});
      ShareAmongThreads(block);
    }
  }

  // Distributes a block over all threads of its nest (cooperative-fetch). If this does not apply, binds its outermost
  // loop that can be bound to thread-x.
  void ShareAmongThreads(Operand block) {
    if (Do("cooperative-fetch", {block, Number(1)})) return;
    const std::vector<Id> loops = LoopsAround(program(), NodeOf(block));
    for (size_t l = blocks_.size(); l < loops.size(); ++l)
      if (Do("bind", {HandleOf(loops[l])}, {{"to", std::string("thread-x")}})) return;
  }

  // Replaces the innermost loops of a block by a call of the first tiny intrinsic that fits. Leaves the block as it is
  // if none fits.
  void Call(Operand block) {
    const BlockNode& node = program().block(NodeOf(block));
    if (node.dests.count == 0) return;  // a call already
    const Buffer& dest = program().buffers[program().Accesses(node.dests)[0].buffer];
    const std::string type = absl::StrCat(".", ToString(dest.dtype), "x");
    const bool sums = node.monoid != kNone;
    for (const std::string& name : TinyIntrinsics()) {
      const bool may_fit = absl::StrContains(name, type) && absl::StrContains(name, ".copy.") != sums;
      if (may_fit && Do("call", {block}, {{"intrinsic", name}})) return;
    }
  }

  Operand block_;
  Operands blocks_, steps_, threads_, inner_, elements_;  // loops by level, outermost first
};

void TakeRandomSteps(Session& session, int64_t most, Dice& dice, absl::Span<const Primitive* const> favored) {
  for (int64_t left = dice.Below(most + 1); left > 0 && !session.broken(); --left) {
    session.LookUp(dice);
    session.Try(RandomStep(session.state(), session.trace().steps, true, dice, favored), dice);
  }
}

// Binds the nests that are on no axis yet (bind-rest), with random numbers of blocks and threads.
class Binder : public Stepper {
 public:
  using Stepper::Stepper;
  void Run() { Do("bind-rest", {Number(1 + dice_.Below(4)), Number(int64_t{1} << dice_.Below(7))}); }
};

// Returns the synchronization plan of the threads of all kernels. Returns nullopt if no loop is on an axis, if
// CheckOwners refuses the program, or if no plan can order its threads.
std::optional<SyncPlan> PlanOf(const Program& now) {
  if (!HasAxes(now) || !CheckOwners(now).ok()) return std::nullopt;
  absl::StatusOr<SyncPlan> plan = PlanSynchronization(now);
  return plan.ok() ? std::optional(*std::move(plan)) : std::nullopt;
}

}  // namespace

Session DrawKernels(const Program& program, uint64_t seed, int trace, Coverage* coverage,
                    absl::Span<const Primitive* const> favored) {
  static const std::vector<const Primitive*> makers = MakersOfKernels();
  if (favored.empty()) favored = makers;
  for (uint64_t attempt = 1;; ++attempt) {
    RandomDice dice(Engine({seed, 8, static_cast<uint64_t>(trace), attempt}));
    Session session(program, coverage);
    TakeRandomSteps(session, kStepsBefore, dice, favored);
    for (int64_t tiles = dice.Flip(kTiles) ? 1 + dice.Below(2) : 0; tiles > 0 && !session.broken(); --tiles)
      Tiler(session, dice).Run();
    TakeRandomSteps(session, kStepsAfter, dice, favored);
    Binder(session, dice).Run();
    TakeRandomSteps(session, kLateSteps, dice, favored);
    if (session.broken() || attempt == kAttempts || PlanOf(session.state().program).has_value())
      return session;
  }
}

void CountKernels(const Program& now, Coverage* coverage) {
  bool pipelines = false, asynchronous = false, bulk = false, combines = false, shared = false,
       registers = false;
  for (const Id loop : LoopsBelow(now, kRoot)) {
    pipelines |= now.loop(loop).kind == LoopKind::kPipelined;
    for (const Ring& ring : now.Rings(now.loop(loop))) {
      asynchronous |= ring.transport == Transport::kAsync;
      bulk |= ring.transport == Transport::kBulk;
    }
  }
  bool calls = false;
  int64_t kernels = 0;
  for (const Id block : Blocks(now)) {
    for (const Id buffer : WrittenBuffers(now, block)) {
      shared |= now.buffers[buffer].scope.storage == Storage::kShared;
      registers |= now.buffers[buffer].scope.storage == Storage::kRegister;
    }
    for (Id at = now.nodes[block].parent; at != kRoot; at = now.nodes[at].parent) {
      calls |= now.IsBlock(at) && now.block(at).intrinsic != kNone;
      combines |= now.IsLoop(at) && IsThreadAxis(now.loop(at).kind) && OnAxis(now, at) &&
                  now.block(block).monoid != kNone && AxisUse(now, block, at).reduction;
    }
  }
  for (Id nest = now.nodes[kRoot].first; nest != kNone; nest = now.nodes[nest].next)
    kernels += IsKernel(now, nest) ? 1 : 0;
  auto& cases = coverage->cases;
  const std::optional<SyncPlan> plan = PlanOf(now);
  cases["with threads that a plan orders"] += plan.has_value();
  cases["with buffers in one place"] += plan.has_value() && !plan->places.empty();
  cases["with pipelines"] += pipelines;
  cases["with asynchronous copies"] += asynchronous;
  cases["with copies in bulk"] += bulk;
  cases["with calls"] += calls;
  cases["with reductions over threads"] += combines;
  cases["with shared memory"] += shared;
  cases["with registers"] += registers;
  cases["with several kernels"] += kernels > 1;
}

absl::Span<const LeastShare> KernelShares() { return kShares; }

}  // namespace kiln::fuzz
