// The modules of Kiln and their options, for C++ that composes a space of its own. The comment of each module's
// source says what it does; docs/modules.md lists them all.
//
//   void MySpace(Schedule& s) {
//     EachBlock(s, {AutoInline(), MultiLevelTiling({.structure = "SRS"})});
//     RunSpace(s, "late", ParallelizeVectorizeUnroll());
//   }
//
// What options allow is declared where the module is registered (KILN_MODULE) and checked in space strings only.
#pragma once

#include "modules/module.h"

namespace kiln {

// How strict auto-inline is; 0 and 1 are no and yes.
struct AutoInlineOptions {
  int64_t into_consumer = 1, into_producer = 1;
  int64_t constants = 1;  // what reads nothing goes into its consumers, whatever it costs
  int64_t cheap = 1;      // only what costs little to compute again, or is read once
  int64_t ordered = 1;    // only what reads in the order in which it writes
  int64_t injective = 0;  // only what reads at its iters and offsets
  std::string disallow;   // operations that keep a block, such as "exp,tanh"
};
BlockModule AutoInline(AutoInlineOptions options = {});

void InlineConstantScalars(Schedule& s, Block block);
void ChannelsInBlocks(Schedule& s, Block block);

struct MultiLevelTilingOptions {
  std::string structure = "SSRSRS";  // levels of spatial and reduction tiles, outermost first
  int64_t max_innermost = 64;        // bound of the innermost factor of a spatial loop
  int64_t max_reduction = 256;       // and of a reduction: the length of a packed panel
  int64_t waste_percent = 10;        // of rows: how much of the extent may be run in vain; 0: perfect tiles
  std::vector<int64_t> epilogue = {2};  // levels below which an epilogue may be computed, from 1 on
};
BlockModule MultiLevelTiling(MultiLevelTilingOptions options = {});

struct AddRfactorOptions {
  int64_t max_jobs_per_core = 16;  // with more spatial iterations a reduction keeps the cores busy
};
BlockModule AddRfactor(AddRfactorOptions options = {});

struct PadToTileOptions {
  int64_t waste_percent = 12;  // of an extent that is padded
};
BlockModule PadToTile(PadToTileOptions options = {});

struct TilingWithIntrinsicOptions : MultiLevelTilingOptions {  // around the intrinsic; reductions in its k
  std::string families;                                        // how their names begin: "vnni,bf16"; "": all
};
BlockModule MultiLevelTilingWithIntrinsic(TilingWithIntrinsicOptions options = {});

struct RowsAtOnceOptions {
  int64_t most = 4;
};
BlockModule RowsAtOnce(RowsAtOnceOptions options = {});

struct StreamResultsOptions {
  int64_t caches = 4;  // how many times the second one
};
BlockModule StreamResults(StreamResultsOptions options = {});

void RandomComputeLocation(Schedule& s);
void SkipZeros(Schedule& s);
void SkipPadding(Schedule& s);

struct ParallelizeVectorizeUnrollOptions {
  int64_t max_jobs_per_core = 16;
  int64_t max_vector = 64;                        // elements
  std::vector<int64_t> max_unroll = {0, 16, 64};  // instructions of a straight line
};
Space ParallelizeVectorizeUnroll(ParallelizeVectorizeUnrollOptions options = {});

struct VectorizeRowsOptions {
  std::vector<int64_t> lanes = {0, 32, 64};  // elements
};
Space VectorizeRows(VectorizeRowsOptions options = {});

struct PinOptions {
  std::string site;
  std::vector<int64_t> to;
};
Space Pin(PinOptions options);

void CpuSpace(Schedule& s);

}  // namespace kiln
