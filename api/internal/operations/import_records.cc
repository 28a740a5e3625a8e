// Session::ImportRecords and ExportRecords: reads and writes records as JSON lines (search/database/json_lines.h), and
// reads the results of a bundle (backends/gpu/driver/run_bundle.h).
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/operations/operations.h"
#include "api/internal/store/open_store.h"
#include "nlohmann/json.hpp"
#include "search/database/json_lines.h"
#include "search/database/sqlite_store.h"

namespace kiln::api {
namespace {

using Json = nlohmann::json;

// Parses the results of a bundle, one JSON object a line, into rows of a database: the machine, the run, the workloads
// and the records. Skips results that an interrupt ended.
class BundleReader {
 public:
  absl::StatusOr<StoreContents> Read(std::istream& in, const std::string& file) {
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (line.empty()) continue;
      const Json object = Json::parse(line, nullptr, false);
      try {
        Take(object);
      } catch (const Json::exception& wrong) {
        return absl::InvalidArgumentError(absl::StrCat(file, ":", number, ": ", wrong.what()));
      }
      if (contents_.targets.empty() && !contents_.records.empty())
        return absl::InvalidArgumentError(
            absl::StrCat(file, ":", number, ": no machine before the first result"));
    }
    if (contents_.runs.size() != 1 || contents_.targets.size() != 1)
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": no results of a bundle: there is no line with the run, or with the machine"));
    contents_.targets[0].text = target_;
    return std::move(contents_);
  }

 private:
  void Take(const Json& line) {
    const std::string item = line.at("item");
    if (item == "machine") {
      TargetRow& target = contents_.targets.emplace_back();
      target.id = 1;
      target.fingerprint = line.at("machine").at("fingerprint");
    } else if (item == "run") {
      RunRow& run = contents_.runs.emplace_back();
      run.id = 1;
      run.uid = line.at("uid");
      run.command = line.at("command");
      run.options = "{}";
      run.seed = line.at("seed");
      run.kiln_version = line.at("kiln");
      run.llvm_version = line.at("llvm");
      run.xgboost_version = line.at("xgboost");
      run.started = line.at("started");
      run.finished = true;
      target_ = line.at("target");
    } else if (item == "workload") {
      WorkloadRow& workload = contents_.workloads.emplace_back();
      workload.id = line.at("id").get<RowId>() + 1;
      workload.hash = line.at("hash");
      workload.name = line.at("name");
      workload.program = line.at("program");
    } else if (item == "time" && line.contains("trace")) {
      TakeResult(line);
    }
  }

  void TakeResult(const Json& line) {
    if (line.at("status").get<std::string>() == outcome::kInterrupted) return;
    RecordRow& record = contents_.records.emplace_back();
    record.id = std::ssize(contents_.records);
    record.workload = line.at("workload").get<RowId>() + 1;
    record.target = record.run = 1;
    record.task = line.at("workload");
    record.trial = line.at("trial");
    record.sketch = line.at("sketch");
    record.trace = line.at("trace");
    record.program_hash = line.at("program_hash");
    record.status = line.at("status");
    record.error = line.value("detail", "");
    record.samples = line.value("samples", std::vector<double>());
    for (const double sample : record.samples)
      record.raw_samples.insert(record.raw_samples.end(), {sample, line.value("slowdown", 1.0)});
    record.flags = RecordFlags::Parse(line.value("flags", ""));
    record.verified = record.status == outcome::kOk;
    record.created = contents_.runs.at(0).started;
  }

  StoreContents contents_;
  std::string target_;
};

}  // namespace

absl::StatusOr<ImportReport> ImportRecordsFrom(const SessionOptions& options, const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", file));
  auto store = OpenStore(options.database);
  if (!store.ok()) return store.status();
  std::string first;
  std::getline(in, first);
  in.clear();
  in.seekg(0);
  absl::StatusOr<MergeResult> merged;
  if (first.find("\"kiln-records\"") != std::string::npos) {
    merged = ImportJson(**store, in, file);
  } else {
    const absl::StatusOr<StoreContents> contents = BundleReader().Read(in, file);
    if (!contents.ok()) return Mistake(contents.status());
    merged = (*store)->Merge(*contents);
  }
  if (!merged.ok()) return merged.status();
  return ImportReport{merged->added, merged->present};
}

absl::StatusOr<ExportReport> ExportRecordsTo(const SessionOptions& options, const std::string& file) {
  auto store = OpenExistingStore(options.database);
  if (!store.ok()) return store.status();
  std::ofstream out(file, std::ios::binary);
  if (!out) return absl::UnavailableError(absl::StrCat(file, " cannot be written"));
  const absl::StatusOr<int> records = ExportJson(**store, out);
  if (!records.ok()) return records.status();
  return ExportReport{*records};
}

}  // namespace kiln::api
