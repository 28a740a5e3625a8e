#include "search/features/row.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lang/analysis/annotations.h"
#include "search/features/columns.h"
#include "search/features/operations.h"
#include "search/features/traffic.h"

namespace kiln {
namespace {

class Row {
 public:
  Row(const LoopNestSummary& nests, const Footprints& footprints, const Target& target, int number,
      float* row)
      : nests_(nests),
        p_(nests.program()),
        feet_(footprints),
        target_(target),
        number_(number),
        block_(nests.blocks()[number]),
        path_(nests.path(block_)),
        depth_(block_.depth),
        call_(FindCallAround(p_, block_.node)),
        row_(row) {}

  void Fill() {
    FindShape();
    FillOperations();
    FillKind(LoopKind::kVectorized, kVectorizedLoops);
    FillKind(LoopKind::kUnrolled, kUnrolledLoops);
    FillKind(LoopKind::kParallel, kParallelLoops);
    FillNest();
    FillTile();
    FillMasks();
    FillStore();
    FillCaches();
    FillIntensity();
    FillBuffers();
  }

 private:
  const NestLoop& At(int depth) const { return nests_.loops()[path_[depth]]; }
  double Instances(int level) const { return feet_.Instances(number_, level); }
  double Registers(double lanes, double bytes) const {
    return std::max(1.0, std::ceil(lanes * bytes / static_cast<double>(target_.vector_bytes)));
  }

  // Finds the vectorized loop and the straight-line code at the end of the nest (unrolled loops and lanes), and counts
  // the loops, lanes, registers and instances in them.
  void FindShape() {
    line_ = depth_ - call_.loops;
    while (line_ > 0 && (At(line_ - 1).extent == 1 || At(line_ - 1).kind == LoopKind::kUnrolled ||
                         At(line_ - 1).kind == LoopKind::kVectorized)) {
      --line_;
    }
    for (int d = depth_; d-- > 0;) {
      const NestLoop& loop = At(d);
      if (loop.extent == 1) continue;
      ++loops_;
      if (loop.kind == LoopKind::kVectorized && lane_loop_ < 0) lane_loop_ = d;
      if (innermost_ < 0) innermost_ = d;
      if (d >= depth_ - call_.loops && d != lane_loop_) unrolled_line_ *= static_cast<double>(loop.extent);
      if (d >= depth_ - call_.loops || loop.kind != LoopKind::kUnrolled) continue;
      code_ *= static_cast<double>(loop.extent);
      if (d >= line_) unrolled_line_ *= static_cast<double>(loop.extent);
    }
    lanes_ = lane_loop_ < 0 ? 1 : static_cast<double>(At(lane_loop_).extent);
    const auto accesses = nests_.accesses(block_);
    dest_ = block_.accesses.begin + block_.accesses.count - p_.block(block_.node).dests.count;
    element_ =
        accesses.empty() ? 4 : static_cast<double>(SizeOf(p_.buffers[nests_.accesses()[dest_].buffer].dtype));
    registers_ = Registers(lanes_, element_);
    for (const NestAccess& access : accesses) within_ |= access.within;
  }

  void FillOperations() {
    const Operations operations = CountOperations(nests_, block_);
    // Leaves out the bounds tests (kWithins) if versions of the loops skip the terms beyond bounds instead: the block
    // assumes finite numbers, and the bounds do not depend on the lane.
    const bool by_lane = lane_loop_ >= 0 && (within_ & LoopNestSummary::Bit(lane_loop_)) != 0;
    const bool left_out = !by_lane && target_.policies.Has(Policy::kDroppableTerms) &&
                          AnnotationOf(p_, p_.block(block_.node).annotations, kAssumeFinite) != 0;
    for (int kind = kFloatAdd; kind <= kWithins; ++kind) {
      if (kind == kWithins && left_out) continue;
      if (operations.counts[kind] != 0) row_[kind] = Log(operations.counts[kind] * Instances(0));
    }
    arithmetic_ = operations.arithmetic;
  }

  void FillKind(LoopKind kind, int at) {
    double count = 0, product = 1;
    int inner = -1;
    for (int d = depth_; d-- > 0;) {
      if (At(d).kind != kind || At(d).extent == 1) continue;
      if (inner < 0) inner = d;
      ++count;
      product *= static_cast<double>(At(d).extent);
    }
    if (inner < 0) return;
    row_[at] = Log(count);
    row_[at + 1] = Log(product);
    row_[at + 2] = Log(static_cast<double>(At(inner).extent));
    row_[at + 3] = (block_.spatial & LoopNestSummary::Bit(inner)) != 0;
    row_[at + 4] = (block_.reduction & LoopNestSummary::Bit(inner)) != 0;
    row_[at + 5] = Log(Instances(inner + 1));
    if (kind == LoopKind::kParallel) {
      const double cores = std::max(1, target_.cores), chunks = std::ceil(product / cores);
      row_[kParallelChunks] = Log(chunks);
      row_[kParallelImbalance] = static_cast<float>(chunks * cores / product);
    }
  }

  void FillNest() {
    row_[kInstances] = Log(Instances(0));
    row_[kLoops] = Log(loops_);
    double steps = 1;
    if (line_ > 0) {
      const Range annotations = p_.loop(At(line_ - 1).node).annotations;
      steps = std::max(1.0, static_cast<double>(AnnotationOf(p_, annotations, kUnrolledSteps)));
      row_[kInnermostExtent] = Log(static_cast<double>(At(line_ - 1).extent));
      row_[kInnermostReduces] = (block_.reduction & LoopNestSummary::Bit(line_ - 1)) != 0;
    }
    row_[kStraightLine] = Log(unrolled_line_ * registers_ * steps);
    row_[kUnrolledCode] = Log(code_ * registers_ * steps);
    row_[kLanes] = Log(lanes_);
    row_[kLaneRegisters] = Log(registers_);
    row_[kLaneUse] =
        static_cast<float>(lanes_ * element_ / (registers_ * static_cast<double>(target_.vector_bytes)));
  }

  // Counts the vector registers, loads and stores of the straight-line code, with equal loads made once.
  void FillTile() {
    double vectors = 0, broadcasts = 0, gathers = 0, stores = 0, widest = 0;
    double contiguous = 0, standing = 0, strided = 0;
    const double operations = unrolled_line_ * registers_;
    for (int a = 0; a < block_.accesses.count; ++a) {
      const int32_t number = block_.accesses.begin + a;
      const NestAccess& access = nests_.accesses()[number];
      const uint64_t indexed = nests_.Indexed(access);
      double copies = 1;
      for (int d = line_; d < depth_ - call_.loops; ++d) {
        if (At(d).kind == LoopKind::kUnrolled && (indexed & LoopNestSummary::Bit(d)) != 0)
          copies *= static_cast<double>(At(d).extent);
      }
      const int along = lane_loop_ >= 0 ? lane_loop_ : innermost_;
      const bool moves = along >= 0 && (indexed & LoopNestSummary::Bit(along)) != 0;
      int64_t stride = moves ? nests_.Stride(access, along) : 0;
      // Counts an interleaved access of an intrinsic as contiguous: it reads all elements between the lanes.
      if (call_.family != nullptr && stride == call_.family->interleave) stride = 1;
      (!moves ? standing : stride == 1 ? contiguous : strided) += 1;
      double elements = lanes_;
      if (call_.family != nullptr) elements = ElementsOfCall(indexed);
      const double registers =
          Registers(elements, static_cast<double>(SizeOf(p_.buffers[access.buffer].dtype)));
      const bool vector = lane_loop_ >= 0 && moves;
      if (number == dest_) {
        accumulators_ = copies * (vector && !OwnRegisters() ? registers : 1);
        row_[kAccumulators] = Log(accumulators_);
        for (int d = std::max(0, line_ - 1); d < depth_; ++d) {
          const bool runs = At(d).extent > 1 && At(d).kind != LoopKind::kVectorized;
          if (runs && (indexed & LoopNestSummary::Bit(d)) == 0) row_[kResultStands] = 1;
        }
      }
      if (p_.buffers[access.buffer].scope.storage == Storage::kRegister) continue;
      if (access.writes) stores += copies * (vector && stride != 1 ? lanes_ : vector ? registers : 1);
      if (!access.reads) continue;
      if (!vector) {
        broadcasts += copies * (call_.family != nullptr ? registers : 1);
      } else if (stride == 1) {
        vectors += copies * registers;
        widest = std::max(widest, registers);
      } else {
        gathers += copies * lanes_;
      }
    }
    const double count = std::max<double>(1, block_.accesses.count);
    row_[kContiguous] = static_cast<float>(contiguous / count);
    row_[kStanding] = static_cast<float>(standing / count);
    row_[kStrided] = static_cast<float>(strided / count);
    // The registers for loads: those of the widest loaded vector if more accumulators than that use it, otherwise one.
    const double row = accumulators_ > widest ? widest : 1;
    row_[kRegisterNeed] =
        static_cast<float>((accumulators_ + row + 1) /
                           static_cast<double>(OwnRegisters() ? call_.family->registers
                                                              : std::max(1, target_.vector_registers)));
    row_[kLoadsPerOperation] = static_cast<float>((vectors + broadcasts + gathers) / operations);
    row_[kStoresPerOperation] = static_cast<float>(stores / operations);
    row_[kVectorLoads] = Log(vectors);
    row_[kBroadcasts] = Log(broadcasts);
    row_[kGathers] = Log(gathers);
  }

  bool OwnRegisters() const { return call_.family != nullptr && call_.family->registers > 0; }

  // Returns the number of elements that an intrinsic call touches by one access: the product of the extents of those
  // loops of the call that are in the set `indexed`.
  double ElementsOfCall(uint64_t indexed) const {
    double elements = 1;
    for (int d = depth_ - call_.loops; d < depth_; ++d)
      if ((indexed & LoopNestSummary::Bit(d)) != 0) elements *= static_cast<double>(At(d).extent);
    return elements;
  }

  void FillMasks() {
    if (block_.guarded != 0) {
      for (int d = 0; d < depth_; ++d) {
        if ((block_.guarded & LoopNestSummary::Bit(d)) == 0) continue;
        const int column = d == lane_loop_  ? kMaskedLanes
                           : d >= line_     ? kMaskedUnrolled
                           : d == line_ - 1 ? kMaskedInnermost
                                            : kMaskedOuter;
        row_[column] = 1;
      }
    }
    for (int d = 0; within_ != 0 && d < depth_; ++d) {
      if ((within_ & LoopNestSummary::Bit(d)) != 0)
        row_[d == lane_loop_ || d >= line_ - 1 ? kWithinInner : kWithinOuter] = 1;
    }
  }

  void FillStore() {
    const BlockNode& b = p_.block(block_.node);
    row_[kStoreCopy] = b.provenance.kind == Provenance::Kind::kCopy;
    row_[kStoreInit] = b.provenance.kind == Provenance::Kind::kInit;
    row_[kStorePartial] = b.provenance.kind == Provenance::Kind::kPartial;
    row_[kStoreReduces] = b.monoid != kNone;
    row_[kStoreAccumulates] = b.accumulates;
    row_[kStoreElement] = Log(element_);
    if (block_.accesses.count == 0) return;
    const Id buffer = nests_.accesses()[dest_].buffer;
    row_[kStoreStack] = p_.buffers[buffer].scope.storage == Storage::kStack;
    row_[kStoreRegister] = p_.buffers[buffer].scope.storage == Storage::kRegister;
    const NestBuffer& placed = nests_.buffers()[buffer];
    const double bytes = static_cast<double>(placed.elements) * element_;
    const double allocations = Instances(0) / Instances(placed.home);
    row_[kAllocBytes] = Log(bytes);
    row_[kAllocTotal] = Log(bytes * allocations);
    row_[kAllocations] = Log(allocations);
    row_[kInstancesPerAllocation] = Log(Instances(placed.home));
  }

  void FillCaches() {
    const auto streamed_bytes = static_cast<double>(target_.costs.streamed_lines * target_.costs.line_bytes);
    const int64_t sizes[] = {target_.l1_bytes, target_.l2_bytes, target_.l3_bytes};
    for (int c = 0; c < 3; ++c) {
      const auto bytes = static_cast<double>(sizes[c]);
      // Sets the bytes of one way of the cache. The number of sets is a power of two. The last level hashes addresses,
      // so a way there is a single line: any line may be anywhere.
      const double way = c < 2 ? static_cast<double>(std::bit_floor(
                                     static_cast<uint64_t>(sizes[c] / target_.costs.cache_ways)))
                               : kLineBytes;
      const Traffic traffic = TrafficBeyond(
          feet_, number_, depth_, {.bytes = bytes, .way_bytes = way, .streamed_bytes = streamed_bytes});
      row_[kTrafficL1 + c] = Log(traffic.streamed + traffic.scattered);
      row_[kScatteredL1 + c] = Log(traffic.scattered);
      row_[kInsideL1 + c] = Log(Instances(traffic.inside));
    }
  }

  void FillIntensity() {
    const float total = std::log2(static_cast<float>(Instances(0)));
    int level = depth_;
    float x = 0, y = static_cast<float>(Intensity(depth_)), x0 = x, y0 = y;
    for (int i = 1; i <= kIntensitySamples; ++i) {
      const float wanted = total * static_cast<float>(i) / kIntensitySamples;
      while (level > 0 && x < wanted) {
        x0 = x, y0 = y;
        --level;
        x = std::log2(static_cast<float>(Instances(level)));
        y = static_cast<float>(Intensity(level));
      }
      const float part = x > x0 ? std::min(1.0f, (wanted - x0) / (x - x0)) : 1.0f;
      row_[kIntensity + i - 1] = y0 + (y - y0) * part;
    }
  }

  double Intensity(int level) const {
    const double bytes = feet_.Bytes(number_, level);
    return bytes == 0 ? 0 : Log(arithmetic_ * Instances(level) / bytes);
  }

  void FillBuffers() {
    const auto touches = feet_.touches(number_);
    int order[kBufferSlots], slots = 0;
    if (touches.size() <= kBufferSlots) {
      // Orders the buffers: first the destination, which may be anywhere in the list of touches, then those that are
      // only read.
      for (int pass = 0; pass < 2; ++pass) {
        for (int t = 0; t < static_cast<int>(touches.size()); ++t) {
          if (touches[t].writes == (pass == 0)) order[slots++] = t;
        }
      }
    } else {
      absl::InlinedVector<int, 16> all;
      for (int t = 0; t < static_cast<int>(touches.size()); ++t) all.push_back(t);
      const auto before = [&](int a, int b) {
        if (touches[a].writes != touches[b].writes) return touches[a].writes;
        const double more = feet_.Lines(touches[a], 0) - feet_.Lines(touches[b], 0);
        return more != 0 ? more > 0 : a < b;
      };
      std::sort(all.begin(), all.end(), before);
      for (; slots < kBufferSlots; ++slots) order[slots] = all[slots];
    }
    for (int slot = 0; slot < slots; ++slot)
      FillBuffer(touches[order[slot]], row_ + kBuffers + slot * kBufferColumns);
  }

  void FillBuffer(const Touch& touch, float* out) {
    out[kReads] = touch.reads;
    out[kWrites] = touch.writes;
    const double bytes = Instances(0) * touch.count * touch.element_bytes;
    const double lines = Instances(0) / Instances(line_) * feet_.Lines(touch, line_);
    const double unique_bytes = feet_.Bytes(touch, 0), unique_lines = feet_.Lines(touch, 0);
    out[kBytes] = Log(bytes);
    out[kUniqueBytes] = Log(unique_bytes);
    out[kLines] = Log(lines);
    out[kUniqueLines] = Log(unique_lines);
    double reuses = 1;
    FillReuse(touch, out, reuses);
    out[kBytesPerReuse] = Log(bytes / reuses);
    out[kUniqueBytesPerReuse] = Log(unique_bytes / reuses);
    out[kLinesPerReuse] = Log(lines / reuses);
    out[kUniqueLinesPerReuse] = Log(unique_lines / reuses);
    const int along = lane_loop_ >= 0 ? lane_loop_ : innermost_;
    if (along >= 0)
      out[kStride] =
          Log(std::abs(static_cast<double>(nests_.Stride(nests_.accesses()[touch.access], along))));
  }

  // Fills the columns of the innermost reuse of a buffer's elements: by the innermost loop that does not index the
  // buffer, or by another block that touches it too, if that is nearer. Sets `reuses` to the iterations of that loop.
  void FillReuse(const Touch& touch, float* out, double& reuses) const {
    int shared = -1, other = -1;
    for (int32_t a = nests_.buffers()[touch.buffer].first; a >= 0; a = nests_.accesses()[a].next) {
      const int32_t block = nests_.accesses()[a].block;
      if (block == number_) continue;
      const auto path = nests_.path(nests_.blocks()[block]);
      int same = 0;
      while (same < depth_ && same < static_cast<int>(path.size()) && path[same] == path_[same]) ++same;
      if (same > shared) shared = same, other = block;
    }
    const auto serial = [&](int level) {
      out[kSerialReuse] = 1;
      out[kDistanceIterations] = Log(Instances(level));
      out[kDistanceBytes] = Log(feet_.Bytes(number_, level) + feet_.Bytes(other, level));
      out[kReuses] = Log(1);
    };
    for (int d = depth_; d-- > 0;) {
      if (shared == d + 1) return serial(d + 1);
      if (At(d).extent == 1 || (touch.indexed & LoopNestSummary::Bit(d)) != 0) continue;
      reuses = static_cast<double>(At(d).extent);
      out[kLoopReuse] = 1;
      out[kDistanceIterations] = Log(Instances(d + 1));
      out[kDistanceBytes] = Log(feet_.Bytes(number_, d + 1));
      out[kReuses] = Log(reuses);
      return;
    }
    if (shared == 0) serial(0);
  }

  const LoopNestSummary& nests_;
  const Program& p_;
  const Footprints& feet_;
  const Target& target_;
  const int number_;
  const NestBlock& block_;
  const absl::Span<const int32_t> path_;
  const int depth_;
  const CallAround call_;
  float* row_;
  int line_ = 0;         // depth of the outermost loop of the straight-line code
  int lane_loop_ = -1;   // depth of the vectorized loop
  uint64_t within_ = 0;  // loops that decide whether a guarded load is made
  int innermost_ = -1;   // depth of the innermost loop with more than one iteration
  int loops_ = 0;
  int32_t dest_ = 0;
  double lanes_ = 1, registers_ = 1, element_ = 4, code_ = 1, unrolled_line_ = 1, arithmetic_ = 0,
         accumulators_ = 1;
};

}  // namespace

void FillRow(const LoopNestSummary& nests, const Footprints& footprints, const Target& target, int block,
             float* row) {
  Row(nests, footprints, target, block, row).Fill();
}

}  // namespace kiln
