#include "api/internal/store/chosen_layout.h"

#include "absl/strings/str_cat.h"

namespace kiln::api {
namespace {

constexpr absl::string_view kFile = "file", kChannelsLast = "channels-last";

std::string KeyOf(const std::string& model_hash) { return absl::StrCat("layout ", model_hash); }

}  // namespace

absl::Status SaveLayout(Store& store, const std::string& model_hash, RowId target, bool channels_last,
                        const std::string& note) {
  return store.SaveModel({.key = KeyOf(model_hash),
                          .target = target,
                          .bytes = std::string(channels_last ? kChannelsLast : kFile),
                          .note = note});
}

std::optional<bool> LoadLayout(Store& store, const std::string& model_hash, RowId target) {
  const auto row = store.LoadModel(KeyOf(model_hash), target);
  if (!row.ok() || !row->has_value()) return std::nullopt;
  if ((*row)->bytes == kChannelsLast) return true;
  if ((*row)->bytes == kFile) return false;
  return std::nullopt;
}

}  // namespace kiln::api
