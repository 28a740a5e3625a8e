// kiln_model_fuzz [--models N] [--seed N] [--processes N] [--results FILE] [--summary FILE] [--commit ID]
//
// A random test of whole models: builds random small models (testing/random_model.h) as libraries, runs them, and
// compares results and status with the interpreter. Three fifths of the models with constants of the caller are
// simplified first (lang/graph/simplify_model.h), half of these with the policy "channels-last". A third of all models
// is not scheduled. The tasks of another third get random steps (TryRandomSteps), and those of the rest a draw from the
// space `cpu`. A task stays unscheduled if the result has loops on GPU axes, cannot be lowered, or is refused by the
// validator. Each library runs twice on one thread and twice on two, and must write only to its results, its weights
// and its arena. A quarter of the libraries also runs with each array between guard pages
// (backends/model/check_memory.h). tests/support/forked_chunks.h explains the options.
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/model/check_memory.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/lowerable.h"
#include "lang/graph/simplify_model.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "modules/default_modules.h"
#include "testing/random_model.h"
#include "tests/backends/built_model.h"
#include "tests/backends/workers.h"
#include "tests/support/forked_chunks.h"
#include "tests/support/random_steps.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "validator/validate.h"

namespace kiln {
namespace {

constexpr int kSteps = 12;  // tries for each task

constexpr const char* kClasses[] = {"several-tasks",  "several-results", "constants-with-bytes",
                                    "prepare-calls",  "prepared-arrays", "workspaces",
                                    "threads",        "assertion-fails", "random-steps",
                                    "drawn-schedule", "arena",           "simplified",
                                    "joined",         "views",           "slices",
                                    "channels-last"};

BuilderPool& Builders() {  // of this process
  static auto* const pool = StartBuilders().release();
  return *pool;
}

Program RandomSteps(const Program& task, Dice& dice) {
  State state;
  state.program = task;
  TryRandomSteps(state, kSteps, dice);
  const Program& p = state.program;
  const bool is_for_gpu =
      absl::c_any_of(LoopsBelow(p, kRoot), [&](Id loop) { return p.loop(loop).kind > LoopKind::kPipelined; });
  LoopNestSummary nests;
  nests.Read(p);
  return !is_for_gpu && VerifyLowerable(nests).ok() && Validate(p, Target()).ok ? p : task;
}

Program DrawnSchedule(const Program& task, Dice& dice) {
  const auto sketches = Enumerate(CpuSpace, task, Target());
  if (!sketches.ok() || sketches->sketches.empty()) return task;
  const auto count = static_cast<int64_t>(sketches->sketches.size());
  RandomChooser chooser(dice);
  const auto drawn = Replay(sketches->sketches[dice.Below(count)].trace, task, Target(), chooser);
  return drawn.ok() && Validate(drawn->program(), Target()).ok ? drawn->program() : task;
}

// Compares the f32 results in `found` with those in `wanted`. Returns a description of the first element that differs,
// or "" if none does. 0.0 and -0.0 count as equal. NaN differs from everything.
std::string Difference(const std::vector<std::string>& found, const std::vector<std::string>& wanted) {
  for (size_t r = 0; r < wanted.size(); ++r) {
    for (size_t at = 0; at < wanted[r].size(); at += sizeof(float)) {
      float one, other;
      std::memcpy(&one, found[r].data() + at, sizeof one);
      std::memcpy(&other, wanted[r].data() + at, sizeof other);
      if (one != other)
        return absl::StrCat("element ", at / sizeof(float), " of result ", r, " is ", one, ", not ", other);
    }
  }
  return "";
}

void Classify(const BuiltModel& built, bool fails, SeedResult& result) {
  const Program& p = built.model;
  const auto outputs =
      absl::c_count_if(p.parameters, [&](Id id) { return p.buffers[id].role == Role::kOutput; });
  const std::vector<ModelCall>& calls = built.plan.calls;
  const bool classes[] = {
      calls.size() > 1,
      outputs > 1,
      p.constants != nullptr && !p.constants->empty(),
      absl::c_any_of(calls, [](const ModelCall& call) { return call.prepares; }),
      absl::c_any_of(calls, [](const ModelCall& call) { return !call.prepared.empty(); }),
      absl::c_any_of(calls, [](const ModelCall& call) { return !call.workspaces.empty(); }),
      built.library.Get<int(int)>("net_set_threads") != nullptr,
      fails,
  };
  absl::c_copy(classes, result.of_class.begin());
}

SeedResult RunSeed(uint64_t seed) {
  RandomDice dice(Engine({seed, 79}));
  const auto kind = seed % 3;
  std::vector<std::string> tasks;
  Program model = RandomModel(seed);
  Policies policies;
  if (seed / 5 % 2 == 1) policies.Switch(Policy::kChannelsLast);
  const ModelSimplifications simplified =
      seed % 5 < 3 ? SimplifyModel(model, policies) : ModelSimplifications();
  const auto built = BuildModel(std::move(model), Builders(), [&](const Program& task) {
    Program scheduled = kind == 0 ? task : kind == 1 ? RandomSteps(task, dice) : DrawnSchedule(task, dice);
    tasks.push_back(ToString(scheduled));
    return scheduled;
  });
  const auto told = [&](absl::string_view what) {
    std::string text = absl::StrCat(what, "\n", ToString(RandomModel(seed)));
    for (const std::string& task : tasks) absl::StrAppend(&text, "task\n", task);
    return SeedResult{true, text};
  };
  if (!built.ok()) return told(built.status().ToString());
  const std::vector<std::string> inputs = RandomModelInputs(built->model, seed);
  const auto wanted = Run(RandomModel(seed), inputs);
  auto* set_threads = built->library.Get<int(int)>("net_set_threads");
  ModelMemory memory(*built, inputs);
  if (memory.Prepare() != 0) return told("the prepare phase failed");
  for (const int threads : {1, 2}) {
    if (set_threads != nullptr) set_threads(threads);
    for (int n = 0; n < 2; ++n) {
      if (memory.Run() != (wanted.ok() ? 0 : 1)) return told("wrong status");
      if (!memory.IsWhole()) return told("wrote beside its memory");
      const std::string wrong = wanted.ok() ? Difference(memory.Outputs(), *wanted) : "";
      if (!wrong.empty()) return told(absl::StrCat(wrong, ", with ", threads, " threads"));
    }
  }
  if (seed % 4 == 0) {
    const std::vector<std::string> names(built->code.code.size(), "task");
    const std::vector<absl::string_view> given(inputs.begin(), inputs.end());
    const auto run = CheckMemory({built->model, built->plan, built->code, "net", names, given},
                                 built->shared_object, Builders());
    if (!run.ok()) return told(run.status().ToString());
  }
  SeedResult result{true};
  Classify(*built, !wanted.ok(), result);
  result.of_class[8] = kind == 1;
  result.of_class[9] = kind == 2;
  result.of_class[10] = built->plan.arena_bytes > 0;
  result.of_class[11] = simplified.applied;
  result.of_class[12] = simplified.joined > 0;
  result.of_class[15] = simplified.permuted > 0;
  for (const ModelView& view : built->plan.views) result.of_class[view.slice ? 14 : 13] = true;
  return result;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunForkedChunks(argc, argv,
                               {.program = "kiln_model_fuzz",
                                .about = "Libraries of random models beside the interpreter",
                                .things = "models",
                                .run = "compiled models",
                                .classes = {std::begin(kiln::kClasses), std::end(kiln::kClasses)},
                                .least_share = 1,
                                .run_seed = kiln::RunSeed});
}
