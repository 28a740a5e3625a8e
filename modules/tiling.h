// The modules of the default spaces, for C++ that composes its own.
#pragma once

#include "modules/module.h"

namespace kiln {

void AutoInline(Schedule& s, Block block);

struct MultiLevelTilingOptions {
  std::string structure = "SSRSRS";  // levels of spatial and reduction tiles, outermost first
  int64_t max_innermost = 64;        // bound of the innermost factor of a spatial loop
  int64_t max_reduction = 256;       // and of a reduction: the length of a packed panel
  int64_t waste_percent = 10;        // of rows: how much of the extent may be run in vain; 0: perfect tiles
};
BlockModule MultiLevelTiling(MultiLevelTilingOptions options = {});

void RandomComputeLocation(Schedule& s);

struct ParallelizeVectorizeUnrollOptions {
  int64_t max_jobs_per_core = 16;
  int64_t max_vector = 64;                             // elements
  std::vector<int64_t> max_unroll = {0, 16, 64, 256};  // instances of blocks in a straight line
};
Space ParallelizeVectorizeUnroll(ParallelizeVectorizeUnrollOptions options = {});

void CpuSpace(Schedule& s);

}  // namespace kiln
