#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "lang/base/aliases.h"
#include "lang/base/check.h"
#include "modules/default_modules.h"
#include "search/clock.h"
#include "search/database/memory_store.h"
#include "search/database/store.h"
#include "search/measure/simulated_machine.h"
#include "search/run/tune.h"
#include "tests/baseline/parts.h"
#include "tests/baseline/simulated.h"
#include "trace/text.h"

namespace kiln::baseline {

std::vector<TuneTask> TasksNamed(absl::Span<const char* const> names) {
  std::vector<TuneTask> tasks;
  for (const char* name : names)
    tasks.push_back({name, OnlyTask(absl::StrCat("tests/inputs/ops/", name, ".mlir"))});
  return tasks;
}

std::vector<TuneResult> Search(const std::vector<TuneTask>& tasks, const TuneOptions& options, Store& store) {
  const Target target;
  SimulatedMachine machine(target);
  auto results = Tune(tasks, CpuSpace, target, options, machine, store);
  KILN_CHECK(results.ok(), results.status().ToString());
  return *std::move(results);
}

TuneOptions SmallSearch(int trials) {
  static const FakeClock clock;
  TuneOptions options;
  options.trials = trials;
  options.seed = 1;
  options.search.population.chains = 32;
  options.search.population.steps = 8;
  options.clock = &clock;
  return options;
}

std::string FirstVersion(absl::string_view trace) {
  std::vector<std::pair<std::string, std::string>> spellings = {{"kiln.trace v2", "kiln.trace v1"}};
  for (const Alias& alias : Aliases()) {
    const std::string old_name(alias.old_name), name(alias.name);
    if (alias.kind == NameKind::kPrimitive) spellings.emplace_back(name + " ", old_name + " ");
    if (alias.kind == NameKind::kChoice) spellings.emplace_back("/" + name + "\"", "/" + old_name + "\"");
    if (alias.kind != NameKind::kModule) continue;
    for (const std::string before : {"/", "@", "\""})
      spellings.emplace_back(before + name + "/", before + old_name + "/");
  }
  return absl::StrReplaceAll(trace, spellings);
}

std::string LineOf(const RecordRow& record) {
  return absl::StrFormat("%d %s %s %.5g %s", record.trial, HashOfBytes(FirstVersion(record.trace)),
                         record.program_hash, Seconds(record), record.status);
}

namespace {

// Prints the records of one search, and returns their traces.
std::vector<Trace> PrintSearch(std::ostream& out, const char* name, const TuneOptions& options) {
  const auto store = MakeMemoryStore();
  Search(TasksNamed({name}), options, *store);
  std::vector<Trace> traces;
  const std::vector<RecordRow> records = store->ReadAll()->records;
  for (const RecordRow& record : records) {
    out << name << " " << options.strategy << " " << LineOf(record) << "\n";
    traces.push_back(ParseTrace(record.trace).value());
  }
  return traces;
}

}  // namespace

void PrintSearches(std::ostream& out) {
  for (const char* name : {"torch_matmul_128x3072x768", "jax_matmul_u8s8", "jax_conv2d_nhwc_3x3_bias_relu",
                           "torch_conv2d_depthwise", "torch_softmax", "torch_dense_bias_gelu"}) {
    TuneOptions options = SmallSearch(48);
    for (const char* strategy : {"annealed", "simulated-annealing", "genetic", "random"}) {
      options.strategy = strategy;
      const std::vector<Trace> traces = PrintSearch(out, name, options);
      options.search.replay.assign(traces.begin(), traces.begin() + std::min<size_t>(12, traces.size()));
    }
    options.strategy = "replay";
    PrintSearch(out, name, options);
  }
  for (const char* name : {"torch_bmm_12x128x64", "torch_matvec_4096", "onnx_Conv_group4",
                           "torch_conv2d_transposed", "torch_layernorm", "torch_maxpool"})
    PrintSearch(out, name, SmallSearch(48));
}

}  // namespace kiln::baseline
