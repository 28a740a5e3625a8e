#include "lang/graph/densify_strided_reads.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// The elements of a dimension that are read: `count` elements, every step-th from `first` on. If the index is
// not of that form, or only a guard keeps it in bounds: all `size` elements with step 1.
struct Steps {
  int64_t first = 0, step = 1, count = 0;
};

Steps StepsOf(const Program& p, const std::vector<int64_t>& extents, Id mark, int64_t size) {
  const IndexSum sum = p.SumOf(mark);
  const bool plain = std::all_of(sum.splits.begin(), sum.splits.end(), [](const IndexSplit& s) {
    return s.scale > 0 && s.lower == 1 && s.extent == 0;
  });
  int64_t step = 0, most = sum.offset;
  for (const IndexSplit& split : sum.splits) {
    if (extents[split.source.id] == 1) continue;
    step = std::gcd(step, split.scale);
    most += split.scale * (extents[split.source.id] - 1);
  }
  if (!plain || step <= 1 || sum.offset < 0 || most >= size) return {0, 1, size};
  return {sum.offset % step, step, (most - sum.offset % step) / step + 1};
}

// Returns a lower bound of how often the block reads each element of a load: the product of the extents of the spatial
// iters that are not in the load's index.
int64_t Reuse(const Program& p, Id block, Range index) {
  std::set<int> used;
  for (const Id mark : p.List(index)) {
    for (const IndexSplit& split : p.Splits(p.marks[mark].splits)) used.insert(split.source.id);
  }
  int64_t reuse = 1;
  const auto iters = p.Iters(p.block(block).iters);
  for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
    if (iters[i].kind == IterKind::kSpatial && !used.contains(i)) reuse *= iters[i].extent.Known();
  }
  return reuse;
}

// Adds the copy to[i] = from[first + i*step] before the nest of `block`. Returns the copying block.
Id AddCopy(Program& p, Id block, Id from, Id to, const std::vector<Steps>& steps) {
  const Id copy = AddCopyBlock(p, p.Text(p.buffers[to].name), to, to);
  std::vector<int32_t> index;
  for (int d = 0; d < static_cast<int>(steps.size()); ++d) {
    const IndexSum at = IndexSum::Constant(steps[d].first) + IndexSum::Of(Source::Iter(d), steps[d].step);
    index.push_back(p.AddMark(at, p.Dims(p.buffers[from].shape)[d]));
  }
  const DType dtype = p.exprs[p.List(p.block(copy).values)[0]].dtype;
  p.block(copy).values = p.AddList({p.AddExpr(Expr::Load(dtype, from, p.AddList(index)))});
  p.block(copy).provenance = {Provenance::Kind::kCompute, copy, {}};
  p.InsertBefore(NestOf(p, block), NestOver(p, copy, WholeRanges(p, copy), false));
  return copy;
}

}  // namespace

std::vector<Id> DensifyStridedReads(Program& p, Id block, const CostTable& costs) {
  std::vector<Id> copies;
  if (p.block(block).monoid == kNone) return copies;
  const std::vector<int64_t> extents = IterExtents(p, block);
  const std::vector<Id> written = WrittenBuffers(p, block);
  for (const Id load : Loads(p, block)) {
    const DType dtype = p.exprs[load].dtype;
    const auto [from, at_marks] = p.exprs[load].AsLoad();
    if (absl::c_linear_search(written, from)) continue;
    std::vector<Steps> steps;
    std::vector<Extent> shape;
    std::vector<int32_t> index;
    for (const Id mark : p.List(at_marks)) {
      const int64_t size = p.Dims(p.buffers[from].shape)[steps.size()].Known();
      const Steps& own = steps.emplace_back(StepsOf(p, extents, mark, size));
      IndexSum at = p.SumOf(mark);
      if (own.step > 1) {
        const auto is_unit = [&](const IndexSplit& s) { return extents[s.source.id] == 1; };
        at.splits.erase(std::remove_if(at.splits.begin(), at.splits.end(), is_unit), at.splits.end());
        for (IndexSplit& split : at.splits) split.scale /= own.step;
        at.offset = (at.offset - own.first) / own.step;
      }
      shape.push_back(Extent(own.count));
      index.push_back(p.AddMark(at, shape.back()));
    }
    const bool apart = std::any_of(steps.begin(), steps.end(), [](const Steps& s) { return s.step > 1; });
    if (!apart || Reuse(p, block, at_marks) < costs.dense_reuse) continue;
    const std::string name = p.FreshName(absl::StrCat(p.Text(p.buffers[from].name), ".dense"));
    const Id to = p.AddBuffer(name, dtype, shape, Role::kTemporary);
    copies.push_back(AddCopy(p, block, from, to, steps));
    p.exprs[load] = Expr::Load(dtype, to, p.AddList(index));
  }
  if (copies.empty()) return copies;
  p.expr_index.Rebuild(p.exprs);
  return copies;
}

}  // namespace kiln
