#include "search/features/accesses_of_line.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace kiln {
namespace {

class Line {
 public:
  Line(const LoopNestSummary& nests, const NestBlock& block, int64_t vector_bytes)
      : nests_(nests), block_(block), path_(nests.path(block)), vector_bytes_(vector_bytes) {
    first_ = block.depth;
    while (first_ > 0 && (At(first_ - 1).extent == 1 || At(first_ - 1).kind == LoopKind::kUnrolled ||
                          At(first_ - 1).kind == LoopKind::kVectorized))
      --first_;
    for (int d = first_; d < block.depth; ++d)
      if (At(d).kind == LoopKind::kVectorized && At(d).extent > 1) lane_loop_ = d;
    if (lane_loop_ >= 0) lanes_ = At(lane_loop_).extent;
  }

  LineAccesses Count() const {
    LineAccesses line;
    for (int d = first_; d < block_.depth; ++d) line.instances *= static_cast<double>(At(d).extent);
    for (const NestAccess& access : nests_.accesses(block_)) Add(access, line);
    if (!nests_.accesses(block_).empty()) line.run = Run(nests_.accesses(block_).back());
    return line;
  }

 private:
  const NestLoop& At(int depth) const { return nests_.loops()[path_[depth]]; }

  void Add(const NestAccess& access, LineAccesses& line) const {
    const Buffer& buffer = nests_.program().buffers[access.buffer];
    if (buffer.scope.storage == Storage::kRegister) return;
    const bool result = access.reads && access.writes;
    const auto [accesses, shuffles] = Cost(access, SizeOf(buffer.dtype));
    line.shuffles += result ? 0 : shuffles;
    if (access.reads) (result ? line.result_loads : line.loads) += accesses;
    if (access.writes) (result ? line.result_stores : line.stores) += accesses;
  }

  struct Instructions {
    double accesses = 0, shuffles = 0;
  };

  Instructions Cost(const NestAccess& access, int64_t bytes) const {
    double copies = 1, others = 1, span = 1;  // others: along the axes that the lanes do not move along
    bool moves = false;
    for (const NestAxis& axis : nests_.axes(access)) {
      const Places places = PlacesOf(axis);
      copies *= places.count;
      (places.by_lane ? span : others) *= places.by_lane ? places.span : places.count;
      moves |= places.by_lane;
    }
    if (!moves) return {copies, 0};
    const int64_t width = std::max<int64_t>(1, vector_bytes_ / bytes);
    const int64_t full = lanes_ / width, rest = lanes_ % width;
    const auto registers = static_cast<double>(full + (rest != 0)), lanes = static_cast<double>(lanes_);
    const auto step = static_cast<double>(std::abs(nests_.Stride(access, lane_loop_)));
    const bool masked = (access.within & LoopNestSummary::Bit(lane_loop_)) != 0;
    if (step == 1) {
      const auto pieces = static_cast<double>(full + std::popcount(static_cast<uint64_t>(rest)));
      return masked ? Instructions{copies * registers, 0}
                    : Instructions{copies * pieces, copies * (pieces - registers)};
    }
    // Counts a masked access with a step as a gather: for each lane, one load and two shuffles, which take out the
    // address and put in the element.
    if (masked) return {copies * lanes, 2 * copies * lanes};
    const double lanes_of_register = std::min(lanes, static_cast<double>(width));
    const double windows = std::ceil(step * lanes_of_register / static_cast<double>(width));
    if (step == 0 || 2 * windows > lanes_of_register || access.writes)
      return {copies * lanes, copies * lanes};
    return {std::min(copies * registers * windows, others * std::ceil(span / static_cast<double>(width))),
            copies * registers * windows};
  }

  // Where the straight line accesses a buffer along one axis: the number of different places of the first lane, the
  // elements from the first place to the last of all lanes, and whether the lanes move along the axis.
  struct Places {
    double count = 1, span = 1;
    bool by_lane = false;
  };
  Places PlacesOf(const NestAxis& axis) const {
    double product = 1, reach = 0, lane_reach = 0;
    int64_t step = 0;
    Places places;
    for (const NestTerm& term : nests_.terms(axis)) {
      const NestLoop& loop = nests_.loops()[term.loop];
      if (loop.depth < first_) continue;
      const double moved = std::abs(static_cast<double>(term.scale)) * static_cast<double>(term.values - 1);
      if (loop.depth == lane_loop_) {
        places.by_lane = true;
        lane_reach += moved;
        continue;
      }
      product *= static_cast<double>(term.values);
      reach += moved;
      step = std::gcd(step, term.scale);
    }
    if (step != 0) places.count = std::min(product, 1 + reach / static_cast<double>(step));
    places.span = 1 + reach + lane_reach;
    return places;
  }

  double Run(const NestAccess& result) const {
    const uint64_t indexed = nests_.Indexed(result);
    double run = 1;
    for (int d = block_.depth; d-- > 0;) {
      const bool moves = (indexed & LoopNestSummary::Bit(d)) != 0;
      if (At(d).extent == 1 || At(d).kind == LoopKind::kVectorized) continue;
      if (moves && At(d).kind != LoopKind::kUnrolled) break;
      if (!moves) run *= static_cast<double>(At(d).extent);
    }
    return run;
  }

  const LoopNestSummary& nests_;
  const NestBlock& block_;
  const absl::Span<const int32_t> path_;
  const int64_t vector_bytes_;
  int first_ = 0;       // depth of the outermost loop of the line
  int lane_loop_ = -1;  // depth of the vectorized loop
  int64_t lanes_ = 1;
};

}  // namespace

LineAccesses AccessesOfLine(const LoopNestSummary& nests, const NestBlock& block, int64_t vector_bytes) {
  return Line(nests, block, vector_bytes).Count();
}

}  // namespace kiln
