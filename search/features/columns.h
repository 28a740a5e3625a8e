// The columns of a feature row, in order. What each means stands in search/features.h.
#pragma once

#include <cmath>

namespace kiln {

// How a column that is not plain holds a number, and back.
inline float Log(double x) { return std::log2(1.0f + static_cast<float>(x)); }
inline double Exp(float x) { return std::exp2(static_cast<double>(x)) - 1; }

enum Column : int {
  kFloatAdd,
  kFloatMul,
  kFloatFma,
  kFloatDiv,
  kFloatCompare,
  kFloatSpecial,
  kFloatOther,
  kIntAdd,
  kIntMul,
  kIntDiv,
  kIntCompare,
  kIntOther,
  kSelects,
  kCasts,
  kWithins,
  kVectorizedLoops,
  kVectorizedProduct,
  kVectorizedExtent,
  kVectorizedSpatial,
  kVectorizedReduction,
  kVectorizedInside,
  kUnrolledLoops,
  kUnrolledProduct,
  kUnrolledExtent,
  kUnrolledSpatial,
  kUnrolledReduction,
  kUnrolledInside,
  kParallelLoops,
  kParallelProduct,
  kParallelExtent,
  kParallelSpatial,
  kParallelReduction,
  kParallelInside,
  kInstances,
  kLoops,
  kInnermostExtent,
  kInnermostReduces,
  kStraightLine,
  kUnrolledCode,
  kLanes,
  kLaneRegisters,
  kLaneUse,
  kAccumulators,
  kRegisterNeed,
  kLoadsPerOperation,
  kStoresPerOperation,
  kVectorLoads,
  kBroadcasts,
  kGathers,
  kResultStands,
  kMaskedLanes,
  kMaskedUnrolled,
  kMaskedInnermost,
  kMaskedOuter,
  kWithinInner,
  kWithinOuter,
  kContiguous,
  kStanding,
  kStrided,
  kStoreStack,
  kStoreRegister,
  kStoreCopy,
  kStoreInit,
  kStorePartial,
  kStoreReduces,
  kStoreAccumulates,
  kStoreElement,
  kParallelChunks,
  kParallelImbalance,
  kTrafficL1,
  kTrafficL2,
  kTrafficL3,
  kInsideL1,
  kInsideL2,
  kInsideL3,
  kIntensity,  // 10 samples
  kAllocBytes = kIntensity + 10,
  kAllocTotal,
  kAllocations,
  kInstancesPerAllocation,
  kRooflineInside,
  kRooflineOutside,
  kRooflineCycles,
  kRooflineProgram,
  kBuffers,  // kBufferColumns for each of kBufferSlots
};

enum BufferColumn : int {
  kReads,
  kWrites,
  kBytes,
  kUniqueBytes,
  kLines,
  kUniqueLines,
  kLoopReuse,
  kSerialReuse,
  kDistanceIterations,
  kDistanceBytes,
  kReuses,
  kBytesPerReuse,
  kUniqueBytesPerReuse,
  kLinesPerReuse,
  kUniqueLinesPerReuse,
  kStride,
  kBufferColumns,
};

inline constexpr int kBufferSlots = 5;
inline constexpr int kIntensitySamples = 10;
inline constexpr int kFeatureDim = kBuffers + kBufferSlots * kBufferColumns;

}  // namespace kiln
