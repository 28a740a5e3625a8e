#include <fstream>

#include "absl/strings/str_cat.h"
#include "lang/base/phase.h"
#include "search/run/global_model.h"
#include "tools/cost_model_option.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string database = "kiln.db", features = "ansor", output;
  bool json = false;
};

absl::Status Train(const Options& o) {
  auto store = OpenExistingStore(o.database);
  if (!store.ok()) return store.status();
  const absl::StatusOr<StoreContents> contents = (*store)->ReadAll();
  if (!contents.ok()) return contents.status();
  const Phase phase("training");
  const auto global = TrainGlobalModel(*contents, *FeatureKindOf(o.features));
  if (!global.ok())
    return absl::Status(global.status().code(), absl::StrCat(o.database, ": ", global.status().message()));
  const auto bytes = global->model->Save();
  if (!bytes.ok()) return bytes.status();
  const Stoppable writes_all_of_it;
  std::ofstream file(o.output, std::ios::binary);
  if (!(file << *bytes).flush()) return absl::UnavailableError(absl::StrCat(o.output, " cannot be written"));
  if (o.json) {
    Print(Json{{"model", o.output},
               {"tasks", global->tasks},
               {"records", global->records},
               {"left_out", global->left_out}});
  } else {
    std::printf(
        "wrote %s, from %d records of %d tasks%s\n", o.output.c_str(), global->records, global->tasks,
        global->left_out == 0 ? "" : absl::StrCat("; ", global->left_out, " cannot be replayed").c_str());
  }
  return absl::OkStatus();
}

}  // namespace

Action AddTrain(CLI::App& command) {
  auto o = std::make_shared<Options>();
  AddDatabase(command, &o->database);
  AddFeatures(command, &o->features);
  command.add_option("-o,--output", o->output, "Where the model goes")->required();
  AddJson(command, &o->json);
  return [o] { return Train(*o); };
}

}  // namespace kiln::tools
