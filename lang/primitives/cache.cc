// cache-read, cache-write
//
//   C[..] = f(A[g(i)])      -- cache-read -->        A.cache[j] = A[j]
//                                                    C[..] = f(A.cache[g(i)])
//
//   C[h(i)] = f(i)          -- cache-write -->       C.local[h(i)] = f(i)
//                                                    C[j] = C.local[j]
//
// The copy is in the innermost scope that the block shares with some writer (cache-read) or reader (cache-write) of the
// buffer. It covers what the block reads or writes in one iteration of that scope; with readers=all, what all blocks
// that read the copy read. compute-at and reverse-compute-at can then move it.
#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/guards.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/base/unknown_name.h"
#include "lang/program/text_names.h"
#include "lang/schedule/place.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

Id AddCache(Program& p, Id buffer, absl::string_view suffix, Storage storage) {
  const Buffer old = p.buffers[buffer];
  const auto shape = p.Dims(old.shape);
  const std::string name = p.FreshName(absl::StrCat(p.Text(old.name), ".", suffix));
  return p.AddBuffer(name, old.dtype, std::vector<Extent>(shape.begin(), shape.end()), Role::kTemporary,
                     ScopeOf(storage));
}

// Returns the part of the region inside the buffer.
Region Clipped(const Program& p, Id buffer, Region region) {
  const auto shape = p.Dims(p.buffers[buffer].shape);
  for (size_t d = 0; d < region.size(); ++d) region[d] = Clipped(region[d], shape[d].Known());
  return region;
}

// True if it is proven that the writers together write every element of the buffer in the region.
bool AllWritten(const Program& p, const std::vector<Id>& writers, Id buffer, const Region& region) {
  Region written;
  for (const Id writer : writers) {
    const Bindings bindings = ResolveBindings(p, writer);
    if (!WritesItsRegion(p, bindings, buffer)) return false;
    written = Union(p, buffer, written, WrittenRegion(p, bindings, buffer, kRoot));
  }
  return IsDense(written) && Contains(written, region);
}

absl::StatusOr<Id> Computes(const Program& p, Id block) {
  const Id inner = InnerBlock(p, block);
  if (inner != kNone) return inner;
  return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " is around several blocks"));
}

// Returns the buffer that is the block's operand with this number, in order of first use. kFailedPrecondition if there
// is none.
absl::StatusOr<Id> OperandBuffer(const Program& p, Id block, int64_t operand) {
  const std::vector<Id> read = ReadBuffers(p, block);
  if (operand >= 0 && operand < static_cast<int64_t>(read.size())) return read[operand];
  return absl::FailedPreconditionError(
      absl::StrCat(Describe(p, block), " reads ", read.size(), " buffers; there is no operand ", operand));
}

// Checks that a copy of the buffer before the block would hold the values that the block reads: the block neither
// gathers from the buffer nor writes it, and every writer comes before the block.
absl::Status CheckWrittenBefore(const Program& p, Id block, Id buffer) {
  if (GathersFrom(p, block, buffer)) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " reads ", p.Text(p.buffers[buffer].name), " at computed indices"));
  }
  for (const Id writer : Writers(p, buffer)) {
    if (writer == block) return absl::FailedPreconditionError("the block writes it too");
    if (!Before(p, writer, block))
      return absl::FailedPreconditionError(absl::StrCat(Describe(p, writer), " writes it later"));
  }
  return absl::OkStatus();
}

// Checks that a copy of the region reads only elements that are written before. This is certain if nothing writes the
// buffer (an input), or if the block reads the region without gaps. With gaps, the writers must write all of the
// region, and `scope` must not be a loop.
absl::Status CheckNoGaps(const Program& p, const Bindings& bindings, Id buffer, Id scope,
                         const Region& region) {
  const Id block = bindings.block;
  const std::vector<Id> writers = Writers(p, buffer);
  const bool gaps =
      !writers.empty() &&
      (!IsDense(region) || HasInnerGuards(p, bindings) || !EmptyingIters(p, bindings, scope).empty() ||
       p.block(block).domain.count != 0 || ReadsLessThanRegion(p, bindings, buffer));
  if (!gaps || KILN_DEFECT("cache-read.gaps")) return absl::OkStatus();
  if (p.IsLoop(scope)) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " reads with gaps what is written in ", Describe(p, scope)));
  }
  if (AllWritten(p, writers, buffer, region)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " and ", Describe(p, writers[0]),
                                                    " leave gaps in ", p.Text(p.buffers[buffer].name),
                                                    ", which a copy would read"));
}

// Makes the block load from `cache` instead of `buffer`, at the same indices.
void Redirect(Program& p, Id block, Id buffer, Id cache) {
  BodyRewriter redirect(
      p,
      [&](const Expr& e) -> Id {
        const auto [from, index] = e.AsLoad();
        return from != buffer ? kNone : p.AddExpr(Expr::Load(e.dtype, cache, index));
      },
      [](int i) { return IndexSum::Of(Source::Iter(i)); }, IterExtents(p, block));
  const Range values = redirect.Expressions(p.block(block).values);
  const Range initial = redirect.Expressions(p.block(block).initial);
  p.block(block).values = values;
  p.block(block).initial = initial;
}

// Returns the blocks that read the copy of a buffer which is made for `block`: the block itself and, if `all`, the
// later blocks in the scope that read the buffer.
std::vector<Id> ReadersOfCopy(const Program& p, Id block, Id buffer, Id scope, bool all) {
  std::vector<Id> readers{block};
  if (!all) return readers;
  for (const Id other : Readers(p, buffer)) {
    if (other != block && IsAncestor(p, scope, other) && Before(p, block, other)) readers.push_back(other);
  }
  return readers;
}

// Returns the region of the buffer that one copy for all readers must hold, in one iteration of `scope`. Returns an
// error if a copy would not have the values that a reader reads. The caller has checked the first reader with
// CheckWrittenBefore.
absl::StatusOr<Region> RegionOfCopy(const Program& p, const std::vector<Id>& readers, Id buffer, Id scope) {
  Region region;
  std::vector<Bindings> bindings;
  for (const Id reader : readers) {
    if (reader != readers[0]) {
      if (absl::Status status = CheckWrittenBefore(p, reader, buffer); !status.ok()) return status;
    }
    bindings.push_back(ResolveBindings(p, reader));
    region = Union(p, buffer, region, Clipped(p, buffer, ReadRegion(p, bindings.back(), buffer, scope)));
  }
  for (const Bindings& of_reader : bindings) {
    const absl::Status status = CheckNoGaps(p, of_reader, buffer, scope, region);
    if (!status.ok()) return status;
  }
  return region;
}

absl::Status CacheRead(Call& call) {
  Program& p = call.program();
  const absl::StatusOr<Id> computes = Computes(p, call.node(0));
  if (!computes.ok()) return computes.status();
  const Id block = *computes;
  const absl::StatusOr<Id> operand = OperandBuffer(p, block, call.Int(0));
  if (!operand.ok()) return operand.status();
  const Id buffer = *operand;
  const absl::StatusOr<Storage> storage = StorageNamed(call.Text(1));
  if (!storage.ok()) return storage.status();
  constexpr absl::string_view kReaders[] = {"one", "all"};
  const bool all = call.Text(2) == "all";
  if (!all && !call.Text(2).empty() && call.Text(2) != "one")
    return absl::InvalidArgumentError(UnknownName("readers", call.Text(2), kReaders));
  if (absl::Status status = CheckWrittenBefore(p, block, buffer); !status.ok()) return status;
  const Id scope = ScopeOfWriters(p, block, buffer);
  if (absl::Status status = CheckNotWithin(p, scope); !status.ok()) return status;
  const std::vector<Id> readers = ReadersOfCopy(p, block, buffer, scope, all);
  const absl::StatusOr<Region> region = RegionOfCopy(p, readers, buffer, scope);
  if (!region.ok()) return region.status();
  const Id cache = AddCache(p, buffer, "cache", *storage);
  const Id copy = AddCopyBlock(p, p.Text(p.buffers[cache].name), buffer, cache);
  p.InsertBefore(ChildTowards(p, scope, block), NestOver(p, copy, *region, AnyTainted(p, block)));
  for (const Id reader : readers) Redirect(p, reader, buffer, cache);
  call.Return(copy);
  return absl::OkStatus();
}

absl::Status CacheWrite(Call& call) {
  Program& p = call.program();
  const absl::StatusOr<Id> computes = Computes(p, call.node(0));
  if (!computes.ok()) return computes.status();
  const Id block = *computes;
  const absl::StatusOr<Storage> storage = StorageNamed(call.Text(0));
  if (!storage.ok()) return storage.status();
  if (p.block(block).dests.count != 1)
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " has several results"));
  const Id buffer = p.Accesses(p.block(block).dests)[0].buffer;
  if (Writers(p, buffer).size() != 1) {
    return absl::FailedPreconditionError(absl::StrCat(p.Text(p.buffers[buffer].name), " has other writers"));
  }
  const Id scope = ScopeOfReaders(p, block);
  if (const absl::Status status = CheckNotWithin(p, scope); !status.ok()) return status;
  const Bindings bindings = ResolveBindings(p, block);
  if (HasInnerGuards(p, bindings) || !EmptyingIters(p, bindings, scope).empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "some tiles of ", Describe(p, block), " are empty, or imperfect at more than their last level"));
  }
  const Region region = Clipped(p, buffer, WrittenRegion(p, bindings, buffer, scope));
  if (!IsDense(region) && !KILN_DEFECT("cache-write.gaps")) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " writes with gaps in one iteration of ", Describe(p, scope)));
  }
  const Id after = ChildTowards(p, scope, block);
  const Id cache = AddCache(p, buffer, "local", *storage);
  const Range dests{static_cast<int32_t>(p.accesses.size()), 1};
  p.accesses.push_back({cache, p.Accesses(p.block(block).dests)[0].index});
  p.block(block).dests = dests;
  const Id copy = AddCopyBlock(p, absl::StrCat(p.Text(p.block(block).name), ".copy"), cache, buffer);
  p.InsertAfter(after, NestOver(p, copy, region, AnyTainted(p, block)));
  call.Return(copy);
  return absl::OkStatus();
}

const Primitive kCacheRead{
    .name = "cache-read",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"operand", int64_t{0}},
                   {"storage", std::string("global")},
                   {"readers", std::string(), true}},
    .result = HandleKind::kBlock,
    .result_names = "copy",
    .doc =
        "Copies the operand-th buffer that a block reads (in order of first use) to a new buffer. The "
        "block then reads the new buffer. With readers=all, later blocks in the same scope that read the "
        "old buffer read the new one too.\n"
        "C[..] = f(A[g(i)])\n->\n"
        "A.cache[j] = A[j]; C[..] = f(A.cache[g(i)])\n"
        "Does not apply if a later block writes the buffer, or if the block reads it at computed indices.",
    .apply = CacheRead,
};
KILN_PRIMITIVE(kCacheRead);

const Primitive kCacheWrite{
    .name = "cache-write",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"storage", std::string("global")}},
    .result = HandleKind::kBlock,
    .result_names = "copy",
    .doc =
        "Lets a block write to a new buffer. A new block copies the new buffer to the old one.\n"
        "C[h(i)] = f(i)\n->\n"
        "C.local[h(i)] = f(i); C[j] = C.local[j]\n"
        "Does not apply if the buffer has other writers, or if the block has several results.",
    .apply = CacheWrite,
};
KILN_PRIMITIVE(kCacheWrite);

}  // namespace
}  // namespace kiln
