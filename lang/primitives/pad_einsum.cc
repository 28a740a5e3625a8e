// pad-einsum
//
//   for i in 0..6: for k in 0..9: C[i] sum= A[i, k] * B[k]
//   ->
//   for i in 0..8: for k in 0..12: A.pad[i, k] = (i<6, k<9 ? A[i, k] : 0)
//   for k in 0..12: B.pad[k] = (k<9 ? B[k] : 0)
//   for i in 0..8: for k in 0..12: C.pad[i] sum= A.pad[i, k] * B.pad[k]
//   for i in 0..6: C[i] = C.pad[i]
//
// Rounds extents up to multiples, so that tiles and intrinsics fit without guards.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/program/expr_copier.h"
#include "lang/schedule/place.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

// Returns the iters that the indices are, one for each dimension. Returns an empty list if an index is anything but an
// iter, or two are the same iter.
std::vector<int> ItersOf(const Program& p, Range index) {
  std::vector<int> iters;
  for (const Id mark : p.List(index)) {
    const std::optional<SimpleIndex> simple = AsSimpleIndex(p, mark);
    if (!simple.has_value() || simple->offset != 0 ||
        std::count(iters.begin(), iters.end(), simple->iter) > 0)
      return {};
    iters.push_back(simple->iter);
  }
  return iters;
}

// Collects the loads of which the value is a product, each once, looking through casts. Returns false if the value is
// no product of loads, or the indices of a load are not distinct iters, or a load has no indices. `seen` has the
// expressions that were visited.
bool Factors(const Program& p, Id value, std::vector<Id>& loads, absl::flat_hash_set<Id>& seen) {
  if (!seen.insert(value).second) return true;
  const Expr& e = p.exprs[value];
  if (e.op == Op::kMul) return Factors(p, e.operand(0), loads, seen) && Factors(p, e.operand(1), loads, seen);
  if (e.op == Op::kCast) return Factors(p, e.operand(0), loads, seen);
  loads.push_back(value);
  return e.op == Op::kLoad && !ItersOf(p, e.AsLoad().index).empty();
}

struct Einsum {
  std::vector<Id> loads;
  std::vector<int64_t> extents;  // padded extents of the iters
  std::vector<Id> loops;         // loop of each iter
};

absl::Status CheckBlock(const Program& p, Id block, Einsum& einsum) {
  const BlockNode& b = p.block(block);
  absl::flat_hash_set<Id> seen;
  if (b.monoid == kNone || p.monoids[b.monoid].kind != Monoid::Kind::kSum || b.accumulates ||
      b.initial.count != 0 || b.domain.count != 0 || p.nodes[block].first != kNone ||
      !Factors(p, p.List(b.values)[0], einsum.loads, seen)) {
    return No(absl::StrCat(Describe(p, block),
                           " is not a sum of products of reads whose indices are distinct iters"));
  }
  const Access& dest = p.Accesses(b.dests)[0];
  if (Writers(p, dest.buffer).size() != 1) return No("the destination has other writers");
  std::vector<Id> scopes{ScopeOfReaders(p, block)};
  for (const Id load : einsum.loads) {
    const Id buffer = p.exprs[load].AsLoad().buffer;
    for (const Id writer : Writers(p, buffer)) {
      if (!Before(p, writer, block))
        return No(absl::StrCat(Describe(p, writer), " writes ", p.Text(p.buffers[buffer].name), " later"));
    }
    scopes.push_back(ScopeOfWriters(p, block, buffer));
  }
  if (const absl::Status status = CheckNotWithin(p, block); !status.ok()) return status;
  for (const Id scope : scopes) {
    if (p.IsLoop(scope))
      return No(
          absl::StrCat(Describe(p, scope), " is also around blocks that it reads from, or that read it"));
  }
  const auto iters = p.Iters(b.iters);
  for (size_t i = 0; i < iters.size(); ++i) {
    const IndexSum binding = p.SumOf(iters[i].binding);
    const Id loop = binding.splits.size() == 1 ? binding.splits[0].source.id : kNone;
    if (loop == kNone || !(binding == IndexSum::Of(Source::Loop(loop))) || !p.IsLoop(loop) ||
        BlocksBelow(p, loop).size() != 1 || !(p.loop(loop).extent == iters[i].extent)) {
      return No(
          absl::StrCat("iter ", p.Text(iters[i].name), " is not one loop of its own; pad before tiling"));
    }
    einsum.loops.push_back(loop);
  }
  return absl::OkStatus();
}

bool Indexes(const Program& p, size_t iter, Range index) {
  const std::vector<int> iters = ItersOf(p, index);
  return std::count(iters.begin(), iters.end(), static_cast<int>(iter)) > 0;
}

// Checks that iter i indexes the result if it is spatial, and does not if it is a reduction iter. An iter that has one
// value and is not padded may do either.
absl::Status CheckRole(const Program& p, Id block, size_t i, bool padded) {
  const Iter& iter = p.Iters(p.block(block).iters)[i];
  if (!padded && iter.extent.Known() == 1) return absl::OkStatus();
  if (Indexes(p, i, p.Accesses(p.block(block).dests)[0].index) == (iter.kind == IterKind::kSpatial))
    return absl::OkStatus();
  return No(absl::StrCat("iter ", p.Text(iter.name), " does not index the result"));
}

// Checks that the terms which padding adds to a reduction are 0: iter i indexes some factor, which is padded with
// zeros. All floats among the factors must be padded, since 0 times an infinite factor is NaN.
absl::Status CheckTerms(const Program& p, const Iter& iter, size_t i, const std::vector<Id>& loads) {
  bool padded = false;
  for (const Id load : loads) {
    const auto [buffer, index] = p.exprs[load].AsLoad();
    if (Indexes(p, i, index)) {
      padded = true;
    } else if (IsFloat(p.exprs[load].dtype)) {
      return No(absl::StrCat("iter ", p.Text(iter.name), " does not index ", p.Text(p.buffers[buffer].name),
                             ", which may be infinite where the others are padded with 0"));
    }
  }
  return padded ? absl::OkStatus() : No(absl::StrCat("iter ", p.Text(iter.name), " indexes nothing"));
}

absl::Status CheckPadded(const Program& p, Id block, const std::vector<int64_t>& multiples, Einsum& einsum) {
  const auto iters = p.Iters(p.block(block).iters);
  if (multiples.size() != iters.size() || std::any_of(multiples.begin(), multiples.end(), [](int64_t m) {
        return m < 1 || m > (int64_t{1} << 20);
      })) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", multiples.size(), " multiples, and ",
                                                   Describe(p, block), " has ", iters.size(),
                                                   " iters; each has a positive one"));
  }
  for (size_t i = 0; i < iters.size(); ++i) {
    const int64_t extent = iters[i].extent.Known();
    einsum.extents.push_back((extent + multiples[i] - 1) / multiples[i] * multiples[i]);
    const bool padded = einsum.extents[i] != extent;
    absl::Status status = CheckRole(p, block, i, padded);
    if (status.ok() && padded && iters[i].kind == IterKind::kReduction)
      status = CheckTerms(p, iters[i], i, einsum.loads);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Makes a nest over `shape` that copies dest[i...] = source[i...], or stores 0 where an index is not below its limit.
// Returns the nest, detached; `node` receives the copying block.
Id CopyNest(Program& p, absl::string_view name, Id source, Id dest, const std::vector<Extent>& shape,
            const std::vector<Extent>& limits, bool tainted, Id& node) {
  node = AddCopyBlock(p, name, source, dest);
  const auto from = p.Dims(p.buffers[source].shape), to = p.Dims(p.buffers[dest].shape);
  const std::vector<Extent> old(from.begin(), from.end()), target(to.begin(), to.end());
  std::vector<int32_t> read, written, bounds;
  for (size_t d = 0; d < shape.size(); ++d) {
    const IndexSum at = IndexSum::Of(Source::Iter(static_cast<int32_t>(d)));
    p.iters[p.block(node).iters.begin + static_cast<int32_t>(d)].extent = shape[d];
    read.push_back(p.AddMark(at, old[d]));
    written.push_back(p.AddMark(at, target[d]));
    if (shape[d].Known() > limits[d].Known()) bounds.push_back(p.AddMark(at, limits[d]));
  }
  const DType dtype = p.buffers[source].dtype;
  const Range read_list = p.AddList(read), bound_list = p.AddList(bounds), written_list = p.AddList(written);
  Id value = p.AddExpr(Expr::Load(dtype, source, read_list));
  if (!bounds.empty()) {
    const Id zero = p.List(p.monoids[p.AddMonoid(Monoid::Kind::kSum, dtype)].identity)[0];
    value = p.AddExpr(Expr::Within(dtype, bound_list, value, zero));
    p.block(node).provenance = {Provenance::Kind::kPadding, source, {}};
  }
  p.block(node).values = p.AddList({value});
  p.accesses[p.block(node).dests.begin].index = written_list;
  return NestOver(p, node, WholeRanges(p, node), tainted);
}

Id AddPadded(Program& p, Id buffer, const std::vector<Extent>& shape) {
  const std::string name = p.FreshName(absl::StrCat(p.Text(p.buffers[buffer].name), ".pad"));
  return p.AddBuffer(name, p.buffers[buffer].dtype, shape, Role::kTemporary);
}

// The shape of a buffer that the iters of an einsum index: with padded extents, and with the extents before.
struct Shape {
  std::vector<Extent> padded, plain;
};

Shape ShapeOf(const Program& p, Id block, const Einsum& einsum, Range index) {
  Shape shape;
  for (const int i : ItersOf(p, index)) {
    shape.padded.push_back(Extent(einsum.extents[i]));
    shape.plain.push_back(p.Iters(p.block(block).iters)[i].extent);
  }
  return shape;
}

Range PaddedIndex(Program& p, Range index, const std::vector<Extent>& shape) {
  std::vector<int32_t> marks;
  const std::vector<int> iters = ItersOf(p, index);
  for (size_t d = 0; d < iters.size(); ++d)
    marks.push_back(p.AddMark(IndexSum::Of(Source::Iter(iters[d])), shape[d]));
  return p.AddList(marks);
}

// Copies each operand that needs padding to a padded buffer, in a nest before that of the block. Returns a map from the
// block's loads to the loads of the padded buffers.
absl::flat_hash_map<Id, Id> PadReads(Call& call, Id block, const Einsum& einsum) {
  Program& p = call.program();
  const bool tainted = AnyTainted(p, block);
  absl::flat_hash_map<Id, Id> padded;
  for (const Id load : einsum.loads) {
    const DType dtype = p.exprs[load].dtype;
    const auto [source, at] = p.exprs[load].AsLoad();
    const auto [shape, limits] = ShapeOf(p, block, einsum, at);
    if (shape == limits) continue;
    const Id buffer = AddPadded(p, source, shape);
    Id pad = kNone;
    const std::string name(p.Text(p.buffers[buffer].name));
    const Id nest = CopyNest(p, name, source, buffer, shape, limits, tainted, pad);
    p.InsertBefore(ChildTowards(p, kRoot, block), nest);
    const Range index = PaddedIndex(p, at, shape);
    padded[load] = p.AddExpr(Expr::Load(dtype, buffer, index));
    call.Return(pad);
  }
  return padded;
}

// If the result has padded iters, lets the block write a padded buffer and copies the wanted part to the
// destination.
void CropResult(Call& call, Id block, const Einsum& einsum) {
  Program& p = call.program();
  const Access dest = p.Accesses(p.block(block).dests)[0];
  const auto [shape, cropped] = ShapeOf(p, block, einsum, dest.index);
  if (shape == cropped) return;
  const Id buffer = AddPadded(p, dest.buffer, shape);
  const Range index = PaddedIndex(p, dest.index, shape);
  p.block(block).dests = {static_cast<int32_t>(p.accesses.size()), 1};
  p.accesses.push_back({buffer, index});
  Id crop = kNone;
  const std::string name = absl::StrCat(p.Text(p.block(block).name), ".crop");
  const Id nest = CopyNest(p, name, buffer, dest.buffer, cropped, cropped, AnyTainted(p, block), crop);
  p.InsertAfter(ChildTowards(p, kRoot, block), nest);
  call.Return(crop);
}

void PadIters(Program& p, Id block, const Einsum& einsum) {
  const Range iters = p.block(block).iters;
  std::vector<int32_t> map;
  for (int i = 0; i < iters.count; ++i) {
    Iter& iter = p.iters[iters.begin + i];
    map.push_back(p.AddMark(IndexSum::Of(Source::Iter(i)), iter.extent));
    iter.extent = Extent(einsum.extents[i]);
    p.loop(einsum.loops[i]).extent = iter.extent;
    const Id binding = p.AddMark(IndexSum::Of(Source::Loop(einsum.loops[i])), iter.extent);
    p.iters[iters.begin + i].binding = binding;
  }
  if (p.block(block).provenance.map.count == 0) p.block(block).provenance.map = p.AddList(map);
}

absl::Status PadEinsum(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  Einsum einsum;
  absl::Status status = CheckBlock(p, block, einsum);
  if (status.ok()) status = CheckPadded(p, block, call.Ints(0), einsum);
  if (!status.ok()) return status;
  const absl::flat_hash_map<Id, Id> padded = PadReads(call, block, einsum);
  ExprCopier copier(p, p, {.replace = [&](Id load) {
                      const auto found = padded.find(load);
                      return found == padded.end() ? kNone : found->second;
                    }});
  const Range values = copier.Copy(p.block(block).values);
  p.block(block).values = values;
  CropResult(call, block, einsum);
  PadIters(p, block, einsum);
  return absl::OkStatus();
}

const Primitive kPadEinsum{
    .name = "pad-einsum",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"multiples", std::vector<int64_t>()}},
    .result = HandleKind::kBlock,
    .result_names = "pads ... crop",
    .doc =
        "Pads the extents of a sum of products to multiples, one for each iter. Copies its operands, "
        "padded with zeros, and crops its result. The returned blocks are the padding blocks, in the "
        "order of the reads, and the cropping block. Blocks that would pad nothing are left out.\n"
        "for i in 0..6: for k in 0..9: C[i] sum= A[i, k] * B[k]\n"
        "-> pad-einsum multiples=[8 4]\n"
        "for i in 0..8: for k in 0..12: A.pad[i, k] = (i < 6, k < 9 ? A[i, k] : 0)\n"
        "for k in 0..12: B.pad[k] = (k < 9 ? B[k] : 0)\n"
        "for i in 0..8: for k in 0..12: C.pad[i] sum= A.pad[i, k] * B.pad[k]\n"
        "for i in 0..6: C[i] = C.pad[i]\n"
        "Does not apply to other blocks, to blocks that are already tiled or share loops with blocks "
        "that they read from, or if a padded reduction iter of floats does not index one of the factors.",
    .apply = PadEinsum,
};
KILN_PRIMITIVE(kPadEinsum);

}  // namespace
}  // namespace kiln
