#include "lang/analysis/cost.h"

#include <algorithm>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"

namespace kiln {
namespace {

bool IsSpecial(Op op) {
  return (op >= Op::kExp && op <= Op::kErf && op != Op::kSqrt && op != Op::kRsqrt) ||
         (op >= Op::kSinh && op <= Op::kErfc) || op == Op::kPow || op == Op::kAtan2 || op == Op::kWithin;
}

int64_t InstructionsOf(const Expr& e, const CostTable& costs) {
  switch (e.op) {
    case Op::kConstant:
    case Op::kIndex:
    case Op::kLoad:
    case Op::kArg:
    case Op::kTuple:
    case Op::kBitcast:
      return 0;
    case Op::kMax:
    case Op::kMin:
      return IsFloat(e.dtype) ? costs.extremum_instructions : 1;
    case Op::kWithin:
      return costs.within_instructions;
    case Op::kGather:
      return costs.gather_instructions;
    case Op::kExp:
    case Op::kExpm1:
      return costs.exp_instructions;
    case Op::kLog:
    case Op::kLog1p:
      return costs.log_instructions;
    case Op::kTanh:
    case Op::kErf:
      return costs.tanh_instructions;
    default:
      return IsSpecial(e.op) ? costs.call_instructions : 1;
  }
}

bool Uses(const Program& p, Id mark, int iter) {
  for (const IndexSplit& s : p.Splits(p.marks[mark].splits)) {
    if (s.source == Source::Iter(iter)) return true;
  }
  return false;
}

}  // namespace

bool IsCheap(const Program& program, Id block) {
  for (const Access& dest : program.Accesses(program.block(block).dests)) {
    for (const Id mark : program.List(dest.index))
      if (program.marks[mark].splits.count > 1) return false;
  }
  for (const Id load : Loads(program, block)) {
    for (const Id mark : program.List(program.exprs[load].AsLoad().index)) {
      const auto splits = program.Splits(program.marks[mark].splits);
      if (splits.size() == 1 && splits[0].scale > 1) return false;
    }
  }
  const std::vector<Id> body = BodyExprs(program, block);
  return std::none_of(body.begin(), body.end(), [&](Id e) { return IsSpecial(program.exprs[e].op); });
}

bool IsReadOnce(const Program& program, Id block) {
  const std::vector<Id> consumers = Consumers(program, block), written = WrittenBuffers(program, block);
  if (consumers.size() != 1 || written.size() != 1 || GathersFrom(program, consumers[0], written[0]))
    return false;
  const auto iters = program.Iters(program.block(consumers[0]).iters);
  int reads = 0;
  for (const Id load : LoadsOf(program, consumers[0], written[0])) {
    const Expr& e = program.exprs[load];
    ++reads;
    std::vector<bool> used(iters.size(), false);
    for (const Id mark : program.List(e.AsLoad().index)) {
      const auto splits = program.Splits(program.marks[mark].splits);
      if (splits.size() == 1 && splits[0].source.kind == Source::Kind::kIter && splits[0].lower == 1 &&
          splits[0].extent == 0)
        used[splits[0].source.id] = true;
    }
    for (size_t i = 0; i < iters.size(); ++i) {
      if (!used[i] && iters[i].extent.UpperBound() > 1) return false;
    }
  }
  return reads == 1;
}

bool KeepsOrder(const Program& program, Id block) {
  const Access& dest = program.Accesses(program.block(block).dests)[0];
  std::vector<int> place(program.block(block).iters.count, -1);
  int next = 0;
  for (const Id mark : program.List(dest.index)) {
    const std::optional<SimpleIndex> simple = AsSimpleIndex(program, mark);
    if (simple.has_value()) place[simple->iter] = next++;
  }
  for (const Id load : Loads(program, block)) {
    const Expr& e = program.exprs[load];
    int last = -1;
    for (const Id mark : program.List(e.AsLoad().index)) {
      for (const IndexSplit& s : program.Splits(program.marks[mark].splits)) {
        if (s.source.kind != Source::Kind::kIter ||
            program.Iters(program.block(block).iters)[s.source.id].extent.UpperBound() == 1)
          continue;
        if (place[s.source.id] < last) return false;
        last = place[s.source.id];
      }
    }
  }
  return true;
}

std::set<Op> OpsOf(const Program& program, Id block) {
  std::set<Op> ops;
  for (const Id e : BodyExprs(program, block)) ops.insert(program.exprs[e].op);
  return ops;
}

bool HasReuse(const Program& program, Id block) {
  const BlockNode& b = program.block(block);
  if (b.monoid == kNone || b.dests.count != 1) return false;
  const auto iters = program.Iters(b.iters);
  for (const Id load : Loads(program, block)) {
    const Expr& e = program.exprs[load];
    for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
      if (iters[i].kind != IterKind::kSpatial || iters[i].extent.UpperBound() == 1) continue;
      const auto index = program.List(e.AsLoad().index);
      if (std::none_of(index.begin(), index.end(), [&](Id mark) { return Uses(program, mark, i); }))
        return true;
    }
  }
  return false;
}

int64_t Instructions(const Program& program, Id block, absl::Span<const Id> exprs, const CostTable& costs) {
  const BlockNode& b = program.block(block);
  int64_t count = 0;
  for (const Id e : exprs) count += InstructionsOf(program.exprs[e], costs);
  if (b.monoid != kNone) {
    const Expr& lift = program.exprs[program.List(b.values)[0]];
    const bool fused = program.monoids[b.monoid].kind == Monoid::Kind::kSum && lift.op == Op::kMul;
    count += b.dests.count - (fused ? 1 : 0);
  }
  return std::max<int64_t>(1, count);
}

int64_t Instructions(const Program& program, Id block, const CostTable& costs) {
  return Instructions(program, block, BodyExprs(program, block), costs);
}

double Flops(const Program& program, Id block) {
  const BlockNode& b = program.block(block);
  double instances = 1, work = b.monoid == kNone ? 0 : 1;
  for (const Iter& iter : program.Iters(b.iters)) instances *= static_cast<double>(iter.extent.UpperBound());
  for (const Id e : BodyExprs(program, block)) {
    work += program.exprs[e].op >= Op::kAdd;
  }
  return instances * work;
}

double Flops(const Program& program) {
  double total = 0;
  for (const Id block : Blocks(program)) total += Flops(program, block);
  return total;
}

}  // namespace kiln
