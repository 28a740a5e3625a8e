#include "backends/lower/passes/calls.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"

namespace kiln::plan {
namespace {

const CpuInstruction* RowOf(const Call& call, const std::string& features, CpuInstruction::Kind kind) {
  const CpuInstruction* row = FindCpuInstruction(call.intrinsic, features);
  return row != nullptr && row->kind == kind ? row : nullptr;
}

Id OnlyChild(const Program& p, Id node) {
  const Id child = p.nodes[node].first;
  return child != kNone && p.nodes[child].next == kNone ? child : kNone;
}

Id LoadUnderCast(const Program& p, Id expr) {
  while (p.exprs[expr].op == Op::kCast || p.exprs[expr].op == Op::kCastUnsigned)
    expr = p.exprs[expr].operand(0);
  return p.exprs[expr].op == Op::kLoad ? expr : kNone;
}

std::vector<int64_t> KeyOf(const IndexValue& value) {
  std::vector<int64_t> key;
  value.AppendKey(key);
  return key;
}

// Returns the address of a matrix tile's first row and the distance between its rows, in elements. A row interleaves
// `parts` vectors: element `lane` of vector `part` is at lane * parts + part. Returns nullopt if the elements of a row
// lie otherwise, or if rows are not equally far apart. bind(row, part) binds the loops to one vector, its elements as
// lanes.
std::optional<TileOperands::Rows> RowsOf(PlanContext& context, const IndexSum& address, int64_t count,
                                         int64_t parts,
                                         absl::FunctionRef<void(int64_t row, int64_t part)> bind) {
  TileOperands::Rows rows;
  std::vector<int64_t> first;
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t part = 0; part < parts; ++part) {
      bind(row, part);
      IndexValue at = context.indices().Eval(address);
      if (!at.vectors.empty() || at.stride() != parts) return std::nullopt;
      at = at.Uniform();
      if (row == 0 && part == 0) rows.first = at;
      if (row == 1 && part == 0) rows.apart = at.constant - rows.first.constant;
      at.constant -= row * rows.apart + part;
      const std::vector<int64_t> key = KeyOf(at);
      if (first.empty()) first = key;
      if (key != first) return std::nullopt;
    }
  }
  return rows;
}

}  // namespace

std::optional<DotOperands> FindDot(PlanContext& context, const std::string& features, const Call& call) {
  const Program& p = context.program();
  DotOperands found{.row = RowOf(call, features, CpuInstruction::Kind::kDot)};
  if (found.row == nullptr) return std::nullopt;
  found.inner = OnlyChild(p, call.outer);
  found.block = found.inner == kNone ? kNone : OnlyChild(p, found.inner);
  if (found.block == kNone || !p.IsLoop(found.inner) || !p.IsBlock(found.block)) return std::nullopt;
  const Expr& product = p.exprs[p.List(p.block(found.block).values)[0]];
  if (product.op != Op::kMul) return std::nullopt;
  found.a = LoadUnderCast(p, product.operand(0));
  found.b = LoadUnderCast(p, product.operand(1));
  found.products = p.loop(call.outer).extent.Known();
  found.sums = p.loop(found.inner).extent.Known();
  if (found.a == kNone || found.b == kNone) return std::nullopt;

  IndexEvaluator& indices = context.indices();
  const BlockPlan& plan = context.plan().blocks.at(found.block);
  indices.Bind(found.inner, IndexValue::Lanes(found.sums));
  const auto at = [&](const IndexSum& address, int64_t product) {
    indices.Bind(call.outer, IndexValue::Constant(product));
    return indices.Eval(address);
  };
  // Returns whether the elements that a load reads for the products of one sum are neighbors in memory.
  const auto are_neighbors = [&](Id load) {
    const IndexSum& address = plan.addresses.at(load);
    for (int64_t k = 1; k < found.products; ++k) {
      IndexValue later = at(address, k);
      later.constant -= k;
      if (KeyOf(later) != KeyOf(at(address, 0))) return false;
    }
    return true;
  };
  if (!at(plan.addresses.at(found.a), 0).uniform()) std::swap(found.a, found.b);
  found.at_a = at(plan.addresses.at(found.a), 0);
  found.at_b = at(plan.addresses.at(found.b), 0);
  const bool fits = found.at_a.uniform() && !found.at_b.uniform() && found.at_b.vectors.empty() &&
                    at(plan.dests[0], 0).stride() == 1 && are_neighbors(found.a) && are_neighbors(found.b);
  indices.Unbind(found.inner);
  indices.Unbind(call.outer);
  if (!fits) return std::nullopt;
  return found;
}

std::optional<TileOperands> FindTile(PlanContext& context, const std::string& features, const Call& call) {
  const Program& p = context.program();
  TileOperands found{.row = RowOf(call, features, CpuInstruction::Kind::kTile)};
  if (found.row == nullptr) return std::nullopt;
  const Id outer = call.outer, middle = OnlyChild(p, outer);
  const Id inner = middle == kNone ? kNone : OnlyChild(p, middle);
  found.block = inner == kNone ? kNone : OnlyChild(p, inner);
  if (found.block == kNone || !p.IsLoop(middle) || !p.IsLoop(inner) || !p.IsBlock(found.block))
    return std::nullopt;
  const Expr& product = p.exprs[p.List(p.block(found.block).values)[0]];
  found.a = LoadUnderCast(p, product.operand(0));
  found.b = LoadUnderCast(p, product.operand(1));
  if (found.a == kNone || found.b == kNone || !p.block(found.block).accumulates) return std::nullopt;

  IndexEvaluator& indices = context.indices();
  const auto bind = [&](Id row_loop, int64_t row, Id lane_loop, int64_t lanes, Id still) {
    indices.Bind(still, IndexValue::Constant(0));
    indices.Bind(row_loop, IndexValue::Constant(row));
    indices.Bind(lane_loop, IndexValue::Lanes(lanes));
  };
  const BlockPlan& plan = context.plan().blocks.at(found.block);
  const int64_t m = found.row->m, n = found.row->n, k = found.row->k, together = found.row->interleave;
  const auto rows_a = RowsOf(context, plan.addresses.at(found.a), m, 1,
                             [&](int64_t row, int64_t) { bind(outer, row, middle, k, inner); });
  const auto rows_b =
      RowsOf(context, plan.addresses.at(found.b), k / together, together,
             [&](int64_t row, int64_t part) { bind(middle, row * together + part, inner, n, outer); });
  const auto rows_c =
      RowsOf(context, plan.dests[0], m, 1, [&](int64_t row, int64_t) { bind(outer, row, inner, n, middle); });
  for (const Id loop : {outer, middle, inner}) indices.Unbind(loop);
  if (!rows_a || !rows_b || !rows_c) return std::nullopt;
  found.rows_a = *rows_a;
  found.rows_b = *rows_b;
  found.rows_c = *rows_c;
  return found;
}

bool FitsCall(PlanContext& context, const std::string& features, Call& call) {
  const IndexPlan& plan = context.plan();
  call.asks.clear();
  if (const auto tile = FindTile(context, features, call)) {
    return absl::c_all_of(plan.blocks.at(tile->block).guards,
                          [&](int condition) { return context.Known(condition) == true; });
  }
  const auto dot = FindDot(context, features, call);
  if (!dot.has_value()) return false;
  context.indices().Bind(dot->inner, IndexValue::Lanes(dot->sums));
  context.indices().Bind(call.outer, IndexValue::Constant(0));
  const bool whole = absl::c_all_of(plan.blocks.at(dot->block).guards, [&](int condition) {
    const std::optional<bool> decided = context.Decided(condition);
    if (!decided.has_value()) call.asks.push_back(condition);
    return decided == true ||
           (!decided.has_value() && !absl::c_linear_search(plan.conditions[condition].loops, call.outer) &&
            context.indices().Eval(plan.conditions[condition].value).uniform());
  });
  context.indices().Unbind(dot->inner);
  context.indices().Unbind(call.outer);
  return whole;
}

}  // namespace kiln::plan
