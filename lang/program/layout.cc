#include "lang/program/layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/base/defect.h"
#include "lang/program/text_names.h"

namespace kiln {
namespace {

constexpr int64_t kWarpLanes = 32, kGroupWarps = 4;
constexpr int kAddressBits = 40;

absl::Status CheckSwizzle(const Program& p, Id buffer) {
  const Swizzle s = p.buffers[buffer].layout.swizzle;
  if (s.bits == 0 && s.from == 0 && s.to == 0) return absl::OkStatus();
  const std::string what = absl::StrCat("the swizzle (", int{s.from}, ", ", int{s.to}, ", ", int{s.bits},
                                        ") of buffer ", p.Text(p.buffers[buffer].name), " ");
  if (s.from < 0 || s.to < 0 || s.bits < 1 || std::max(s.from, s.to) + s.bits > kAddressBits)
    return absl::FailedPreconditionError(absl::StrCat(what, "is of bits that no address has"));
  if (s.from == s.to)
    return absl::FailedPreconditionError(absl::StrCat(what, "clears the bits that it reads"));
  if (p.buffers[buffer].layout.axes.count == 0)
    return absl::FailedPreconditionError(absl::StrCat(what, "is of a layout without axes"));
  const int64_t elements = LayoutElements(p, buffer), chunk = int64_t{1} << (s.to + s.bits);
  if (!IsOneToOne(s, elements) && !KILN_DEFECT("transform-layout.swizzle")) {
    return absl::FailedPreconditionError(absl::StrCat(what, "moves elements out of the buffer: ", elements,
                                                      " elements are not a multiple of ", chunk));
  }
  return absl::OkStatus();
}

absl::Status CheckKinds(const Program& p, Id buffer) {
  const Buffer& b = p.buffers[buffer];
  if (b.layout.kinds.count == 0) return absl::OkStatus();
  int64_t lanes = 1, warps = 1;
  bool addresses = false, spread = false;
  for (int i = 0; i < b.layout.kinds.count; ++i) {
    const int32_t kind = p.lists[b.layout.kinds.begin + i];
    const int64_t extent = p.marks[p.lists[b.layout.axes.begin + i]].extent.UpperBound();
    if (kind < 0 || kind > static_cast<int32_t>(AxisKind::kWarp))
      return absl::FailedPreconditionError(absl::StrCat("there is no kind ", kind, " of axis"));
    addresses |= kind == static_cast<int32_t>(AxisKind::kAddress);
    spread |= kind != static_cast<int32_t>(AxisKind::kAddress);
    if (kind == static_cast<int32_t>(AxisKind::kLane)) lanes *= extent;
    if (kind == static_cast<int32_t>(AxisKind::kWarp)) warps *= extent;
  }
  const std::string what = absl::StrCat("the layout of buffer ", p.Text(b.name), " ");
  if (!spread) return absl::OkStatus();
  if (addresses) return absl::FailedPreconditionError(absl::StrCat(what, "mixes addresses with other axes"));
  if (b.layout.swizzle.bits != 0)
    return absl::FailedPreconditionError(absl::StrCat(what, "swizzles what has no address"));
  if (b.scope.storage != Storage::kWarp && b.scope.storage != Storage::kWarpgroup) {
    return absl::FailedPreconditionError(absl::StrCat(what, "is that of a fragment; but it is in ",
                                                      ToString(b.scope.storage),
                                                      " memory, not in warp or warpgroup"));
  }
  if (lanes > kWarpLanes)
    return absl::FailedPreconditionError(
        absl::StrCat(what, "has ", lanes, " lanes; a warp has ", kWarpLanes));
  const int64_t most = b.scope.storage == Storage::kWarpgroup ? kGroupWarps : 1;
  if (warps > most) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, "has ", warps, " warps; a ", ToString(b.scope.storage), " has ", most));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsOneToOne(Swizzle s, int64_t elements) {
  if (s.bits == 0) return true;
  if (s.from == s.to) return false;
  // Tests the addresses of an incomplete last block of 2^(to + bits) elements. Only they can leave the memory, because
  // the swizzle permutes each complete block within itself.
  const int64_t whole = elements - elements % (int64_t{1} << (s.to + s.bits));
  for (int64_t address = whole; address < elements; ++address)
    if (Swizzled(s, address) >= elements) return false;
  return true;
}

int64_t ElementsOf(const Program& program, Id buffer) {
  int64_t elements = 1;
  for (const Extent& extent : program.Dims(program.buffers[buffer].shape)) elements *= extent.UpperBound();
  return elements;
}

int64_t BytesOf(const Program& program, Id buffer) {
  return SizeOf(program.buffers[buffer].dtype) * ElementsOf(program, buffer);
}

int64_t LayoutElements(const Program& program, Id buffer) {
  const Buffer& b = program.buffers[buffer];
  if (b.layout.axes.count == 0) return ElementsOf(program, buffer);
  int64_t elements = 1;
  for (const Id axis : program.List(b.layout.axes)) elements *= program.marks[axis].extent.UpperBound();
  return elements;
}

absl::Status CheckLayout(const Program& program, Id buffer) {
  const absl::Status status = CheckSwizzle(program, buffer);
  return status.ok() ? CheckKinds(program, buffer) : status;
}

}  // namespace kiln
