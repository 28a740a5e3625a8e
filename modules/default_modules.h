// Declares the modules that C++ code composes into spaces of its own, and their options. A module that only space
// strings name needs no declaration here. The comment at the top of each module's source says what the module does, and
// docs/reference/spaces.md lists all modules.
//
//   void MySpace(Schedule& s) {
//     EachBlock(s, {AutoInline(), MultiLevelTiling({.structure = "SRS"})});
//     RunSpace(s, "late", ParallelizeVectorizeUnroll());
//   }
//
// KILN_MODULE declares which values an option accepts. Only space strings are checked; C++ callers are not.
#pragma once

#include "modules/module.h"

namespace kiln {

// Options of auto-inline: which blocks it inlines. For the numbers, 0 means no and 1 means yes.
struct AutoInlineOptions {
  int64_t into_consumer = 1, into_producer = 1;
  int64_t constants = 1;  // inline blocks that read nothing into consumers, whatever the options below say
  int64_t cheap = 1;      // inline into consumers only blocks that are cheap to recompute or read once
  int64_t ordered = 1;    // inline only blocks that read in the order in which they write
  int64_t injective = 0;  // inline only blocks whose reads are at iters plus constants
  std::string disallow;   // operations that prevent inlining, such as "exp,tanh"
};
BlockModule AutoInline(AutoInlineOptions options = {});

void InlineConstantScalars(Schedule& s, Block block);
void NchwcLayout(Schedule& s, Block block);

struct MultiLevelTilingOptions {
  std::string structure = "SSRSRS";  // levels of spatial and reduction tiles, outermost first
  int64_t max_innermost = 64;        // largest innermost factor of a spatial loop
  int64_t max_reduction = 256;  // largest innermost factor of a reduction loop: the length of a packed panel
  int64_t waste_percent = 10;   // most padding of a spatial loop but the last, in percent; 0: perfect tiles
  std::vector<int64_t> epilogue = {2};  // tile levels, from 1 on, below which an epilogue may be computed
};
BlockModule MultiLevelTiling(MultiLevelTilingOptions options = {});

struct AddRfactorOptions {
  // A reduction is cut into chunks only if its spatial loops have fewer iterations per core than this.
  int64_t max_jobs_per_core = 16;
};
BlockModule AddRfactor(AddRfactorOptions options = {});

struct PadToTileOptions {
  int64_t waste_percent = 12;  // how many percent an extent may grow
};
BlockModule PadToTile(PadToTileOptions options = {});

struct TilingWithIntrinsicOptions : MultiLevelTilingOptions {  // applies to the tiles around the intrinsic
  std::string families;  // prefixes of family names, such as "vnni,bf16"; "": all
};
BlockModule MultiLevelTilingWithIntrinsic(TilingWithIntrinsicOptions options = {});

struct RowBlockingOptions {
  int64_t max_rows = 4;
};
BlockModule RowBlocking(RowBlockingOptions options = {});

struct NonTemporalStoresOptions {
  int64_t l2_multiple = 4;  // smallest result size, in multiples of the L2 cache
};
BlockModule NonTemporalStores(NonTemporalStoresOptions options = {});

void RandomComputeLocation(Schedule& s);
void SkipZeros(Schedule& s);
void DropPaddedTerms(Schedule& s);

struct ParallelizeVectorizeUnrollOptions {
  int64_t max_jobs_per_core = 16;
  int64_t max_vector = 64;                        // largest number of lanes, in elements
  std::vector<int64_t> max_unroll = {0, 16, 64};  // alternatives: most instructions of unrolled code
};
Space ParallelizeVectorizeUnroll(ParallelizeVectorizeUnrollOptions options = {});

struct VectorizeRowsOptions {
  std::vector<int64_t> lanes = {0, 32, 64};  // alternatives: partial results of a row; 0: none
};
Space VectorizeRows(VectorizeRowsOptions options = {});

struct PinOptions {
  std::string site;
  std::vector<int64_t> to;
};
Space Pin(PinOptions options);

// Options of auto-bind, a module for GPUs: the alternatives of its sampling sites.
struct AutoBindOptions {
  std::vector<int64_t> vectors = {1, 2, 4, 8};  // most elements of a vector
  std::vector<int64_t> threads = {32, 64, 128, 256, 512, 1024};
  std::vector<int64_t> waves = {1, 2, 4, 8, 16, 32};   // most blocks for each multiprocessor
  std::vector<int64_t> max_unroll = {0, 16, 64, 256};  // most instructions of unrolled code
};
Space AutoBind(AutoBindOptions options = {});

struct CpuOptions {
  int64_t dots = 1;  // 1: tile with the target's dot-product intrinsics too
  // Names of modules of a block, with commas between them. They get each block after a first auto-inline of all blocks,
  // and before the block is tiled.
  std::string with = "";
};
Space Cpu(CpuOptions options = {});
void CpuSpace(Schedule& s);  // the space Cpu() with default options

struct CudaOptions {};
Space Cuda(CudaOptions options = {});

}  // namespace kiln
