// Makes the files of tests/inputs/before, which later versions must read:
//
//    kiln.db           a finished run of eight tasks, and an interrupted run of two
//    kiln.jsonl        the same as JSON lines
//    NAME.trace        the fastest trace of each of the eight tasks
//    NAME.model        a global model for each kind of features, as `kiln train` writes it
//    best.txt          the fastest record of each task
//    resumed.txt       the records of the interrupted run as they are when it is finished
//    programs.txt      scheduled programs of the fuzzer
//    before_plugin.cc  a module as people write them (not made here)
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "backends/codegen/context.h"
#include "backends/lower/lower.h"
#include "lang/base/check.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "search/database/json_lines.h"
#include "search/database/memory_store.h"
#include "search/database/sqlite_store.h"
#include "search/run/global_model.h"
#include "testing/random_program.h"
#include "tests/baseline/before.h"
#include "tests/baseline/parts.h"
#include "tests/baseline/simulated.h"
#include "tests/support/random_steps.h"
#include "trace/enumerate.h"
#include "trace/text.h"
#include "validator/validate.h"

namespace kiln::baseline {
namespace {

constexpr int kRandomPrograms = 300;
constexpr const char* kFinished[] = {"torch_matmul_128x3072x768",
                                     "jax_matmul_1024_bf16",
                                     "jax_matmul_u8s8",
                                     "torch_conv2d_nchw_3x3_bias",
                                     "torch_conv2d_depthwise",
                                     "jax_conv2d_nhwc_3x3_bias_relu",
                                     "torch_softmax",
                                     "torch_layernorm"};

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  KILN_CHECK((file << text).flush(), path, " cannot be written");
}

// Returns the text of 300 random programs (kRandomPrograms), each after up to 30 random steps of all primitives but
// sampling steps and `bind`. Draws others for programs that the validator or lowering refuses.
std::string RandomPrograms() {
  std::string text;
  int made = 0;
  for (uint64_t seed = 0; made < kRandomPrograms; ++seed) {
    RandomDice dice(Engine({seed, 78}));
    State state;
    state.program = RandomProgram(dice, {.types = true});
    for (int tries = 0; tries < 30; ++tries) {
      RefreshHandles(state);
      const Step step = RandomStep(state, {}, false, dice);
      if (absl::string_view(step.primitive->name) != "bind")
        Run(state, Target(), step, 0, nullptr, nullptr, nullptr).IgnoreError();
    }
    if (!Validate(state.program, Target()).ok || !Lower(state.program, Context()).ok()) continue;
    ++made;
    absl::StrAppend(&text, ToString(state.program), "---\n");
  }
  return text;
}

}  // namespace

// Returns the two tasks of the interrupted search. The sketches of max pooling are those of the version in which the
// run began: multi-level-tiling did not tile pooling then.
std::vector<TuneTask> InterruptedTasks() {
  std::vector<TuneTask> tasks = TasksNamed({"torch_bmm_12x128x64", "torch_maxpool"});
  const Space space =
      ParseSpace(
          "skip-zeros | drop-padded-terms | each-block(inline-constant-scalars | auto-inline) | "
          "each-block(auto-inline | add-rfactor | pad-to-tile) | each-block(non-temporal-stores | row-blocking) | "
          "random-compute-location | vectorize-rows | parallelize-vectorize-unroll")
          .value();
  tasks[1].sketches = Enumerate(space, tasks[1].program, Target()).value();
  return tasks;
}

TuneOptions InterruptedSearch() {
  TuneOptions options = SmallSearch(96);
  options.seed = 5;
  options.command = "interrupted";
  return options;
}

std::string LinesOf(absl::Span<const RecordRow> records) {
  std::string lines;
  for (const RecordRow& record : records) absl::StrAppend(&lines, record.task, " ", LineOf(record), "\n");
  return lines;
}

void MakeBefore(const std::string& folder) {
  std::filesystem::create_directories(folder);
  const std::string path = absl::StrCat(folder, "/kiln.db");
  KILN_CHECK(!std::filesystem::exists(path), path, " is there already");
  auto store = OpenStore(path).value();

  TuneOptions options = SmallSearch(128);
  options.command = "finished";
  std::string best;
  for (const TuneResult& result : Search(TasksNamed(kFinished), options, *store)) {
    absl::StrAppend(&best, result.record, " ", result.name, " ", LineOf(store->Get(result.record)->record),
                    "\n");
    Write(absl::StrCat(folder, "/", result.name, ".trace"), Print(result.trace));
  }
  Write(absl::StrCat(folder, "/best.txt"), best);

  std::atomic<bool> stop = false;
  options = InterruptedSearch();
  options.stop = &stop;
  options.progress = [&](const TuneProgress& progress) { stop = progress.total_trials >= 40; };
  Search(InterruptedTasks(), options, *store);
  const auto straight = MakeMemoryStore();
  Search(InterruptedTasks(), InterruptedSearch(), *straight);
  Write(absl::StrCat(folder, "/resumed.txt"), LinesOf(straight->ReadAll()->records));

  const StoreContents contents = store->ReadAll().value();
  for (const std::string features : {"ansor", "context-relation", "configuration"}) {
    const auto global = TrainGlobalModel(contents, *FeatureKindOf(features));
    const std::string bytes = global->model->Save().value();
    Write(absl::StrCat(folder, "/", features, ".model"), bytes);
    KILN_CHECK(store->SaveModel({.key = features, .target = contents.targets[0].id, .bytes = bytes}).ok());
  }
  std::ofstream lines(absl::StrCat(folder, "/kiln.jsonl"));
  KILN_CHECK(ExportJson(*store, lines).ok() && lines.flush(), "the JSON lines cannot be written");
  Write(absl::StrCat(folder, "/programs.txt"), RandomPrograms());
}

}  // namespace kiln::baseline
