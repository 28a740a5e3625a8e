#include "api/internal/strategy.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/store/open_store.h"
#include "lang/base/unknown_name.h"
#include "trace/text.h"

namespace kiln::api {
namespace {

constexpr char kHead[] = "kiln.trace ";

// Returns the traces of all records in a database that CanBeBest (they ran to the end, have samples, and are no lower
// bounds), the fastest first.
absl::StatusOr<std::vector<Trace>> TracesOfDatabase(const std::string& path) {
  auto store = OpenExistingStore(path);
  if (!store.ok()) return store.status();
  absl::StatusOr<StoreContents> contents = (*store)->ReadAll();
  if (!contents.ok()) return contents.status();
  std::vector<RecordRow>& records = contents->records;
  std::erase_if(records, [](const RecordRow& record) { return !CanBeBest(record); });
  std::sort(records.begin(), records.end(), [](const RecordRow& a, const RecordRow& b) {
    return std::make_pair(Seconds(a), a.id) < std::make_pair(Seconds(b), b.id);
  });
  std::vector<Trace> traces;
  for (const RecordRow& record : records) {
    absl::StatusOr<Trace> trace = ParseTrace(record.trace, absl::StrCat(path, ": record ", record.id));
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
  }
  return traces;
}

absl::StatusOr<std::vector<Trace>> TracesOfText(const std::string& text, const std::string& path) {
  std::vector<Trace> traces;
  for (size_t at = 0; at < text.size();) {
    const size_t next = text.find(absl::StrCat("\n", kHead), at);
    const size_t end = next == std::string::npos ? text.size() : next + 1;
    const std::string name = absl::StrCat(
        path, traces.empty() && end == text.size() ? "" : absl::StrCat(" (trace ", traces.size() + 1, ")"));
    absl::StatusOr<Trace> trace = ParseTrace(text.substr(at, end - at), name);
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
    at = end;
  }
  return traces;
}

absl::StatusOr<std::vector<Trace>> LoadTraces(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  if (absl::StartsWith(text, "SQLite format 3")) return TracesOfDatabase(path);
  auto traces = TracesOfText(text, path);
  if (traces.ok() && traces->empty())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":1:1: no trace; one begins with \"", kHead, "v2\""));
  return traces;
}

}  // namespace

absl::Status UseStrategy(const TuneSettings& settings, TuneOptions* tuning) {
  if ((settings.strategy == "replay") != !settings.replay.empty())
    return Mistake(absl::InvalidArgumentError("--strategy replay and --replay FILE go together"));
  constexpr absl::string_view kSchedulers[] = {"gradient", "round-robin"};
  if (!absl::c_linear_search(kSchedulers, settings.scheduler))
    return Mistake(absl::InvalidArgumentError(UnknownName("scheduler", settings.scheduler, kSchedulers)));
  if (const absl::Status known = CheckStrategy(settings.strategy); !known.ok()) return Mistake(known);
  tuning->strategy = settings.strategy;
  tuning->scheduling = settings.scheduler == "gradient" ? Scheduling::kGradient : Scheduling::kRoundRobin;
  tuning->until_roofline = settings.until_roofline / 100;
  tuning->least_gain = settings.least_gain / 100;
  const auto load = [](const std::string& file, std::vector<Trace>* into) {
    if (file.empty()) return absl::OkStatus();
    absl::StatusOr<std::vector<Trace>> traces = LoadTraces(file);
    if (traces.ok()) *into = *std::move(traces);
    return traces.status();
  };
  const absl::Status replay = load(settings.replay, &tuning->search.replay);
  return replay.ok() ? load(settings.start, &tuning->start) : replay;
}

}  // namespace kiln::api
