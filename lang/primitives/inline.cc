// compute-inline, reverse-compute-inline
//
//   B[i] = f(i)                                          B[i] = f(i)
//   C[j] = g(B[h(j)])   ->   C[j] = g(f(h(j)))           C[i] = g(B[i])     -> (reverse)   C[i] = g(f(i))
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/primitive.h"
#include "lang/rewrite.h"

namespace kiln {
namespace {

// For each iter of a block, the dimension of `index` that is it (-1: none, its value is 0).
std::vector<int> DimensionOfIter(const Program& p, Id block, Range index) {
  std::vector<int> dims(p.block(block).iters.count, -1);
  const auto marks = p.List(index);
  for (size_t d = 0; d < marks.size(); ++d) {
    const std::optional<SimpleIndex> simple = AsSimpleIndex(p, marks[d]);
    if (simple.has_value()) dims[simple->iter] = static_cast<int>(d);
  }
  return dims;
}

BodyRewriter::IterRule AtLoad(const Program& p, const std::vector<int>& dims, const Expr& load) {
  return [&p, dims, load](int iter) {
    return dims[iter] < 0 ? Sum::Constant(0) : p.SumOf(p.lists[load.b + dims[iter]]);
  };
}

absl::Status Inexpressible(const Program& p, Id block) {
  return absl::FailedPreconditionError("an index of " + Describe(p, block) +
                                       " cannot be expressed in the reader's iters");
}

void SetBody(Program& p, Id block, const std::vector<int32_t>& values, const std::vector<int32_t>& initial) {
  const Range value_list = p.AddList(values), initial_list = p.AddList(initial);
  p.block(block).values = value_list;
  p.block(block).initial = initial_list;
}

absl::Status ComputeInline(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  const absl::Status status = CheckComputeInline(p, block);
  if (!status.ok()) return status;
  const Access dest = p.Accesses(p.block(block).dests)[0];
  const Id value = p.List(p.block(block).values)[0];
  const std::vector<int> dims = DimensionOfIter(p, block, dest.index);
  const std::vector<Id> consumers = Consumers(p, block);
  for (const Id consumer : consumers) {
    for (const Id load : Loads(p, consumer)) {
      const Expr& e = p.exprs[load];
      if (e.a == dest.buffer && !CanSubstitute(p, value, AtLoad(p, dims, e), IterExtents(p, consumer))) {
        return Inexpressible(p, block);
      }
    }
  }
  for (const Id consumer : consumers) {
    const std::vector<int64_t> extents = IterExtents(p, consumer);
    const auto load_rule = [&](const Expr& e) -> Id {
      if (e.a != dest.buffer) return kNone;
      return BodyRewriter(p, nullptr, AtLoad(p, dims, e), extents).Expression(value);
    };
    BodyRewriter rewriter(p, load_rule, [](int i) { return Sum::Of(Source::Iter(i)); }, extents);
    std::vector<int32_t> values, initial;
    for (int i = 0; i < p.block(consumer).values.count; ++i) {
      values.push_back(rewriter.Expression(p.lists[p.block(consumer).values.begin + i]));
    }
    for (int i = 0; i < p.block(consumer).initial.count; ++i) {
      initial.push_back(rewriter.Expression(p.lists[p.block(consumer).initial.begin + i]));
    }
    SetBody(p, consumer, values, initial);
  }
  RemoveWithEmptyLoops(p, block);
  p.Kill(block);
  return absl::OkStatus();
}

absl::Status ReverseComputeInline(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  const absl::Status status = CheckReverseComputeInline(p, block);
  if (!status.ok()) return status;
  const Id producer = Producers(p, block)[0];
  const Access made = p.Accesses(p.block(producer).dests)[0];
  const Access dest = p.Accesses(p.block(block).dests)[0];
  const Id value = p.List(p.block(block).values)[0];
  const Id made_value = p.List(p.block(producer).values)[0];
  std::vector<int> dims;
  for (const Id load : Loads(p, block)) {
    const Expr& e = p.exprs[load];
    if (e.a == made.buffer) dims = DimensionOfIter(p, block, {e.b, e.c});
  }
  // An iter of the block in terms of the producer's: the index at which the producer writes that dimension.
  const auto iter_rule = [&](int iter) {
    return dims[iter] < 0 ? Sum::Constant(0) : p.SumOf(p.lists[made.index.begin + dims[iter]]);
  };
  const std::vector<int64_t> extents = IterExtents(p, producer);
  if (!CanSubstitute(p, value, iter_rule, extents)) return Inexpressible(p, block);
  BodyRewriter rewriter(
      p, [&](const Expr& e) { return e.a == made.buffer ? made_value : kNone; }, iter_rule, extents);
  std::vector<int32_t> index;
  for (int d = 0; d < dest.index.count; ++d) {
    index.push_back(rewriter.Index(p.lists[dest.index.begin + d]));
    if (index.back() == kNone) return Inexpressible(p, block);
  }
  const Id combined = rewriter.Expression(value);
  const Range index_list = p.AddList(index);
  const Range accesses{static_cast<int32_t>(p.accesses.size()), 1};
  p.accesses.push_back({dest.buffer, index_list});
  const Range values = p.AddList({combined});
  p.block(producer).dests = accesses;
  p.block(producer).values = values;
  p.block(producer).provenance = p.block(block).provenance;
  RemoveWithEmptyLoops(p, block);
  p.Kill(block);
  return absl::OkStatus();
}

const Primitive kComputeInline{
    .name = "compute-inline",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "",
    .doc =
        "Replaces every read of what the block writes by its body.\nB[i] = f(i); C[j] = g(B[h(j)])\n->\nC[j] "
        "= g(f(h(j)))\n"
        "Does not apply to reductions, to results of the program, or when the block writes at other indices "
        "than its iters.",
    .apply = ComputeInline,
};
KILN_PRIMITIVE(kComputeInline);

const Primitive kReverseComputeInline{
    .name = "reverse-compute-inline",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "",
    .doc =
        "Lets the one producer of a block do its work too.\nB[i] = f(i); C[i] = g(B[i])\n->\nC[i] = g(f(i))\n"
        "Does not apply when the producer is a reduction, has other readers, or is not read element by "
        "element.",
    .apply = ReverseComputeInline,
};
KILN_PRIMITIVE(kReverseComputeInline);

}  // namespace
}  // namespace kiln
