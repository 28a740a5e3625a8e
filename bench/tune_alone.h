// Tunes one program in this process.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/cores.h"
#include "backends/measure/measurer.h"
#include "lang/analysis/cost.h"
#include "modules/space.h"
#include "search/database/memory_store.h"
#include "search/run/tune.h"

namespace kiln {

// Tunes in the default space with a store of its own. kFailedPrecondition if no candidate ran.
inline absl::StatusOr<TuneResult> TuneAlone(const Program& program, int trials, uint64_t seed,
                                            CpuMeasurer& measurer) {
  const std::string text = DefaultSpace(measurer.target());
  const absl::StatusOr<Space> space = ParseSpace(text);
  if (!space.ok()) return space.status();
  TuneOptions options;
  options.trials = trials;
  options.seed = seed;
  options.sketches.space = text;
  options.threads = static_cast<int>(UsableCores().size());
  const auto store = MakeMemoryStore();
  auto results =
      Tune({{program.name, program, Flops(program)}}, *space, measurer.target(), options, measurer, *store);
  if (!results.ok()) return results.status();
  if ((*results)[0].record == 0) return absl::FailedPreconditionError("no candidate ran");
  return std::move((*results)[0]);
}

}  // namespace kiln
