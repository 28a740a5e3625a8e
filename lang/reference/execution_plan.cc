#include "lang/reference/execution_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/legality.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

bool MayRunAtOnce(LoopKind kind) {
  return kind != LoopKind::kSerial && kind != LoopKind::kUnrolled && kind != LoopKind::kPipelined;
}

void ListBlocks(std::vector<PlanNode>& places, std::vector<const PlanNode*>& blocks) {
  for (PlanNode& place : places) {
    if (place.variable < 0) {
      place.number = static_cast<int>(blocks.size());
      blocks.push_back(&place);
    }
    ListBlocks(place.children, blocks);
    if (place.reduction >= 0 && !place.starts_itself) place.reductions.push_back(place.reduction);
    for (const PlanNode& child : place.children)
      place.reductions.insert(place.reductions.end(), child.reductions.begin(), child.reductions.end());
  }
}

}  // namespace

int NextChild(const PlanNode& loop, const std::vector<int64_t>& done, PipelineOrder order, Dice& dice) {
  std::vector<int> ready;
  for (const int child : loop.early) {
    const int64_t n = done[child];
    const auto& waits = loop.waits[child];
    if (n < loop.extent &&
        std::all_of(
            waits.begin(), waits.end(), [&](const PlanNode::Wait& w) { return done[w.other] > n - w.lag; }))
      ready.push_back(child);
  }
  if (ready.empty()) return -1;
  if (order == PipelineOrder::kRandom) return ready[dice.Below(static_cast<int64_t>(ready.size()))];
  return order == PipelineOrder::kEager ? ready.front() : ready.back();
}

int64_t CopiesOf(const Program& program, Id buffer) {
  int64_t copies = 1;
  for (const Node& node : program.nodes) {
    if (node.kind != Node::Kind::kLoop) continue;
    for (const Ring& ring : program.Rings(program.loops[node.index]))
      if (ring.buffer == buffer) copies = std::max<int64_t>(copies, ring.depth);
  }
  return copies;
}

ExecutionPlan::ExecutionPlan(const Program& program) : p_(program) {
  Scope scope;
  std::map<Id, PlanNode*> loops;
  top_ = CompileChildren(kRoot, kNone, scope, loops);
  ListBlocks(top_, blocks_);
}

std::vector<PlanNode> ExecutionPlan::CompileChildren(Id node, Id scope_block, Scope& scope,
                                                     std::map<Id, PlanNode*>& loops) {
  size_t count = 0;
  for (Id n = p_.nodes[node].first; n != kNone; n = p_.nodes[n].next) ++count;
  std::vector<PlanNode> places(count);  // fixed in size, since `loops` points to its elements
  size_t at = 0;
  for (Id n = p_.nodes[node].first; n != kNone; n = p_.nodes[n].next) {
    PlanNode& place = places[at++];
    place.node = n;
    if (p_.IsBlock(n)) {
      CompileBlock(n, scope_block, scope, loops, place);
      continue;
    }
    place.extent = p_.loop(n).extent.Known();
    place.variable = NewVariable(place.extent);
    place.kind = p_.loop(n).kind;
    place.at_once = MayRunAtOnce(place.kind);
    scope[{Source::Kind::kLoop, n}] = place.variable;
    loops[n] = &place;
    place.children = CompileChildren(n, scope_block, scope, loops);
    if (place.kind == LoopKind::kPipelined) CompilePipeline(n, place);
    loops.erase(n);
    scope.erase({Source::Kind::kLoop, n});
  }
  return places;
}

void ExecutionPlan::CompilePipeline(Id loop, PlanNode& place) const {
  const auto stages = p_.Stages(p_.loop(loop));
  const auto rings = p_.Rings(p_.loop(loop));
  place.rings = rings;
  place.waits.resize(place.children.size());
  place.makes.resize(place.children.size());
  for (const CarriedBuffer& carried : CarriedBuffers(p_, loop)) {
    const auto ring =
        std::find_if(rings.begin(), rings.end(), [&](const Ring& r) { return r.buffer == carried.buffer; });
    KILN_CHECK(ring != rings.end(), "a buffer without a ring");
    place.makes[carried.writer].push_back(carried.buffer);
    for (const int reader : carried.readers) {
      place.waits[reader].push_back({carried.writer, 0});
      place.waits[carried.writer].push_back({reader, ring->depth + KILN_DEFECT("pipeline.overrun")});
    }
  }
  for (size_t c = 0; c < stages.size(); ++c) place.early.push_back(static_cast<int>(c));
  std::sort(place.early.begin(), place.early.end(), [&](int a, int b) {
    return std::make_pair(stages[a].stage, stages[a].order) <
           std::make_pair(stages[b].stage, stages[b].order);
  });
}

int ExecutionPlan::MarkVariable(Id mark, Scope& scope, PlanNode& place) {
  const Extent extent = p_.marks[mark].extent;
  CodeSum sum = MakeSum(p_.SumOf(mark), [&](Source s) { return VariableOf(s, scope, place); });
  if (sum.affine && sum.offset == 0 && sum.terms.size() == 1 && sum.terms[0].scale == 1 &&
      variable_extents_[sum.terms[0].variable] <= extent.Known()) {
    return sum.terms[0].variable;
  }
  const int variable = NewVariable(extent.Known());
  place.marks.push_back({variable, std::move(sum), extent.Known()});
  return variable;
}

int ExecutionPlan::VariableOf(Source source, Scope& scope, PlanNode& place) {
  const auto it = scope.find({source.kind, source.id});
  if (it != scope.end()) return it->second;
  KILN_CHECK(source.kind != Source::Kind::kIter, "iter ", source.id, " is in no scope");
  Id mark = source.id;
  if (source.kind == Source::Kind::kLoop) {
    KILN_CHECK(p_.nodes[source.id].kind == Node::Kind::kDead, "loop ", source.id, " is not around the block");
    mark = p_.loops[p_.nodes[source.id].index].definition;
  }
  const int variable = MarkVariable(mark, scope, place);
  scope[{source.kind, source.id}] = variable;
  return variable;
}

void ExecutionPlan::CompileBlock(Id node, Id scope_block, Scope& outer, std::map<Id, PlanNode*>& loops,
                                 PlanNode& place) {
  const BlockNode& b = p_.block(node);
  Scope scope = outer;
  if (scope_block != kNone) {
    const std::vector<int>& iters = iter_variables_[scope_block];
    for (size_t i = 0; i < iters.size(); ++i)
      scope[{Source::Kind::kIter, static_cast<int32_t>(i)}] = iters[i];
  }
  std::vector<int> own;
  for (const Iter& iter : p_.Iters(b.iters)) own.push_back(MarkVariable(iter.binding, scope, place));
  const auto own_iter = [&](Source s) { return own[s.id]; };
  for (const Id mark : p_.List(b.domain)) {
    place.marks.push_back({-1, MakeSum(p_.SumOf(mark), own_iter), p_.marks[mark].extent.Known()});
  }
  iter_variables_[node] = own;
  place.body = BodyCode(p_, p_.List(b.values), 0, own_iter);
  for (const Access& dest : p_.Accesses(b.dests)) {
    place.dests.push_back(MakeAccess(p_, dest.buffer, p_.List(dest.index), own_iter));
  }
  if (b.monoid != kNone) {
    const Monoid& monoid = p_.monoids[b.monoid];
    place.monoid = b.monoid;
    place.accumulates = b.accumulates;
    place.combine = BodyCode(p_, p_.List(monoid.combine), 2 * monoid.identity.count, own_iter);
    place.initial = BodyCode(p_, p_.List(b.initial.count != 0 ? b.initial : monoid.identity), 0, own_iter);
    if (!b.accumulates) FindStart(node, loops, place);
  }
  Scope inner;
  std::map<Id, PlanNode*> inner_loops = loops;
  place.children = CompileChildren(node, node, inner, inner_loops);
}

// Finds the loop at which a reduction starts: the outermost one on which a reduction iter's binding depends, through
// definitions of loops and iters of enclosing blocks. Adds the reduction to those that this loop starts; without such a
// loop, sets starts_itself.
void ExecutionPlan::FindStart(Id node, std::map<Id, PlanNode*>& loops, PlanNode& place) {
  place.reduction = static_cast<int>(reductions_.size());
  reductions_.push_back(ElementsOf(p_, place.dests[0].buffer));
  const auto around = [&](Id n) {
    do n = p_.nodes[n].parent;
    while (n != kNone && !p_.IsBlock(n));
    return n;
  };
  std::vector<std::pair<Id, Id>> work;  // a mark, and the block whose iters it may use
  for (const Iter& iter : p_.Iters(p_.block(node).iters)) {
    if (iter.kind == IterKind::kReduction) work.push_back({iter.binding, around(node)});
  }
  Id outermost = kNone;
  while (!work.empty()) {
    const auto [mark, block] = work.back();
    work.pop_back();
    for (const IndexSplit& s : p_.Splits(p_.marks[mark].splits)) {
      if (s.source.kind == Source::Kind::kMark) {
        work.push_back({s.source.id, block});
      } else if (s.source.kind == Source::Kind::kIter) {
        work.push_back({p_.Iters(p_.block(block).iters)[s.source.id].binding, around(block)});
      } else if (p_.nodes[s.source.id].kind == Node::Kind::kDead) {
        work.push_back({p_.loops[p_.nodes[s.source.id].index].definition, block});
      } else {
        Id up = outermost;
        while (up != kNone && up != s.source.id) up = p_.nodes[up].parent;
        if (outermost == kNone || up != kNone) outermost = s.source.id;
      }
    }
  }
  place.starts_itself = outermost == kNone;
  if (outermost != kNone) loops.at(outermost)->starts.push_back(place.reduction);
}

absl::Status AccessError(const Program& program, const PlanNode& block, const CodeAccess& access,
                         const int64_t* variables, const char* what) {
  const auto index = [&](std::string* s, const CodeAccess::Dim& d) {
    absl::StrAppend(s, d.index(variables));
  };
  return absl::InternalError(absl::StrCat("block \"", program.Text(program.block(block.node).name), "\" ",
                                          what, ": ", program.Text(program.buffers[access.buffer].name), "[",
                                          absl::StrJoin(access.dims, ", ", index), "]"));
}

}  // namespace kiln
