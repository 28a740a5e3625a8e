// reindex
//
//   C[h(i)] = f(A[g(i)])      -- reindex 0 -->        A.reindex[i] = A[g(i)]
//                                                     C[h(i)] = f(A.reindex[i])
//
//   C[h(i)] = f(i)            -- reindex -1 -->       C.reindex[i] = f(i)
//                                                     C[h(i)] = C.reindex[i]
//
// Here i are the iters that the index uses, in the block's order. Einsums and intrinsics require this form
// of their operands.
#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/guards.h"
#include "lang/analysis/placement.h"
#include "lang/program/text_names.h"
#include "lang/schedule/place.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

// What reindex replaces: the index of a buffer, as sums over the block's iters, of which `iters` occur in it. The copy
// goes to the node `scope`.
struct Reindexed {
  Id buffer = kNone, scope = kNone;
  std::vector<IndexSum> index;
  std::vector<int> iters;
  std::vector<DimRange> ranges;  // ranges of these iters in one iteration of the scope
};

absl::StatusOr<Reindexed> ReadOf(const Program& p, Id block, int64_t operand) {
  Reindexed r;
  const std::vector<Id> read = ReadBuffers(p, block);
  if (operand >= static_cast<int64_t>(read.size()))
    return No(
        absl::StrCat(Describe(p, block), " reads ", read.size(), " buffers; there is no operand ", operand));
  r.buffer = read[operand];
  if (GathersFrom(p, block, r.buffer))
    return No(absl::StrCat(Describe(p, block), " reads ", p.Text(p.buffers[r.buffer].name),
                           " at computed indices"));
  bool first = true;
  for (const Id load : LoadsOf(p, block, r.buffer)) {
    const Expr& e = p.exprs[load];
    std::vector<IndexSum> index;
    for (const Id mark : p.List(e.AsLoad().index)) index.push_back(p.SumOf(mark));
    if (!first && index != r.index)
      return No(absl::StrCat(Describe(p, block), " reads ", p.Text(p.buffers[r.buffer].name),
                             " at several indices"));
    r.index = index;
    first = false;
  }
  for (const Id writer : Writers(p, r.buffer)) {
    if (!Before(p, writer, block)) return No(absl::StrCat(Describe(p, writer), " writes it later"));
  }
  r.scope = ScopeOfWriters(p, block, r.buffer);
  return r;
}

absl::StatusOr<Reindexed> WriteOf(const Program& p, Id block) {
  Reindexed r;
  if (p.block(block).dests.count != 1) return No(absl::StrCat(Describe(p, block), " has several results"));
  const Access& dest = p.Accesses(p.block(block).dests)[0];
  r.buffer = dest.buffer;
  if (Writers(p, r.buffer).size() != 1)
    return No(absl::StrCat(p.Text(p.buffers[r.buffer].name), " has other writers"));
  for (const Id mark : p.List(dest.index)) r.index.push_back(p.SumOf(mark));
  const bool simple = std::all_of(r.index.begin(), r.index.end(), [](const IndexSum& sum) {
    return sum.splits.empty() ||
           (sum.splits.size() == 1 && sum.splits[0] == IndexSplit{sum.splits[0].source});
  });
  const auto iters = p.Iters(p.block(block).iters);
  std::vector<int> named(iters.size(), 0);
  for (const IndexSum& sum : r.index) {
    for (const IndexSplit& split : sum.splits) ++named[split.source.id];
  }
  bool distinct = simple || IsBijective(IndexMap{IterExtents(p, block), r.index});
  for (size_t i = 0; i < iters.size(); ++i) {
    const bool spatial = iters[i].kind == IterKind::kSpatial && iters[i].extent.Known() > 1;
    if ((spatial && named[i] == 0) || (simple && named[i] > 1)) distinct = false;
  }
  if (!distinct) return No(absl::StrCat("instances of ", Describe(p, block), " may write the same element"));
  r.scope = ScopeOfReaders(p, block);
  return r;
}

absl::Status Complete(const Program& p, Id block, Reindexed& r) {
  if (p.block(block).domain.count != 0) return No("the block's instances are not a box");
  if (const absl::Status status = CheckNotWithin(p, r.scope); !status.ok()) return status;
  const std::vector<int64_t> extents = IterExtents(p, block);
  const auto shape = p.Dims(p.buffers[r.buffer].shape);
  std::vector<bool> named(extents.size(), false);
  for (size_t d = 0; d < r.index.size(); ++d) {
    const Interval bounds = Bounds(r.index[d], [&](Source s) { return extents[s.id]; });
    if (bounds.min < 0 || bounds.max >= shape[d].Known())
      return No(absl::StrCat("it accesses ", p.Text(p.buffers[r.buffer].name), " within bounds only"));
    for (const IndexSplit& split : r.index[d].splits) named[split.source.id] = true;
  }
  for (size_t i = 0; i < named.size(); ++i) {
    if (named[i]) r.iters.push_back(static_cast<int>(i));
  }
  const Bindings bindings = ResolveBindings(p, block);
  // Lets the copy cover the iters' extents, without checks for gaps, if no block writes the buffer: all elements of a
  // parameter are there from the start.
  const bool whole = Writers(p, r.buffer).empty();
  if (!whole &&
      (HasInnerGuards(p, bindings) || (p.IsLoop(r.scope) && !EmptyingIters(p, bindings, r.scope).empty()))) {
    return No(absl::StrCat("some tiles of ", Describe(p, block),
                           " are empty, or imperfect at more than their last level"));
  }
  for (const int i : r.iters) {
    const std::optional<DimRange> range = IterRange(p, bindings, i, r.scope);
    if (whole) {
      r.ranges.push_back({IndexSum::Constant(0), extents[i]});
    } else if (!range.has_value() || !range->dense) {
      return No(absl::StrCat("one iteration of ", Describe(p, r.scope), " has a part with gaps of iter ",
                             p.Text(p.Iters(p.block(block).iters)[i].name)));
    } else {
      r.ranges.push_back(Clipped(*range, extents[i]));
    }
  }
  return absl::OkStatus();
}

// Returns a detached block, without loops, that copies r.buffer to `reindexed`, or back if not `reads`. It accesses
// r.buffer at the index of the original block, and `reindexed` at one iter for each dimension.
Id AddCopy(Program& p, Id block, const Reindexed& r, Id reindexed, bool reads) {
  BlockNode copy;
  std::vector<int32_t> own, given;
  copy.iters = {static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(r.iters.size())};
  for (size_t i = 0; i < r.iters.size(); ++i) {
    const Iter iter = p.iters[p.block(block).iters.begin + r.iters[i]];
    p.iters.push_back({iter.name, iter.extent, IterKind::kSpatial, kNone});
    own.push_back(p.AddMark(IndexSum::Of(Source::Iter(static_cast<int32_t>(i))), iter.extent));
  }
  for (size_t d = 0; d < r.index.size(); ++d) {
    IndexSum sum = r.index[d];
    for (IndexSplit& split : sum.splits) {
      const auto at = std::find(r.iters.begin(), r.iters.end(), split.source.id) - r.iters.begin();
      split.source = Source::Iter(static_cast<int32_t>(at));
    }
    given.push_back(p.AddMark(sum, p.Dims(p.buffers[r.buffer].shape)[d]));
  }
  const Id source = reads ? r.buffer : reindexed, dest = reads ? reindexed : r.buffer;
  const Range from = p.AddList(reads ? given : own), to = p.AddList(reads ? own : given);
  copy.name = p.AddName(p.FreshName(reads ? std::string(p.Text(p.buffers[reindexed].name))
                                          : absl::StrCat(p.Text(p.block(block).name), ".copy")));
  copy.values = p.AddList({p.AddExpr(Expr::Load(p.buffers[source].dtype, source, from))});
  copy.dests = {static_cast<int32_t>(p.accesses.size()), 1};
  p.accesses.push_back({dest, to});
  copy.provenance = {Provenance::Kind::kCopy, source, {}};
  return p.AddBlock(copy);
}

void Redirect(Program& p, Id block, Id buffer, Id reindexed, Range index) {
  const auto load = [&](const Expr& e) {
    return e.AsLoad().buffer != buffer ? kNone : p.AddExpr(Expr::Load(e.dtype, reindexed, index));
  };
  BodyRewriter rewriter(p, load, [](int i) { return IndexSum::Of(Source::Iter(i)); }, IterExtents(p, block));
  const Range values = rewriter.Expressions(p.block(block).values);
  const Range initial = rewriter.Expressions(p.block(block).initial);
  p.block(block).values = values;
  p.block(block).initial = initial;
}

absl::Status Reindex(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  const bool reads = call.Int(0) >= 0;
  const absl::StatusOr<Storage> storage = StorageNamed(call.Text(1));
  if (!storage.ok()) return storage.status();
  absl::StatusOr<Reindexed> r = reads ? ReadOf(p, block, call.Int(0)) : WriteOf(p, block);
  if (!r.ok()) return r.status();
  const absl::Status status = Complete(p, block, *r);
  if (!status.ok()) return status;

  std::vector<Extent> shape;
  for (const int i : r->iters) shape.push_back(p.iters[p.block(block).iters.begin + i].extent);
  const std::string name = p.FreshName(absl::StrCat(p.Text(p.buffers[r->buffer].name), ".reindex"));
  const Id reindexed =
      p.AddBuffer(name, p.buffers[r->buffer].dtype, shape, Role::kTemporary, ScopeOf(*storage));
  const bool tainted = AnyTainted(p, block);
  const Id copy = AddCopy(p, block, *r, reindexed, reads);
  std::vector<int32_t> own;
  for (size_t i = 0; i < r->iters.size(); ++i)
    own.push_back(p.AddMark(IndexSum::Of(Source::Iter(r->iters[i])), shape[i]));
  const Range index = p.AddList(own);
  const Id nest = NestOver(p, copy, r->ranges, tainted), child = ChildTowards(p, r->scope, block);
  if (reads) {
    Redirect(p, block, r->buffer, reindexed, index);
    p.InsertBefore(child, nest);
  } else {
    p.block(block).dests = {static_cast<int32_t>(p.accesses.size()), 1};
    p.accesses.push_back({reindexed, index});
    p.InsertAfter(child, nest);
  }
  call.Return(copy);
  return absl::OkStatus();
}

const Primitive kReindex{
    .name = "reindex",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"operand", int64_t{0}}, {"storage", std::string("global")}},
    .result = HandleKind::kBlock,
    .result_names = "copy",
    .doc =
        "Copies the operand-th buffer that a block reads (-1: the buffer that it writes) from or to a "
        "new buffer. The block indexes the new buffer directly by its iters: those that the old index "
        "uses, in the order of the block.\n"
        "C[h(i)] = f(A[g(i)])\n->\n"
        "A.reindex[i] = A[g(i)]; C[h(i)] = f(A.reindex[i])\n"
        "Does not apply if the block reads the buffer at several indices or only within bounds, if it "
        "may write an element more than once, or if the buffer has later writers.",
    .apply = Reindex,
};
KILN_PRIMITIVE(kReindex);

}  // namespace
}  // namespace kiln
