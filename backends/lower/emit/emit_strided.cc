// Emits loads of lanes with a small stride: whole registers are loaded once, and their elements are shuffled
// into place.
//
//   lanes 0 2 4 .. 14 of x   ->   a = x[0 .. 7], b = x[8 .. 15];  shuffle a, b [0 2 4 6 8 10 12 14]
#include <algorithm>

#include "backends/lower/emit/emit_access.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

// Returns the first offsets of windows of `width` elements that cover the ascending `offsets` and lie within `inside`.
// Where possible, a window begins at an offset which is a multiple of `align` after adding `phase`.
std::vector<int64_t> Windows(const std::vector<int64_t>& offsets, int64_t width, Interval inside,
                             int64_t align, int64_t phase) {
  std::vector<int64_t> starts;
  for (const int64_t offset : offsets) {
    if (!starts.empty() && offset < starts.back() + width) continue;
    const int64_t aligned = offset - DigitOf(offset + phase, 1, align);
    int64_t start = std::clamp(aligned, inside.min, inside.max - width + 1);
    if (offset >= start + width) start = offset - width + 1;
    starts.push_back(start);
  }
  return starts;
}

}  // namespace

mlir::Value MemoryEmitter::LoadWindow(Id buffer, const IndexValue& first, int64_t width) {
  IndexValue at = first;
  at.lanes.resize(width);
  for (int64_t lane = 0; lane < width; ++lane) at.lanes[lane] = lane;
  SharedLoads::Key key = SharedLoads::KeyOf(buffer, at);
  if (const Value known = loads_.Find(key)) return known;
  const Value window =
      mlir::vector::LoadOp::create(b_, mlir::VectorType::get({width}, ElementOf(buffer)), buffers_[buffer],
                                   mlir::ValueRange{indices_.Scalar(first)});
  loads_.Keep(std::move(key), window);
  return window;
}

// Emits a load of strided vector lanes as loads of whole registers and shuffles. Returns null, for the caller to load
// lane by lane, if the loads of registers are more than half as many as the distinct elements, if the elements are i1,
// if no whole register is proven to lie in the buffer, or if the elements between the lanes must not be read
// (ReadLanesAlone).
mlir::Value MemoryEmitter::LoadStrided(Id buffer, const IndexValue& at) {
  const DType type = code_.program().buffers[buffer].dtype;
  if (type == DType::kI1 || lanes_alone_.contains(buffer)) return {};
  const int64_t width = std::max<int64_t>(2, code_.options().vector_bytes / SizeOf(type));
  const IndexValue first = at.Uniform();
  const auto [least, most] = std::minmax_element(at.lanes.begin(), at.lanes.end());
  const Interval base = code_.indices().RangeOf(first);
  const Interval inside{std::min(-base.min, *least),
                        std::max(code_.plan().buffers[buffer].elements - 1 - base.max, *most)};
  if (inside.max - inside.min + 1 < width) return {};

  Value result;
  for (int64_t begin = 0; begin < code_.lanes(); begin += width) {
    const int64_t count = std::min(width, code_.lanes() - begin);
    std::vector<int64_t> offsets(at.lanes.begin() + begin, at.lanes.begin() + begin + count);
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    const std::vector<int64_t> starts =
        Windows(offsets, width, inside, std::max<int64_t>(1, at.stride().value_or(1)), first.constant);
    if (2 * starts.size() > offsets.size() && offsets.size() > 1) return {};
    Value part;
    llvm::SmallVector<int64_t> lanes(count, mlir::vector::ShuffleOp::kPoisonIndex);  // of `part`
    for (size_t w = 0; w < starts.size(); ++w) {
      IndexValue start = first;
      start.constant += starts[w];
      const Value window = LoadWindow(buffer, start, width);
      for (int64_t lane = 0; lane < count; ++lane) {
        const int64_t offset = at.lanes[begin + lane] - starts[w];
        if (lanes[lane] < 0 && offset >= 0 && offset < width) lanes[lane] = (w > 0 ? width : 0) + offset;
      }
      const bool last = w + 1 == starts.size();
      if (w == 0 && !last) {
        part = window;
        continue;
      }
      llvm::SmallVector<int64_t> mask = lanes;
      if (!last) mask.resize(width, mlir::vector::ShuffleOp::kPoisonIndex);
      part = mlir::vector::ShuffleOp::create(b_, w > 0 ? part : window, window, mask);
      for (int64_t lane = 0; lane < count; ++lane) {
        if (lanes[lane] >= 0) lanes[lane] = lane;
      }
    }
    if (count == code_.lanes()) return part;
    if (!result) {
      const auto whole = mlir::VectorType::get({code_.lanes()}, ElementOf(buffer));
      result = mlir::ub::PoisonOp::create(b_, whole);
    }
    result = mlir::vector::InsertStridedSliceOp::create(b_, part, result, llvm::ArrayRef<int64_t>{begin},
                                                        llvm::ArrayRef<int64_t>{1});
  }
  return result;
}

}  // namespace kiln
