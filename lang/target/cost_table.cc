#include "lang/target/cost_table.h"

#include <type_traits>

namespace kiln {
namespace {

using C = CostTable;

constexpr absl::string_view kCode = "of the code that is emitted", kArchitecture = "of the architecture",
                            kZen3 = "Zen 3", kZen5 = "Zen 5";
constexpr absl::string_view kFit = "bench/cost_accuracy_bench", kChecked = "bench/constants_bench",
                            kModels = "bench/models/compare.py";

constexpr CostRow kRows[] = {
    {"call-instructions", &C::call_instructions, "instructions", kZen5, kChecked},
    {"extremum-instructions", &C::extremum_instructions, "instructions", "AVX2", kCode},
    {"within-instructions", &C::within_instructions, "instructions", "AVX2", kCode},
    {"gather-instructions", &C::gather_instructions, "instructions", kZen5, kChecked},
    {"exp-instructions", &C::exp_instructions, "instructions", "AVX2", kCode},
    {"log-instructions", &C::log_instructions, "instructions", "AVX2", kCode},
    {"tanh-instructions", &C::tanh_instructions, "instructions", "AVX2", kCode},
    {"arithmetic-ports", &C::arithmetic_ports, "instructions a cycle", kZen3, kArchitecture},
    {"load-ports", &C::load_ports, "instructions a cycle", kZen3, kArchitecture},
    {"store-ports", &C::store_ports, "instructions a cycle", kZen3, kArchitecture},
    {"issue-width", &C::issue_width, "instructions a cycle", kZen3, kFit},
    {"sum-latency", &C::sum_latency, "cycles", kZen3, kFit},
    {"sum-latency-kept", &C::sum_latency_kept, "cycles", kZen3, kFit},
    {"sum-latency-in-memory", &C::sum_latency_in_memory, "cycles", kZen3, kFit},
    {"kept-accesses", &C::kept_accesses, "share", kZen3, kFit},
    {"kept-doubt", &C::kept_doubt, "times", kZen5, "bench/default_schedules_bench"},
    {"divide-cycles", &C::divide_cycles, "cycles", kZen3, kFit},
    {"function-cycles", &C::function_cycles, "cycles", kZen3, kFit},
    {"loop-instructions", &C::loop_instructions, "instructions", kZen3, kFit},
    {"overlap", &C::overlap, "share", kZen3, kFit},
    {"spill-instructions", &C::spill_instructions, "cycles", kZen3, kFit},
    {"streamed-beyond-l1", &C::streamed_beyond_l1, "bytes a cycle", kZen3, kFit},
    {"streamed-beyond-l2", &C::streamed_beyond_l2, "bytes a cycle", kZen3, kFit},
    {"streamed-beyond-l3", &C::streamed_beyond_l3, "bytes a cycle", kZen3, kFit},
    {"scattered-beyond-l1", &C::scattered_beyond_l1, "bytes a cycle", kZen3, kFit},
    {"scattered-beyond-l2", &C::scattered_beyond_l2, "bytes a cycle", kZen3, kFit},
    {"scattered-beyond-l3", &C::scattered_beyond_l3, "bytes a cycle", kZen3, kFit},
    {"line-bytes", &C::line_bytes, "bytes", "x86-64", kArchitecture},
    {"streamed-lines", &C::streamed_lines, "lines", kZen3, kFit},
    {"cache-ways", &C::cache_ways, "ways", kZen3, kArchitecture},
    {"function-line", &C::function_line, "instructions", kZen5, kChecked},
    {"most-repeats", &C::most_repeats, "times", kZen5, kChecked},
    {"broadcast-registers", &C::broadcast_registers, "registers", "AVX2", kCode},
    {"least-tile-registers", &C::least_tile_registers, "registers", kZen5, kChecked},
    {"least-tile", &C::least_tile, "iterations", kZen5, kChecked},
    {"most-tile", &C::most_tile, "iterations", kZen5, kChecked},
    {"padded-tile", &C::padded_tile, "iterations", kZen5, kChecked},
    {"dense-reuse", &C::dense_reuse, "reads", kZen5, kChecked},
    {"nest-versions", &C::nest_versions, "versions", kZen5, kChecked},
    {"edge-values", &C::edge_values, "versions", kZen5, kChecked},
    {"edge-versions", &C::edge_versions, "versions", kZen5, kChecked},
    {"prefetch-bytes", &C::prefetch_bytes, "bytes", kZen5, kChecked},
    {"prefetch-lines", &C::prefetch_lines, "lines", kZen5, kChecked},
    {"prefetch-part", &C::prefetch_part, "parts", kZen5, kModels},
    {"tile-lines", &C::tile_lines, "lines", kZen5, kModels},
    {"iteration-lines", &C::iteration_lines, "lines", kZen5, kModels},
    {"panels-ahead", &C::panels_ahead, "panels", kZen5, kModels},
    {"panel-part", &C::panel_part, "parts", kZen5, kModels},
    {"padding-line", &C::padding_line, "instructions", kZen5, kChecked},
    {"sum-body", &C::sum_body, "instructions", kZen5, kChecked},
    {"sum-line", &C::sum_line, "instructions", kZen5, kChecked},
    {"held-line", &C::held_line, "instructions", kZen5, kChecked},
    {"held-vectors", &C::held_vectors, "registers", kZen5, kChecked},
    {"held-copies", &C::held_copies, "copies", kZen5, kChecked},
    {"stepping-pointers", &C::stepping_pointers, "registers", kZen5, kChecked},
    {"extremum-values", &C::extremum_values, "values", "AVX2", kCode},
};

}  // namespace

double CostRow::ValueIn(const CostTable& costs) const {
  return std::visit([&](auto of) { return static_cast<double>(costs.*of); }, member);
}

void CostRow::SetIn(CostTable& costs, double value) const {
  std::visit([&](auto of) { costs.*of = static_cast<std::remove_reference_t<decltype(costs.*of)>>(value); },
             member);
}

absl::Span<const CostRow> CostRows() { return kRows; }

}  // namespace kiln
