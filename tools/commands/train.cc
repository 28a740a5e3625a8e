#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/session.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string database = "kiln.db", features = "ansor", output;
  bool json = false;
};

absl::Status Train(const Options& o) {
  const auto trained = api::Session({.database = o.database}).Train(o.features, o.output);
  if (!trained.ok()) return trained.status();
  if (o.json) {
    Print(api::ToJson(*trained));
    return absl::OkStatus();
  }
  const std::string left_out =
      trained->left_out == 0 ? "" : absl::StrCat("; ", trained->left_out, " cannot be replayed");
  std::printf("wrote %s, from %d records of %d tasks%s\n", trained->model.c_str(), trained->records,
              trained->tasks, left_out.c_str());
  return absl::OkStatus();
}

}  // namespace

Action AddTrain(CLI::App& command) {
  auto o = std::make_shared<Options>();
  AddDatabase(command, &o->database);
  AddFeatures(command, &o->features);
  command.add_option("-o,--output", o->output, "File for the model")->required();
  AddJson(command, &o->json);
  return [o] { return Train(*o); };
}

}  // namespace kiln::tools
