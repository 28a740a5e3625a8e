// compute-inline, reverse-compute-inline
//
//   B[i] = f(i)                                          B[i] = f(i)
//   C[j] = g(B[h(j)])   ->   C[j] = g(f(h(j)))           C[i] = g(B[i])     -> (reverse)   C[i] = g(f(i))
//
// In reverse, C may also have another shape than B: C[j] = g(B[j/4, j%4]) becomes C[i*4 + k] = g(f(i, k)).
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/reshape.h"
#include "lang/base/defect.h"
#include "lang/schedule/inline_block.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status Inexpressible(const Program& p, Id block) {
  return absl::FailedPreconditionError("an index of " + Describe(p, block) +
                                       " cannot be expressed in the reader's iters");
}

absl::Status ComputeInline(Call& call) { return InlineBlock(call.program(), call.node(0)); }

// Returns the conditions under which an index of the producer lies in a box: one mark for each dimension in which the
// index may leave it.
Range DomainOf(Program& p, Range index, const Box& box, const std::vector<int64_t>& extents) {
  const auto extent_of = [&](Source source) { return extents[source.id]; };
  std::vector<int32_t> marks;
  for (size_t d = 0; d < box.size(); ++d) {
    IndexSum sum = p.SumOf(p.lists[index.begin + static_cast<int32_t>(d)]);
    const Interval whole = Bounds(sum, extent_of);
    if (whole.min >= box[d].min && whole.max <= box[d].max) continue;
    sum.offset -= box[d].min;
    marks.push_back(p.AddMark(sum, box[d].max - box[d].min + 1));
  }
  return p.AddList(marks);
}

// Returns the provenance of a producer that has taken over the work of `block`. `iters` are the block's iters as sums
// over the producer's iters; the map is left out if it is the identity. Returns nullopt if it cannot be expressed.
std::optional<Provenance> ProvenanceOf(Program& p, Id block, const std::vector<IndexSum>& iters,
                                       BodyRewriter& rewriter, size_t producer_iters) {
  Provenance provenance = p.block(block).provenance;
  std::vector<int32_t> map;
  bool identity = provenance.map.count == 0 && iters.size() == producer_iters;
  for (int i = 0; i < static_cast<int>(iters.size()); ++i)
    identity &= iters[i] == IndexSum::Of(Source::Iter(i));
  for (int i = 0; i < static_cast<int>(iters.size()) && provenance.map.count == 0; ++i)
    map.push_back(p.AddMark(iters[i], p.iters[p.block(block).iters.begin + i].extent));
  for (int i = 0; i < provenance.map.count; ++i) {
    map.push_back(rewriter.Index(p.lists[provenance.map.begin + i]));
    if (map.back() == kNone) return std::nullopt;
  }
  if (!identity) provenance.map = p.AddList(map);
  return provenance;
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
  // Computes the iters of the block as sums over the producer's iters, from the element that the producer writes.
  const std::vector<int64_t> extents = IterExtents(p, producer);
  const auto extent_of = [&](Source source) { return extents[source.id]; };
  std::vector<IndexSum> iters;
  Box box;
  std::optional<std::vector<IndexSum>> by_element = ItersByElement(p, block, made.buffer);
  if (!by_element.has_value()) by_element = ItersByElementOfBox(p, block, made.buffer, box);
  const auto written_at = [&](Source source) -> std::optional<IndexSum> {
    return p.SumOf(p.lists[made.index.begin + source.id]);
  };
  for (const IndexSum& iter : *by_element) {
    const std::optional<IndexSum> sum = Substitute(iter, written_at, extent_of);
    if (!sum.has_value()) return Inexpressible(p, block);
    iters.push_back(*sum);
  }
  const auto iter_rule = [&](int iter) { return iters[iter]; };
  if (!CanSubstitute(p, value, iter_rule, extents)) return Inexpressible(p, block);
  BodyRewriter rewriter(
      p, [&](const Expr& e) { return e.AsLoad().buffer == made.buffer ? made_value : kNone; }, iter_rule,
      extents);
  std::vector<int32_t> index;
  for (int d = 0; d < dest.index.count; ++d) {
    index.push_back(rewriter.Index(p.lists[dest.index.begin + d]));
    if (index.back() == kNone) return Inexpressible(p, block);
  }
  const std::optional<Provenance> provenance = ProvenanceOf(p, block, iters, rewriter, extents.size());
  if (!provenance.has_value()) return Inexpressible(p, block);
  const Id combined = rewriter.Expression(value);
  const Range index_list = p.AddList(index);
  const Range accesses{static_cast<int32_t>(p.accesses.size()), 1};
  p.accesses.push_back({dest.buffer, index_list});
  const Range values = p.AddList({combined});
  p.block(producer).dests = accesses;
  p.block(producer).values = values;
  p.block(producer).provenance = *provenance;
  if (!box.empty() && !KILN_DEFECT("reverse-compute-inline.box")) {
    const Range domain = DomainOf(p, made.index, box, extents);
    p.block(producer).domain = domain;
  }
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
        "Replaces every read of the block's result by the block's body.\n"
        "B[i] = f(i); C[j] = g(B[h(j)])\n->\n"
        "C[j] = g(f(h(j)))\n"
        "Does not apply to reductions, to results of the program, or if the block writes at other "
        "indices than its iters.",
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
        "Inlines the only producer of a block into the block: the producer then does the work of both.\n"
        "B[i] = f(i); C[i] = g(B[i])\n->\n"
        "C[i] = g(f(i))\n"
        "B[i, k] = f(i, k); C[j] = g(B[j/4, j%4])\n->\n"
        "C[i*4 + k] = g(f(i, k))\n"
        "If the block reads a box of the producer's result, the producer computes the box alone.\n"
        "Does not apply if the producer is a reduction, has other readers, or is not read element by "
        "element.",
    .apply = ReverseComputeInline,
};
KILN_PRIMITIVE(kReverseComputeInline);

}  // namespace
}  // namespace kiln
