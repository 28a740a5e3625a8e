#include "search/features/context.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "search/features/columns.h"
#include "search/features/operations.h"

namespace kiln {
namespace {

class ContextRow {
 public:
  ContextRow(const LoopNestSummary& nests, const Footprints& footprints, int number, float* row)
      : nests_(nests), feet_(footprints), number_(number), block_(nests.blocks()[number]), row_(row) {}

  void Fill() {
    const auto path = nests_.path(block_);
    for (int d = 0; d < block_.depth; ++d) {
      const NestLoop& loop = nests_.loops()[path[d]];
      if (loop.extent > 1) AddLoop(loop, d);
    }
    float* const plain = row_ + kContextSamples * kContextCurves;
    plain[0] = Log(feet_.Instances(number_, 0));
    plain[1] = Log(CountOperations(nests_, block_).arithmetic);
    for (int kind = 0; kind < 3; ++kind) {
      plain[2 + 2 * kind] = Log(product_[kind]);
      plain[3 + 2 * kind] = Log(longest_[kind]);
    }
    plain[8] = Log(static_cast<double>(path.size()));
    plain[9] = Log(lanes_apart_[0]);
    plain[10] = Log(lanes_apart_[1]);
    plain[11] = Log(static_cast<double>(feet_.touches(number_).size()));
    plain[12] = Log(innermost_);
    plain[13] = (block_.reduction & LoopNestSummary::Bit(innermost_depth_)) != 0 ? 1 : 0;
  }

 private:
  void AddLoop(const NestLoop& loop, int depth) {
    const double length = static_cast<double>(loop.extent);
    const double inside = feet_.Instances(number_, depth), outside = feet_.Instances(number_, 0) / inside;
    Relate(0, inside, length);
    Relate(1, outside, length);
    Relate(2, feet_.Bytes(number_, depth), inside);
    Relate(3, feet_.Bytes(number_, depth), outside);
    for (const Touch& touch : feet_.touches(number_)) {
      const double bytes = feet_.Bytes(touch, depth);
      const double reuse = inside * touch.element_bytes * touch.count / std::max(bytes, 1.0);
      const int curve = touch.writes ? 4 : 7;
      Relate(curve, bytes, reuse);
      Relate(curve + 1, reuse, bytes);
      Relate(curve + 2, outside, bytes);
      if (loop.kind != LoopKind::kVectorized) continue;
      const auto stride = std::llabs(nests_.Stride(nests_.accesses()[touch.access], depth));
      double& apart = lanes_apart_[touch.writes ? 0 : 1];
      apart = std::max(apart, static_cast<double>(stride));
    }
    const int kind = loop.kind == LoopKind::kVectorized ? 0
                     : loop.kind == LoopKind::kUnrolled ? 1
                     : loop.kind == LoopKind::kParallel ? 2
                                                        : -1;
    if (kind >= 0) {
      product_[kind] *= length;
      longest_[kind] = std::max(longest_[kind], length);
    } else {
      innermost_ = length;
      innermost_depth_ = depth;
    }
  }

  void Relate(int curve, double i, double j) {
    float* const samples = row_ + static_cast<ptrdiff_t>(curve) * kContextSamples;
    const int first = std::max(0, static_cast<int>(std::floor(std::log2(std::max(i, 0.5)))) + 1);
    for (int t = first; t < kContextSamples; ++t) samples[t] = std::max(samples[t], Log(j));
  }

  const LoopNestSummary& nests_;
  const Footprints& feet_;
  const int number_;
  const NestBlock& block_;
  float* const row_;
  double product_[3] = {1, 1, 1}, longest_[3] = {}, lanes_apart_[2] = {};
  double innermost_ = 1;
  int innermost_depth_ = 63;
};

}  // namespace

void FillContextRow(const LoopNestSummary& nests, const Footprints& footprints, int block, float* row) {
  ContextRow(nests, footprints, block, row).Fill();
}

}  // namespace kiln
