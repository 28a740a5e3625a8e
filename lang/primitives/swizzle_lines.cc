// swizzle-lines
//
//   S[i, k] row-major, of which a tile is 64 columns of 2 bytes wide
//   -> S[i, k] in panels of 64 columns; chunk c of 8 elements in line l of a panel lies in place c ^ (l % 8)
//
// A line is 128 bytes, a chunk 16 bytes. The chunks of a column then lie in different banks of shared memory.
#include <algorithm>
#include <bit>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/program/layout.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

constexpr int64_t kLineBytes = 128, kChunkBytes = 16;

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

// Returns the width of a panel in elements: that of the tile which the block writes below the loops around all uses of
// the buffer, at most a line of 128 bytes. kFailedPrecondition if a tile's width is neither a multiple of 128 bytes nor
// 16, 32 or 64, or a tile does not begin at a multiple of the panel.
absl::StatusOr<int64_t> PanelOf(const Program& p, Id block, Id buffer) {
  std::vector<Id> users = Readers(p, buffer);
  users.push_back(block);
  const Region tile = WrittenRegion(p, ResolveBindings(p, block), buffer, LowestCommonAncestor(p, users));
  const int64_t size = SizeOf(p.buffers[buffer].dtype), width = tile.back().extent * size;
  const int64_t panel = std::min(width, kLineBytes);
  if (width % panel != 0 || panel % kChunkBytes != 0 || !std::has_single_bit(static_cast<uint64_t>(panel))) {
    return No(absl::StrCat("a tile of ", p.Text(p.buffers[buffer].name), " is ", width,
                           " bytes wide, which is no multiple of ", kLineBytes, ", and not 16, 32 or 64"));
  }
  const int64_t elements = panel / size;
  const bool aligned = tile.back().base.offset % elements == 0 &&
                       std::all_of(tile.back().base.splits.begin(), tile.back().base.splits.end(),
                                   [&](const IndexSplit& split) { return split.scale % elements == 0; });
  if (!aligned)
    return No(absl::StrCat("tiles of ", p.Text(p.buffers[buffer].name), " do not begin at multiples of ",
                           panel, " bytes"));
  return elements;
}

absl::Status SwizzleLines(Call& call) {
  Program& p = call.program();
  const Id block = InnerBlock(p, call.node(0));
  if (block == kNone || p.block(block).dests.count != 1)
    return No(absl::StrCat(Describe(p, call.node(0)), " does not have one result"));
  const Id buffer = p.Accesses(p.block(block).dests)[0].buffer;
  const Buffer& b = p.buffers[buffer];
  if (b.scope.storage != Storage::kShared || b.role != Role::kTemporary || b.shape.count == 0)
    return No(absl::StrCat(p.Text(b.name), " is not an array in shared memory"));
  if (b.layout.axes.count > 0) return No(absl::StrCat(p.Text(b.name), " has a layout already"));
  const absl::StatusOr<int64_t> panel = PanelOf(p, block, buffer);
  if (!panel.ok()) return panel.status();

  const Program before = p;
  const std::vector<Extent> shape(p.Dims(b.shape).begin(), p.Dims(b.shape).end());
  const int32_t last = b.shape.count - 1;
  std::vector<int32_t> axes;
  axes.push_back(
      p.AddMark({0, {{Source::Iter(last), 1, *panel, 0}}}, (shape[last].Known() + *panel - 1) / *panel));
  for (int32_t d = 0; d < last; ++d) axes.push_back(p.AddMark(IndexSum::Of(Source::Iter(d)), shape[d]));
  axes.push_back(p.AddMark({0, {{Source::Iter(last), 1, 1, *panel}}}, *panel));
  const int64_t size = SizeOf(b.dtype);
  Layout layout = b.layout;
  layout.axes = p.AddList(axes);
  layout.swizzle.from = static_cast<int8_t>(std::countr_zero(static_cast<uint64_t>(kLineBytes / size)));
  layout.swizzle.to = static_cast<int8_t>(std::countr_zero(static_cast<uint64_t>(kChunkBytes / size)));
  layout.swizzle.bits =
      static_cast<int8_t>(std::countr_zero(static_cast<uint64_t>(*panel * size / kChunkBytes)));
  p.buffers[buffer].layout = layout;
  const absl::Status status = CheckLayout(p, buffer);
  if (!status.ok()) p = before;
  return status;
}

const Primitive kSwizzleLines{
    .name = "swizzle-lines",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "",
    .doc =
        "Late. Lays out the tile that a block writes to shared memory, by its last dimension: panels of 128 "
        "bytes (or the whole width, if that is less), in which chunks of 16 bytes are permuted by the number "
        "of their line of 128 bytes, so that a column lies in different banks.\n"
        "S[i, k] row-major, 64 elements of 2 bytes wide\n->\n"
        "S[i, k] at (k/64, i, k%64), bits 3 .. 5 of the address XORed with bits 6 .. 8\n"
        "Does not apply to other storages, to a buffer with a layout, or to a tile whose width is neither a "
        "multiple of 128 bytes nor 16, 32 or 64 bytes.",
    .apply = SwizzleLines,
};
KILN_PRIMITIVE(kSwizzleLines);

}  // namespace
}  // namespace kiln
