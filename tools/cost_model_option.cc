#include "tools/cost_model_option.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "search/cost/models.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

absl::StatusOr<std::shared_ptr<const CostModel>> ReadGlobalModel(const std::string& path,
                                                                 FeatureKind features) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return absl::NotFoundError(absl::StrCat(path, " cannot be read; `kiln train` makes such files"));
  auto model = LoadGlobalModel(features, bytes);
  if (!model.ok())
    return absl::Status(model.status().code(), absl::StrCat(path, ": ", model.status().message()));
  return model;
}

}  // namespace

void AddFeatures(CLI::App& command, std::string* features) {
  command
      .add_option("--features", *features, "What the model sees: ansor, context-relation or configuration")
      ->check(CLI::IsMember(FeatureKindNames()))
      ->capture_default_str();
}

void AddCostModelOption(CLI::App& command, CostModelOption* option) {
  command
      .add_option("--cost-model", option->model,
                  "trees, trees-alone, trees-rank, trees-residual, ensemble, roofline or random")
      ->check(CLI::IsMember(CostModelNames()))
      ->capture_default_str();
  AddFeatures(command, &option->features);
  command.add_option("--transfer", option->transfer,
                     "A model that `kiln train` wrote: the search begins with what it knows");
}

std::string CommandText(const CostModelOption& option) {
  std::string text;
  if (option.model != "trees") absl::StrAppend(&text, " --cost-model ", option.model);
  if (option.features != "ansor") absl::StrAppend(&text, " --features ", option.features);
  if (!option.transfer.empty()) {
    const std::string path = std::filesystem::absolute(option.transfer).lexically_normal().string();
    absl::StrAppend(&text, " --transfer ", Quoted(path));
  }
  return text;
}

absl::Status UseCostModel(const CostModelOption& option, TuneOptions* tuning) {
  CostModelOptions options{.features = *FeatureKindOf(option.features), .seed = tuning->seed};
  if (!option.transfer.empty()) {
    auto global = ReadGlobalModel(option.transfer, options.features);
    if (!global.ok()) return global.status();
    options.global = *std::move(global);
  }
  if (const auto model = MakeCostModel(option.model, options); !model.ok()) return Usage(model.status());
  tuning->features = options.features;
  tuning->model = [name = option.model, options](int) { return MakeCostModel(name, options); };
  return absl::OkStatus();
}

}  // namespace kiln::tools
