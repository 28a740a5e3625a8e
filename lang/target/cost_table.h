// Numbers about a machine that estimates and thresholds use: costs of instructions, latencies, bandwidths,
// and the sizes from which on a rewrite pays off. A Target owns them; readers keep no number of their own.
//
//   target.costs.load_ports                        a constant, where it is used
//   for (const CostRow& row : CostRows()) ...      all of them, with unit, machine and command
//
// `kiln doctor --constants` prints the rows. To add a constant, add a member here and a row in cost_table.cc;
// a test checks that each member has a row. Values other than the defaults are part of a run's key. Of the
// constants that bench/constants_bench varies, only nest-versions, held-line and dense-reuse change times on
// Zen 5 with both seeds.
#pragma once

#include <cstdint>
#include <variant>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln {

struct CostTable {
  // Estimated instructions of an operation on one vector register (lang/analysis/cost.h).
  int64_t call_instructions = 100;    // a function without a polynomial, which is called for each lane
  int64_t extremum_instructions = 3;  // a minimum or maximum of floats; two of the three handle NaN
  int64_t within_instructions = 4;    // a kWithin, which becomes a mask or several versions of the code
  int64_t gather_instructions = 8;
  int64_t exp_instructions = 30, log_instructions = 40, tanh_instructions = 50;

  // For the roofline (search/features/roofline.cc): how many vector instructions a core executes in a cycle, by kind
  // and in all, and what some operations take, in cycles or instructions.
  double arithmetic_ports = 2, load_ports = 3, store_ports = 1, issue_width = 3;
  // Cycles from one addition of a sum to the next: of a sum in a buffer of storage "register", of one in memory that
  // LLVM keeps in registers, and of one in memory.
  double sum_latency = 4.5, sum_latency_kept = 7, sum_latency_in_memory = 20;
  // Share of a sum's loads and stores that remains if LLVM keeps the sum in registers.
  double kept_accesses = 0.3;
  double kept_doubt = 1.3;  // factor on the estimate of sums that LLVM may keep, if no measurement will tell
  double divide_cycles = 8, function_cycles = 12;
  double loop_instructions = 2;
  double overlap = 0.35;  // share of the shorter of computing and fetching that the longer one hides
  double spill_instructions = 1.5;

  // Memory traffic in bytes a cycle: the rates at which data arrive from beyond each level of cache, for consecutive
  // lines (streamed) and for scattered lines.
  double streamed_beyond_l1 = 128, streamed_beyond_l2 = 20, streamed_beyond_l3 = 12;
  double scattered_beyond_l1 = 24, scattered_beyond_l2 = 16, scattered_beyond_l3 = 7;
  int64_t line_bytes = 64;
  int64_t streamed_lines = 16;  // consecutive lines from which on the hardware prefetches the next ones
  int64_t cache_ways = 8;       // associativity of L1 and L2

  // Limits of the primitives vectorize-inner and sample-compute-location (lang/primitives).
  // vectorize-inner: most instructions of a vectorized loop. One register of lanes is always allowed.
  int64_t function_line = 128;
  double most_repeats = 16;  // a sampled location may run each instance at most this often, on average

  // Constants of the modules that tile (modules/tiling): vector registers, and extents of tiles.
  int64_t broadcast_registers = 1;   // vector registers that are left to operands, not to sums
  int64_t least_tile_registers = 4;  // vector registers that sums get at least
  // If no number from least_tile to most_tile divides the extent of a reduction iter, which is above most_tile, the
  // extent is padded to a multiple of padded_tile, unless that exceeds the module's limit of waste.
  int64_t least_tile = 4, most_tile = 64;
  int64_t padded_tile = 8;

  // The limit for dense copies of strided reads (lang/graph/densify_strided_reads.h).
  int64_t dense_reuse = 16;  // the number of reads of each element from which on a copy pays off

  // Limits of lowering (backends/lower): versions of code, prefetching, unrolling of short loops.
  int64_t nest_versions = 3;  // at most so many choices between versions of code are nested in each other
  // Each value of an index at which a boundary condition may fail gets a version of the code, if there are at most
  // edge_values of them and at most edge_versions versions for the combinations of all conditions. Otherwise none does.
  int64_t edge_values = 4, edge_versions = 9;
  int64_t prefetch_bytes = 16 << 10;  // a stream is prefetched at most this many bytes ahead
  int64_t prefetch_lines = 64;        // lines of a panel that are prefetched before a tile
  // A panel of a constant is prefetched only if the constant has at least 1 / prefetch_part of the bytes of the
  // smallest stream (LowerOptions::stream_bytes). What the prepare phase writes for the main phase counts as a
  // constant.
  int64_t prefetch_part = 16;
  // If a tile would prefetch more than tile_lines cache lines of the next panel at once, each iteration of the tile
  // prefetches up to iteration_lines of them instead. Together the iterations prefetch at most panels_ahead times the
  // lines of a panel. A panel longer than 1 / panel_part of the smallest stream is not prefetched so: it would evict
  // the present panel.
  int64_t tile_lines = 16, iteration_lines = 8;
  int64_t panels_ahead = 4, panel_part = 8;
  int64_t padding_line = 16;  // most instructions of an unrolled loop, if unrolling decides padding tests
  // Most instructions of an unrolled loop that only adds to sums: of one iteration, and of all iterations.
  int64_t sum_body = 12, sum_line = 48;
  int64_t held_line = 96;  // most instructions of an unrolled loop that indexes a buffer kept in registers
  // The conditions under which a buffer counts as kept in registers: it has up to held_vectors vectors, and its loops
  // other than the unrolled one are unrolled or have at most held_copies iterations.
  int64_t held_vectors = 8, held_copies = 4;
  int64_t stepping_pointers = 6;  // pointers that a loop advances
  int64_t extremum_values = 4;    // values of a tree of maxima from which on a rewrite pays off

  bool operator==(const CostTable&) const = default;
};

struct CostRow {
  absl::string_view name;
  std::variant<int64_t CostTable::*, double CostTable::*> member;
  absl::string_view unit;
  absl::string_view machine, command;  // what gave the value, or compared it with others

  double ValueIn(const CostTable& costs) const;
  void SetIn(CostTable& costs, double value) const;
};

// Returns a row for each constant of CostTable, in the order of the members.
absl::Span<const CostRow> CostRows();

}  // namespace kiln
