// Numbers about a machine that estimates and thresholds use: costs of instructions, latencies, bandwidths,
// and the sizes from which on a rewrite pays off. A Target owns them; readers keep no number of their own.
//
//   target.costs.load_ports                        a constant, where it is used
//   for (const CostRow& row : CostRows()) ...      all of them, with unit, machine and command
//
// `kiln doctor --constants` prints the rows. A new constant takes a member here and a row in cost_table.cc; a
// test holds the two together. Values that differ from the usual ones are part of a run's key. Of those that
// bench/constants_bench varies, nest-versions, held-line and dense-reuse matter on Zen 5 with both seeds.
#pragma once

#include <cstdint>
#include <variant>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln {

struct CostTable {
  // Instructions for a register of lanes (lang/analysis/cost.h).
  int64_t call_instructions = 100;    // a function without a polynomial: a call for each lane
  int64_t extremum_instructions = 3;  // a maximum of floats: NaN takes two more
  int64_t within_instructions = 4;    // a mask, or versions of the instance
  int64_t gather_instructions = 8;
  int64_t exp_instructions = 30, log_instructions = 40, tanh_instructions = 50;

  // Cycles and rates of a core, for the roofline (search/features/roofline.cc), in vector instructions.
  double arithmetic_ports = 2, load_ports = 3, store_ports = 1, issue_width = 3;
  // From one step of a sum to the next: in registers that the program names, in memory that LLVM keeps in
  // registers, and in memory.
  double sum_latency = 4.5, sum_latency_kept = 7, sum_latency_in_memory = 20;
  double kept_accesses = 0.3;  // share of the loads and stores of sums that LLVM keeps in registers
  double divide_cycles = 8, function_cycles = 12;
  double loop_instructions = 2;
  double overlap = 0.35;  // share of the shorter of computing and fetching
  double spill_instructions = 1.5;

  // Caches: bytes a cycle from beyond each, for lines in a row and for lines by themselves.
  double streamed_beyond_l1 = 128, streamed_beyond_l2 = 20, streamed_beyond_l3 = 12;
  double scattered_beyond_l1 = 24, scattered_beyond_l2 = 16, scattered_beyond_l3 = 7;
  int64_t line_bytes = 64;
  int64_t streamed_lines = 16;  // in a row, from which on the machine fetches ahead
  int64_t cache_ways = 8;       // of the first two levels

  // Late steps and places (lang/primitives).
  int64_t function_line = 128;  // of a straight line with a function, in instructions
  double most_repeats = 16;     // of an instance that a drawn place computes again

  // Tiles (modules/tiling).
  int64_t broadcast_registers = 1;  // not for sums
  int64_t least_tile_registers = 4;
  int64_t least_tile = 4, most_tile = 64;  // a reduction without a tile between the two is padded
  int64_t padded_tile = 8;                 // to a multiple of it

  // What is copied before the search (lang/graph/densify_strided_reads.h).
  int64_t dense_reuse = 16;  // reads of each element from which on a dense copy pays off

  // Lowering (backends/lower): versions of code, prefetching, loops that are written out.
  int64_t nest_versions = 3;                   // inside each other
  int64_t edge_values = 4, edge_versions = 9;  // of one condition, and of all
  int64_t prefetch_bytes = 16 << 10;           // to the next iteration of a stream, at most
  int64_t prefetch_lines = 64;                 // of a panel before a tile, at most
  int64_t padding_line = 16;                   // of loops that are written out, in instructions
  int64_t sum_body = 12, sum_line = 48;
  int64_t held_line = 96;
  int64_t held_vectors = 8, held_copies = 4;
  int64_t stepping_pointers = 6;  // of a loop
  int64_t extremum_values = 4;    // of a tree that is worth rewriting

  bool operator==(const CostTable&) const = default;
};

struct CostRow {
  absl::string_view name;
  std::variant<int64_t CostTable::*, double CostTable::*> member;
  absl::string_view unit;
  absl::string_view machine, command;  // that gave the value, or compared it with others

  double ValueIn(const CostTable& costs) const;
  void SetIn(CostTable& costs, double value) const;
};

// In the order of the members.
absl::Span<const CostRow> CostRows();

}  // namespace kiln
