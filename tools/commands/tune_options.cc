#include "tools/commands/tune_options.h"

#include "api/machine.h"
#include "tools/common.h"

namespace kiln::tools {

void AddBudget(CLI::App& command, api::TuneSettings* s) {
  command.add_option("--trials", s->trials, "Candidates to measure, for all tasks together")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  command.add_option("--time", s->seconds, "Seconds after which no new round begins; 0: no limit")
      ->check(NumberFrom(0, 1e9))
      ->capture_default_str();
  command.add_option("--seed", s->seed, "Seed of all random choices")
      ->check(NumberFrom(0, 18446744073709551615.0))
      ->capture_default_str();
}

void AddMeasuring(CLI::App& command, api::TuneSettings* s) {
  command.add_option("--threads", s->threads, "Cores for the programs, with one thread each; 0: all")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_flag_callback(
      "--no-contract", [s] { s->contract = false; },
      "Round a * b before adding c; by default the two may be fused");
  command.add_flag("--cold", s->cold,
                   "Time with cold caches: evict all that a program reads and writes first");
  command.add_flag("--in-model", s->in_model,
                   "Time as within a model: inputs in the caches, constants in copies that are not");
  command.add_flag_callback(
      "--no-in-place", [s] { s->in_place = false; },
      "Do not run the whole of a file with several calls between rounds, to weigh tasks by their time in it and to "
      "choose those that are timed as within a model");
}

void AddMachine(CLI::App& command, api::TuneSettings* s) {
  AddTarget(
      command, &s->target,
      "The machine to tune for: host, or a GPU; without such a GPU here, programs are estimated and emulated")
      ->capture_default_str();
  command.add_flag("--static", s->is_static, "Estimate cycles for the GPU, though this machine may have one");
}

void AddSearch(CLI::App& command, api::TuneSettings* s) {
  command.add_option("--strategy", s->strategy, "Strategy that proposes the programs to measure")
      ->check(CLI::IsMember(api::StrategyNames()))
      ->capture_default_str();
  command.add_option("--replay", s->replay,
                     "For --strategy replay: a file of traces, one after the other, or a database");
  command.add_option("--start", s->start, "Traces to measure first: a file of traces, or a database");
  command.add_option("--scheduler", s->scheduler, "Which task gets the next round")
      ->check(CLI::IsMember({"gradient", "round-robin"}))
      ->capture_default_str();
  command
      .add_option("--until-roofline", s->until_roofline,
                  "A task ends within this many percent of its roofline; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command
      .add_option(
          "--least-gain", s->least_gain,
          "A task ends if its last quarter of trials, or last 64, gained less than this many percent; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command.add_option("--cost-model", s->cost_model, "How programs are compared before they are measured")
      ->check(CLI::IsMember(api::CostModelNames()))
      ->capture_default_str();
  AddFeatures(command, &s->features);
  command.add_option("--transfer", s->transfer, "A model that `kiln train` wrote, as a start for the search");
}

}  // namespace kiln::tools
