// Runs searches of one operator in the default space and records their progress as lines of JSON: "best" is
// [[trial, seconds], ...] with an entry for each trial that was better than all before it.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/measure/measurer.h"
#include "bench/support/json_results.h"
#include "lang/base/check.h"
#include "modules/space.h"
#include "search/database/store.h"
#include "search/measure/simulated_machine.h"
#include "search/run/tune.h"

namespace kiln {

// The machine that a search measures on: this CPU, or a simulated one.
struct Machine {
  Target target;
  std::unique_ptr<Measurer> measurer;

  static Machine Cpu(const Policies& policies = {}) {
    absl::StatusOr<CpuMeasurer> started = CpuMeasurer::Start({.policies = policies});
    KILN_CHECK(started.ok(), started.status().ToString());
    const Target target = started->target();
    return {target, std::make_unique<CpuMeasurer>(*std::move(started))};
  }
  static Machine Simulated(SimulatedOptions options, const Policies& policies = {}) {
    Target target;
    target.policies = policies;
    target.cores = 1;  // the default of `kiln tune`
    return {target, std::make_unique<SimulatedMachine>(target, options)};
  }
};

// Runs a search of one program in the default space and returns what it stored. There is no final race, so that only
// the search itself counts.
inline StoreContents Searched(const std::string& name, const Program& program, const Machine& machine,
                              TuneOptions options, Store& store) {
  const std::string text = DefaultSpace(machine.target);
  options.finalists = 0;
  options.sketches.space = text;
  const auto results =
      Tune({{name, program, 0}}, ParseSpace(text).value(), machine.target, options, *machine.measurer, store);
  KILN_CHECK(results.ok(), absl::StrCat(name, ": ", results.status().ToString()));
  return store.ReadAll().value();
}

inline Json BestSoFar(const StoreContents& contents) {
  Json best = Json::array();
  double least = std::numeric_limits<double>::infinity();
  for (const RecordRow& record : contents.records) {
    if (!CanBeBest(record) || Seconds(record) >= least) continue;
    least = Seconds(record);
    best.push_back({record.trial + 1, least});
  }
  return best;
}

// Returns the best seconds of a search from its line of JSON; infinity if no candidate ran.
inline double LastSeconds(const Json& line) {
  const Json& best = line["best"];
  return best.empty() ? std::numeric_limits<double>::infinity() : best.back()[1].get<double>();
}

// Returns the trials until a search reached this share of the best known speed; twice its budget if it never did.
inline double TrialsTo(double share, const Json& line, double best_known) {
  for (const Json& step : line["best"])
    if (step[1].get<double>() * share <= best_known) return step[0].get<double>();
  return 2 * line["trials"].get<double>();
}

}  // namespace kiln
