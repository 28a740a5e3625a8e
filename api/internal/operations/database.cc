// Operations of a Session on a whole database: lists its runs, and trains a cost model on its records.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "api/internal/operations/operations.h"
#include "api/internal/store/open_store.h"
#include "api/internal/store/rounds.h"
#include "api/internal/strategy.h"
#include "lang/base/phase.h"
#include "nlohmann/json.hpp"
#include "search/run/global_model.h"

namespace kiln::api {
namespace {

// Returns the command line that the user typed, from the key that identifies a run (search/run/run_key.h), or the key
// itself if it holds none.
std::string CommandOf(const RunRow& run) {
  const auto key = nlohmann::json::parse(run.command, nullptr, false);
  const bool has = key.is_object() && key.contains("command") && key["command"].is_string();
  return has ? key["command"].get<std::string>() : run.command;
}

// Writes the file completely or not at all: writes a temporary file and renames it. kUnavailable if it cannot.
absl::Status WriteFile(const std::string& path, const std::string& bytes) {
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".new");
  std::ofstream file(temporary, std::ios::binary);
  if ((file << bytes).flush() && std::rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  std::remove(temporary.c_str());
  return absl::UnavailableError(absl::StrCat(path, " cannot be written"));
}

}  // namespace

absl::StatusOr<std::vector<RunInfo>> RunsOf(const SessionOptions& options, RowId run) {
  auto store = OpenExistingStore(options.database);
  if (!store.ok()) return store.status();
  const auto runs = (*store)->Runs();
  if (!runs.ok()) return runs.status();
  std::vector<RunInfo> list;
  for (const RunRow& row : *runs) {
    if (run != 0 && row.id != run) continue;
    absl::StatusOr<std::vector<Round>> rounds = RoundsOf(**store, row.id);
    if (!rounds.ok()) return rounds.status();
    list.push_back(
        {row.id, CommandOf(row), row.options, row.seed, row.started, row.finished, *std::move(rounds)});
  }
  if (run != 0 && list.empty())
    return absl::NotFoundError(
        absl::StrCat(options.database, " has no run ", run, "; `kiln log` without --run lists its runs"));
  return list;
}

absl::StatusOr<TrainResult> TrainModel(const SessionOptions& options, const std::string& features,
                                       const std::string& file) {
  const absl::StatusOr<FeatureKind> kind = FeaturesNamed(features);
  if (!kind.ok()) return kind.status();
  auto store = OpenExistingStore(options.database);
  if (!store.ok()) return store.status();
  const absl::StatusOr<StoreContents> contents = (*store)->ReadAll();
  if (!contents.ok()) return contents.status();
  const Phase phase("training");
  const auto global = TrainGlobalModel(*contents, *kind);
  if (!global.ok())
    return absl::Status(global.status().code(),
                        absl::StrCat(options.database, ": ", global.status().message()));
  const auto bytes = global->model->Save();
  if (!bytes.ok()) return bytes.status();
  if (const absl::Status written = WriteFile(file, *bytes); !written.ok()) return written;
  return TrainResult{file, global->tasks, global->records, global->left_out};
}

}  // namespace kiln::api
