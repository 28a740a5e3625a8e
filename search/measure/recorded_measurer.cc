#include "search/measure/recorded_measurer.h"

#include "absl/strings/str_cat.h"
#include "lang/text/hash.h"

namespace kiln {
namespace {

std::string KeyOf(const MeasureRequest& request, absl::string_view how) {
  return absl::StrCat(ToString(HashOf(*request.scheduled)), " ", how, request.in_model ? " in-model" : "");
}

}  // namespace

void RecordedMeasurer::Announce(const MeasureRequest& request) {
  if (machine_ != nullptr && !recording_.contains(KeyOf(request, "quick"))) machine_->Announce(request);
}

std::vector<MeasureResult> RecordedMeasurer::Measure(absl::Span<const MeasureRequest> requests) {
  std::vector<MeasureResult> results(requests.size());
  std::vector<MeasureRequest> unknown;
  std::vector<size_t> places;
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto known = recording_.find(KeyOf(requests[i], requests[i].thorough ? "thorough" : "quick"));
    if (known != recording_.end()) {
      results[i] = known->second;
    } else {
      results[i].error = "not in the recording";
      unknown.push_back(requests[i]);
      places.push_back(i);
    }
  }
  if (machine_ == nullptr || unknown.empty()) return results;
  const std::vector<MeasureResult> fresh = machine_->Measure(unknown);
  for (size_t i = 0; i < unknown.size(); ++i) {
    results[places[i]] = fresh[i];
    if (fresh[i].status == outcome::kInterrupted) continue;
    recording_[KeyOf(unknown[i], unknown[i].thorough ? "thorough" : "quick")] = fresh[i];
  }
  return results;
}

std::vector<MeasureResult> RecordedMeasurer::Race(absl::Span<const MeasureRequest> candidates) {
  std::vector<MeasureResult> results;
  for (const MeasureRequest& candidate : candidates) {
    const auto known = recording_.find(KeyOf(candidate, "race"));
    if (known == recording_.end()) break;
    results.push_back(known->second);
  }
  if (results.size() == candidates.size()) return results;
  results.assign(candidates.size(), {});
  if (machine_ == nullptr) return results;
  results = machine_->Race(candidates);
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (results[i].status != outcome::kInterrupted) recording_[KeyOf(candidates[i], "race")] = results[i];
  }
  return results;
}

}  // namespace kiln
