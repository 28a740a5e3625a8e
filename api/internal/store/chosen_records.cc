#include "api/internal/store/chosen_records.h"

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace kiln::api {
namespace {

using Json = nlohmann::json;

std::string KeyOf(const std::string& model_hash) { return absl::StrCat("whole ", model_hash); }

}  // namespace

absl::Status SaveChosen(Store& store, const std::string& model_hash, RowId target,
                        const ChosenRecords& chosen) {
  Json json = Json::object();
  for (const auto& [task, choice] : chosen) json[task] = {choice.record, choice.fastest};
  return store.SaveModel({.key = KeyOf(model_hash),
                          .target = target,
                          .bytes = json.dump(),
                          .note = "by task: the record chosen for the whole, and the fastest then"});
}

ChosenRecords LoadChosen(Store& store, const std::string& model_hash, RowId target) {
  ChosenRecords chosen;
  const auto row = store.LoadModel(KeyOf(model_hash), target);
  if (!row.ok() || !row->has_value()) return chosen;
  try {
    const Json json = Json::parse((*row)->bytes);
    for (const auto& [task, pair] : json.items())
      chosen[task] = {pair.at(0).get<RowId>(), pair.at(1).get<RowId>()};
  } catch (const Json::exception&) {
    chosen.clear();
  }
  return chosen;
}

}  // namespace kiln::api
