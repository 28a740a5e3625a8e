#include "testing/threads/thread_clocks.h"

#include <algorithm>
#include <array>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/program/layout.h"
#include "testing/threads/element_numbers.h"
#include "testing/threads/kernel_memory.h"
#include "testing/threads/shared_turn.h"
#include "testing/threads/thread_block.h"

namespace kiln {
namespace {

constexpr size_t kLoopKinds = static_cast<size_t>(LoopKind::kVirtualThread) + 1;

struct Event {
  BlockIndex block = {};
  int64_t agent = 0;
  int32_t clock = 0;
  int64_t run = 0;                // number of the instance; one of its lanes does all of it
  Id node = kNone;                // the block of the program
  std::vector<int64_t> instance;  // its iters, and those of the blocks around
};

struct Cell {
  std::vector<Event> writes;  // stores of the last value; several threads may store the same value
  std::vector<Event> reads;   // loads since the first of these stores
};

class Walk {
 public:
  // If `compact`, iterations of the loops around all uses of a temporary have the same elements of it, as in memory
  // that keeps only what one iteration needs.
  Walk(const Program& program, const SyncPlan& plan, bool compact, int64_t limit)
      : p_(program), plan_(plan), compact_(compact), left_(limit), values_(program.nodes.size()) {
    on_axes_.fill(kNone);
    for (const SharedPlace& place : plan.places) places_[place.buffer] = place.place;
  }

  // Returns true if a compact walk differs: if iterations of some loop have the same elements of a buffer.
  bool Differs() {
    for (Id buffer = 0; buffer < static_cast<Id>(p_.buffers.size()); ++buffer)
      if (!Writers(p_, buffer).empty() &&
          absl::c_any_of(BaseOf(buffer), [](const IndexSum& base) { return !base.splits.empty(); }))
        return true;
    return false;
  }

  absl::Status Run() {
    for (Id nest = p_.nodes[kRoot].first; nest != kNone; nest = p_.nodes[nest].next) {
      blocks_.clear();
      cells_.clear();
      turns_.clear();
      threads_ = ThreadsOf(p_, nest);
      if (threads_.Count() > 2048) return absl::ResourceExhaustedError("a kernel has more than 2048 threads");
      Visit(nest);
      if (!status_.ok()) return status_;
    }
    return absl::OkStatus();
  }

 private:
  // --- The walk: visits loops and blocks in the order in which a GPU runs them, pipelined loops step by step.
  void Visit(Id node) {
    if (!status_.ok()) return;
    if (p_.IsBlock(node)) return VisitBlock(node);
    const LoopNode& loop = p_.loop(node);
    if (loop.kind == LoopKind::kPipelined) return VisitSteps(node);
    Id& on_axis = on_axes_[static_cast<size_t>(loop.kind)];
    const Id around = on_axis;
    if (loop.extent.Known() > 1) on_axis = node;
    for (int64_t i = 0; i < loop.extent.Known() && status_.ok(); ++i) {
      values_[node] = i;
      VisitChildren(node);
    }
    values_[node] = 0;
    on_axis = around;
  }

  void VisitChildren(Id node) {
    for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next) {
      PassPoints(child);
      Visit(child);
    }
  }

  void VisitSteps(Id node) {
    const LoopNode& loop = p_.loop(node);
    const auto stages = p_.Stages(loop);
    std::vector<Id> children;
    for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next)
      children.push_back(child);
    std::vector<size_t> order(children.size());
    int32_t last = 0, last_copy = -1;
    for (size_t c = 0; c < children.size(); ++c) {
      order[stages[c].order] = c;
      last = std::max(last, stages[c].stage);
      if (CopiesAsynchronously(node, children[c])) last_copy = std::max(last_copy, stages[c].order);
    }
    for (int64_t step = 0; step < loop.extent.Known() + last; ++step) {
      for (const size_t c : order) {
        const int64_t i = step - stages[c].stage;
        values_[node] = std::clamp<int64_t>(i, 0, loop.extent.Known() - 1);  // for points within axes alone
        PassPoints(children[c]);
        if (i >= 0 && i < loop.extent.Known()) VisitChild(node, children[c], i);
        if (stages[c].order == last_copy) Commit();
      }
    }
    values_[node] = 0;
  }

  void VisitChild(Id loop, Id child, int64_t i) {
    values_[loop] = i;
    const bool produces = absl::c_any_of(plan_.rings, [&](const RingPlan& ring) {
      return ring.loop == loop && ring.counts_arrivals && WritesBelow(child, ring.buffer);
    });
    for (const RingPlan& ring : plan_.rings) {  // waits until copies are empty or full
      if (ring.loop != loop || !ring.counts_arrivals) continue;
      const std::pair copy(ring.buffer, i % ring.depth);
      if (WritesBelow(child, ring.buffer)) Acquire(&ThreadBlock::empty, copy, true);
      if (ReadsBelow(child, ring.buffer)) Acquire(&ThreadBlock::full, copy, false);
    }
    producing_ += produces;
    Visit(child);
    producing_ -= produces;
    for (const RingPlan& ring : plan_.rings) {
      if (ring.loop != loop || !ring.counts_arrivals) continue;
      const std::pair copy(ring.buffer, i % ring.depth);
      if (WritesBelow(child, ring.buffer)) Release(&ThreadBlock::full, copy, true);
      if (ReadsBelow(child, ring.buffer)) Release(&ThreadBlock::empty, copy, false);
    }
  }

  bool WritesBelow(Id node, Id buffer) const {
    return absl::c_any_of(BlocksOf(p_, node), [&](Id block) { return Writes(p_, block, buffer); });
  }
  bool ReadsBelow(Id node, Id buffer) const {
    return absl::c_any_of(BlocksOf(p_, node),
                          [&](Id block) { return Reads(p_, block, buffer) && !Writes(p_, block, buffer); });
  }

  const RingPlan* RingOf(Id buffer) const {
    const auto ring = absl::c_find_if(plan_.rings, [&](const RingPlan& r) { return r.buffer == buffer; });
    return ring == plan_.rings.end() ? nullptr : &*ring;
  }
  bool CopiesAsynchronously(Id loop, Id child) const {
    return absl::c_any_of(plan_.rings, [&](const RingPlan& ring) {
      return ring.loop == loop && ring.transport == Transport::kAsync && !ring.counts_arrivals &&
             WritesBelow(child, ring.buffer);
    });
  }

  // --- Computes marks (index sums with extents), or nullopt outside of an extent: the instance does not exist then.
  std::optional<int64_t> ValueOf(Source source, const std::vector<int64_t>& iters) {
    if (source.kind == Source::Kind::kIter) return iters[source.id];
    if (source.kind == Source::Kind::kMark) return Checked(source.id, iters);
    const Node& node = p_.nodes[source.id];
    if (node.kind == Node::Kind::kDead) return Checked(p_.loops[node.index].definition, iters);
    return values_[source.id];  // 0: a loop of one iteration that is not around
  }
  std::optional<int64_t> ValueOf(Id mark, const std::vector<int64_t>& iters) {
    int64_t value = p_.marks[mark].offset;
    for (const IndexSplit& split : p_.Splits(p_.marks[mark].splits)) {
      std::optional<int64_t> part = ValueOf(split.source, iters);
      if (!part.has_value()) return std::nullopt;
      *part /= split.lower;
      value += split.scale * (split.extent == 0 ? *part : *part % split.extent);
    }
    return value;
  }
  std::optional<int64_t> Checked(Id mark, const std::vector<int64_t>& iters) {
    const std::optional<int64_t> value = ValueOf(mark, iters);
    if (!value.has_value() || *value < 0 || *value >= p_.marks[mark].extent.Known()) return std::nullopt;
    return value;
  }

  void VisitBlock(Id block) {
    const std::vector<int64_t> around = iters_;
    std::vector<int64_t> iters;
    for (const Iter& iter : p_.Iters(p_.block(block).iters)) {
      const std::optional<int64_t> value = Checked(iter.binding, around);
      if (!value.has_value()) return;
      iters.push_back(*value);
    }
    for (const Id mark : p_.List(p_.block(block).domain))
      if (!Checked(mark, iters).has_value()) return;
    iters_ = iters;
    instance_.insert(instance_.end(), iters.begin(), iters.end());
    ++run_;
    FindAgents(block, false);
    for (const Range& list : {p_.block(block).values, p_.block(block).initial})
      for (const Id value : p_.List(list)) VisitExpr(block, value);
    FindAgents(block, p_.block(block).monoid != kNone);
    for (const Access& dest : p_.Accesses(p_.block(block).dests)) {
      if (p_.block(block).monoid != kNone) Touch(block, dest.buffer, dest.index, false);
      Touch(block, dest.buffer, dest.index, true);
    }
    VisitChildren(block);
    instance_.resize(instance_.size() - iters.size());
    iters_ = around;
  }

  void VisitExpr(Id block, Id expr) {
    const Expr& e = p_.exprs[expr];
    if (e.op == Op::kLoad) return Touch(block, e.AsLoad().buffer, e.AsLoad().index, false);
    if (e.op == Op::kWithin) {
      const bool inside = absl::c_all_of(p_.List(e.AsWithin().marks),
                                         [&](Id mark) { return Checked(mark, iters_).has_value(); });
      return VisitExpr(block, e.Operands()[inside ? 0 : 1]);
    }
    if (e.op == Op::kGather && status_.ok()) status_ = memory_.Use(block, e.AsGather().buffer);
    for (const Id operand : e.Operands()) VisitExpr(block, operand);
  }

  // --- Tells in which GPU block the walk is, and which agents (threads, or the producer) run an instance.
  int64_t On(LoopKind kind) const {  // -1: no loop of several iterations is on this axis
    const Id loop = on_axes_[static_cast<size_t>(kind)];
    return loop == kNone ? -1 : values_[loop];
  }
  BlockIndex BlockNow() const {
    const auto on = [&](LoopKind axis) { return std::max<int64_t>(0, On(axis)); };
    return {on(LoopKind::kBlockX), on(LoopKind::kBlockY), on(LoopKind::kBlockZ)};
  }
  ThreadBlock& Current() { return blocks_.try_emplace(BlockNow(), threads_.Count()).first->second; }

  int64_t LanesOfFragment(Id buffer) const {
    const Storage storage = p_.buffers[buffer].scope.storage;
    return storage == Storage::kWarp ? 32 : storage == Storage::kWarpgroup ? 128 : 1;
  }

  // Sets agents_ to those that run an instance of the block: a thread, the lanes of a fragment's owner, or the
  // producer. If `combines`, one thread runs what combines the results of several threads.
  void FindAgents(Id block, bool combines) {
    agents_.clear();
    if (producing_ > 0) {
      agents_.push_back(2 * threads_.Count());
      return;
    }
    bool gathers = false;  // true if one thread combines what several threads reduced
    const auto place = [&](LoopKind kind) {
      const Id loop = on_axes_[static_cast<size_t>(kind)];
      if (loop == kNone) return int64_t{0};
      const bool reduced = combines && AxisUse(p_, block, loop).reduction;
      gathers = gathers || reduced;
      return reduced ? int64_t{0} : values_[loop];
    };
    const int64_t thread = place(LoopKind::kThreadX) +
                           threads_.x * (place(LoopKind::kThreadY) + threads_.y * place(LoopKind::kThreadZ));
    int64_t lanes = 1;
    if (On(LoopKind::kThreadX) < 0 && !gathers) {
      for (const auto& buffers : {ReadBuffers(p_, block), WrittenBuffers(p_, block)})
        for (const Id buffer : buffers) lanes = std::max(lanes, LanesOfFragment(buffer));
    }
    for (int64_t lane = 0; lane < lanes; ++lane) agents_.push_back(thread / lanes * lanes + lane);
  }

  // Returns true if the iterations of a loop can use the same memory of a buffer: each loop on an axis of the GPU, from
  // this loop outwards, has private copies of the buffer. False for a source that is no loop.
  bool IsReused(Id buffer, Source source) const {
    if (source.kind != Source::Kind::kLoop) return false;
    for (Id at = source.id; at != kRoot; at = p_.nodes[at].parent)
      if (p_.IsLoop(at) && OnAxis(p_, at) && !IsPrivateTo(p_, buffer, at)) return false;
    return true;
  }

  // Returns what a compact walk subtracts from a buffer's indices, by dimension: what the loops around all uses add to
  // them; nothing where the uses differ.
  const std::vector<IndexSum>& BaseOf(Id buffer) {
    const auto [found, fresh] = bases_.try_emplace(buffer, p_.buffers[buffer].shape.count, IndexSum());
    if (!fresh || !compact_ || p_.buffers[buffer].role != Role::kTemporary) return found->second;
    std::vector<Id> users = Readers(p_, buffer);
    for (const Id writer : Writers(p_, buffer)) users.push_back(writer);
    const Id home = LowestCommonAncestor(p_, users);
    std::vector<std::optional<IndexSum>> bases(found->second.size());
    std::vector<bool> alike(bases.size(), true);
    for (const Id user : users) {
      const Bindings bindings = ResolveBindings(p_, user);
      for (const auto& region :
           {ReadRegion(p_, bindings, buffer, home), WrittenRegion(p_, bindings, buffer, home)}) {
        for (size_t d = 0; d < region.size(); ++d) {
          IndexSum base;
          for (const IndexSplit& split : region[d].base.splits)
            if (IsReused(buffer, split.source)) base.splits.push_back(split);
          alike[d] = alike[d] && (!bases[d].has_value() || *bases[d] == base);
          bases[d] = base;
        }
      }
    }
    for (size_t d = 0; d < bases.size(); ++d)
      if (alike[d] && bases[d].has_value()) found->second[d] = *bases[d];
    return found->second;
  }

  int64_t CopyOf(Id buffer) const {  // -1: the buffer has one copy
    const RingPlan* const ring = RingOf(buffer);
    return ring == nullptr ? -1 : values_.at(ring->loop) % ring->depth;
  }

  void Touch(Id block, Id buffer, Range index, bool writes) {
    std::vector<int64_t> indices;
    const std::vector<IndexSum>& base = BaseOf(buffer);
    for (const Id mark : p_.List(index)) {
      const int64_t origin =
          Evaluate(base[indices.size()], [&](Source source) { return ValueOf(source, {}).value_or(0); });
      indices.push_back(ValueOf(mark, iters_).value_or(0) - origin);
    }
    TouchElement(block, buffer, elements_.Of(buffer, indices), writes);
  }

  void TouchElement(Id block, Id buffer, int64_t element, bool writes) {
    if (status_.ok()) status_ = memory_.Use(block, buffer);
    if (p_.buffers[buffer].scope.owner < Owner::kBlock || IsGiven(p_.buffers[buffer].role) || !status_.ok())
      return;
    if (--left_ < 0) {
      status_ = absl::ResourceExhaustedError("the walk is longer than its limit");
      return;
    }
    const bool own = p_.buffers[buffer].scope.owner == Owner::kBlock;
    Cell& cell = cells_[{buffer, CopyOf(buffer), element, own ? BlockNow() : BlockIndex{-1, -1, -1}}];
    const RingPlan* const ring = RingOf(buffer);
    const bool copies =
        writes && ring != nullptr && ring->transport == Transport::kAsync && !ring->counts_arrivals;
    ThreadBlock& now = Current();
    for (int64_t agent : agents_) {
      if (copies) {  // the copy begins after all that its thread did
        Join(now.clocks[threads_.Count() + agent], now.clocks[agent]);
        agent += threads_.Count();
      }
      const Event event{BlockNow(), agent, now.clocks[agent][agent], run_, block, instance_};
      if (const auto place = places_.find(buffer);
          place != places_.end() &&
          !turns_[{place->second, event.block}].Take(buffer, agent, now.clocks[agent]))
        status_ = absl::FailedPreconditionError(absl::StrCat(
            Describe(p_, block), " in ", Name(event), " and users of another buffer race: they use element ",
            element, " of buffer ", p_.Text(p_.buffers[buffer].name), ", which lies in its place"));
      writes ? Write(cell, event, buffer, element) : Read(cell, event, buffer, element);
      if (!status_.ok()) return;
    }
  }

  // Notes a read. It is a race unless it comes after one of the stores of the value.
  void Read(Cell& cell, const Event& event, Id buffer, int64_t element) {
    if (!cell.writes.empty() &&
        absl::c_none_of(cell.writes, [&](const Event& write) { return IsOrdered(write, event); }))
      return Race(cell.writes.back(), event, buffer, element);
    Keep(cell.reads, event);
  }

  // Notes a write. It is a race unless it comes after all accesses before, or stores the value again that is there.
  void Write(Cell& cell, const Event& event, Id buffer, int64_t element) {
    if (!cell.writes.empty() && IsRepeated(cell.writes[0], event)) return Keep(cell.writes, event);
    for (const auto* events : {&cell.writes, &cell.reads}) {
      for (const Event& before : *events)
        if (!IsOrdered(before, event)) return Race(before, event, buffer, element);
    }
    cell.writes = {event};
    cell.reads.clear();
  }

  // Adds an event, and removes the earlier one of the same agent.
  static void Keep(std::vector<Event>& events, const Event& event) {
    std::erase_if(events, [&](const Event& e) { return e.agent == event.agent && e.block == event.block; });
    events.push_back(event);
  }

  bool IsRepeated(const Event& before, const Event& now) const {
    const Provenance &a = p_.block(before.node).provenance, &b = p_.block(now.node).provenance;
    const bool parts = a.kind == b.kind && a.origin == b.origin && p_.List(a.map) == p_.List(b.map);
    return (before.node == now.node || parts) && before.instance == now.instance &&
           p_.block(now.node).monoid == kNone;  // parts of a block that was cut compute the same
  }
  bool IsOrdered(const Event& before, const Event& now) {
    return before.run == now.run ||
           (before.block == now.block && Current().clocks[now.agent][before.agent] >= before.clock);
  }
  void Race(const Event& before, const Event& now, Id buffer, int64_t element) {
    status_ = absl::FailedPreconditionError(
        absl::StrCat(Describe(p_, before.node), " in ", Name(before), " and ", Describe(p_, now.node), " in ",
                     Name(now), " race: they use element ", element, " of buffer ",
                     p_.Text(p_.buffers[buffer].name), ", and no point orders them"));
  }
  std::string Name(const Event& event) const {
    const int64_t threads = threads_.Count();
    const std::string who = event.agent == 2 * threads ? "the producer"
                            : event.agent >= threads
                                ? absl::StrCat("a copy of thread ", event.agent - threads)
                                : absl::StrCat("thread ", event.agent);
    return absl::StrCat(who, " of block ", absl::StrJoin(event.block, ","));
  }

  // --- Sync points: join the clocks of threads at barriers, and with those of the copies that they wait for.
  void PassPoints(Id child) {
    for (const SyncPoint& point : plan_.points) {
      if (point.before != child) continue;
      for (auto& [index, block] : blocks_)
        if (IsNow(index)) Pass(point, block);
    }
  }
  bool IsNow(const BlockIndex& index) const {
    const auto is = [&](LoopKind axis, int64_t number) { return On(axis) < 0 || On(axis) == number; };
    return is(LoopKind::kBlockX, index[0]) && is(LoopKind::kBlockY, index[1]) &&
           is(LoopKind::kBlockZ, index[2]);
  }

  void Pass(const SyncPoint& point, ThreadBlock& block) {
    const int64_t x = On(LoopKind::kThreadX), y = On(LoopKind::kThreadY), z = On(LoopKind::kThreadZ);
    std::map<int64_t, std::vector<int64_t>> groups;  // threads that wait for each other
    for (int64_t thread = 0; thread < threads_.Count(); ++thread) {
      const bool here = (x < 0 || thread % threads_.x == x) &&
                        (y < 0 || thread / threads_.x % threads_.y == y) &&
                        (z < 0 || thread / threads_.x / threads_.y == z);
      if (here) groups[point.among >= Owner::kBlock ? 0 : thread / LanesOf(point.among)].push_back(thread);
    }
    for (const auto& [number, threads] : groups) {
      if (point.wait_groups >= 0)
        for (const int64_t thread : threads) block.WaitForCopies(thread, point.wait_groups);
      block.Meet(threads);
    }
  }

  // Commits, for each thread, the copies that it began in this step as a group.
  void Commit() {
    ThreadBlock& block = Current();
    for (int64_t thread = 0; thread < threads_.Count(); ++thread) {
      VectorClock& copies = block.clocks[threads_.Count() + thread];
      block.groups[thread].push_back(copies);
      ++copies[threads_.Count() + thread];
    }
  }

  // --- Barriers of rings that count arrivals join the clocks of the producer and of all threads of the block.
  using Barriers = std::map<std::pair<Id, int64_t>, VectorClock> ThreadBlock::*;
  std::pair<int64_t, int64_t> AgentsOf(bool producer) const {
    const int64_t threads = threads_.Count();
    return producer ? std::pair(2 * threads, 2 * threads + 1) : std::pair(int64_t{0}, threads);
  }
  // Joins the clocks of the producer or of all threads with those of a ring copy's barrier, in each running block.
  void Acquire(Barriers barriers, std::pair<Id, int64_t> copy, bool producer) {
    const auto [first, end] = AgentsOf(producer);
    for (auto& [index, block] : blocks_) {
      const auto at = (block.*barriers).find(copy);
      if (!IsNow(index) || at == (block.*barriers).end()) continue;
      for (int64_t agent = first; agent < end; ++agent) Join(block.clocks[agent], at->second);
    }
  }
  void Release(Barriers barriers, std::pair<Id, int64_t> copy, bool producer) {
    const auto [first, end] = AgentsOf(producer);
    for (auto& [index, block] : blocks_) {
      if (!IsNow(index)) continue;
      VectorClock& all =
          (block.*barriers).try_emplace(copy, VectorClock(block.clocks.size(), 0)).first->second;
      for (int64_t agent = first; agent < end; ++agent) {
        Join(all, block.clocks[agent]);
        ++block.clocks[agent][agent];
      }
    }
  }

  const Program& p_;
  const SyncPlan& plan_;
  bool compact_;
  int64_t left_;
  absl::Status status_;
  Threads threads_;              // of the kernel
  std::vector<int64_t> values_;  // values of loops; 0: the walk is not in the loop
  std::array<Id, kLoopKinds>
      on_axes_;                    // by kind: the innermost loop of several iterations that the walk is in
  std::vector<int64_t> iters_;     // iters of the innermost block
  std::vector<int64_t> instance_;  // iters of all blocks around
  std::vector<int64_t> agents_;    // agents that run the instance
  int producing_ = 0;
  int64_t run_ = 0;
  KernelMemory memory_{p_};
  ElementNumbers elements_{p_};                // in a compact walk, indices may be beyond the shape
  std::map<Id, std::vector<IndexSum>> bases_;  // by buffer
  std::map<BlockIndex, ThreadBlock> blocks_;
  std::map<Id, int32_t> places_;  // places of buffers that take turns
  std::map<std::pair<int32_t, BlockIndex>, SharedTurn> turns_;
  std::map<std::tuple<Id, int64_t, int64_t, BlockIndex>, Cell> cells_;
};

}  // namespace

absl::Status CheckThreadClocks(const Program& program, const SyncPlan& plan, int64_t limit) {
  const absl::Status status = Walk(program, plan, false, limit).Run();
  Walk compact(program, plan, true, limit);
  return status.ok() && compact.Differs() ? compact.Run() : status;
}

}  // namespace kiln
