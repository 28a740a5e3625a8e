#include "backends/lower/passes/calls.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "lang/target/cpu_features.h"

namespace kiln::plan {
namespace {

constexpr DotInstruction kDots[] = {
    {"vnni.8x4.compute", "avx512vnni", "llvm.x86.avx512.vpdpbusd.256"},
    {"vnni.8x4.compute", "avxvnni", "llvm.x86.avx512.vpdpbusd.256"},
    {"vnni.16x4.compute", "avx512vnni", "llvm.x86.avx512.vpdpbusd.512"},
    {"vnni.s8.8x4.compute", "avx512vnni", "llvm.x86.avx512.vpdpbusd.256", true},
    {"vnni.s8.8x4.compute", "avxvnni", "llvm.x86.avx512.vpdpbusd.256", true},
    {"vnni.s8.16x4.compute", "avx512vnni", "llvm.x86.avx512.vpdpbusd.512", true},
    {"bf16.16x2.compute", "avx512bf16", "llvm.x86.avx512bf16.dpbf16ps.512"},
    {"f16.16x2.compute", "avx10.2", "llvm.x86.avx10.vdpphps.512"},
    {"sdot.4x4.compute", "dotprod", "llvm.aarch64.neon.sdot"},
    {"usdot.4x4.compute", "i8mm", "llvm.aarch64.neon.usdot"},
};

constexpr TileInstruction kTiles[] = {
    {"amx.u8s8.compute", "amx-int8", "llvm.x86.tdpbusd.internal", 4},
    {"amx.s8s8.compute", "amx-int8", "llvm.x86.tdpbssd.internal", 4},
    {"amx.bf16.compute", "amx-bf16", "llvm.x86.tdpbf16ps.internal", 2},
    {"amx.f16.compute", "amx-fp16", "llvm.x86.tdpfp16ps.internal", 2},
};

template <typename Rows>
auto RowOf(const Rows& rows, const std::string& intrinsic, const std::string& features) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const auto& r) {
    return r.intrinsic == intrinsic && HasFeature(features, r.feature);
  });
  return row == std::end(rows) ? nullptr : row;
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

// The address of the first row and the distance between rows; nothing if the elements have a stride that the unit
// cannot read. `bind` binds the loops of one part of a row, its elements as lanes.
std::optional<TileOperands::Rows> RowsOf(PlanContext& context, const IndexSum& address, int64_t parts,
                                         int64_t stride,
                                         absl::FunctionRef<void(int64_t row, int64_t part)> bind) {
  TileOperands::Rows rows;
  std::vector<int64_t> first;
  for (int64_t row = 0; row < kTileRows; ++row) {
    for (int64_t part = 0; part < parts; ++part) {
      bind(row, part);
      IndexValue at = context.indices().Eval(address);
      if (!at.vectors.empty() || at.stride() != stride) return std::nullopt;
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
  DotOperands found{.row = RowOf(kDots, call.intrinsic, features)};
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
  // The elements that a load reads for the products of one sum are neighbors in memory.
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
  TileOperands found{.row = RowOf(kTiles, call.intrinsic, features)};
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
  const int64_t k = p.loop(middle).extent.Known(), together = found.row->together;
  const auto rows_a = RowsOf(context, plan.addresses.at(found.a), 1, 1,
                             [&](int64_t row, int64_t) { bind(outer, row, middle, k, inner); });
  const auto rows_b = RowsOf(
      context, plan.addresses.at(found.b), together, together,
      [&](int64_t row, int64_t part) { bind(middle, row * together + part, inner, kTileColumns, outer); });
  const auto rows_c = RowsOf(context, plan.dests[0], 1, 1,
                             [&](int64_t row, int64_t) { bind(outer, row, inner, kTileColumns, middle); });
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
