#include "search/database/store.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace kiln {
double Seconds(const RecordRow& record) {
  std::vector<double> sorted = record.samples;
  if (sorted.empty()) return std::numeric_limits<double>::infinity();
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : sorted[middle - 1] / 2 + sorted[middle] / 2;
}

bool CanBeBest(const RecordRow& record) {
  return record.status == outcome::kOk && !record.lower_bound && !record.samples.empty();
}

absl::Status CheckHash(absl::string_view field, absl::string_view hash) {
  const bool hex = std::all_of(hash.begin(), hash.end(),
                               [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (hash.size() == 32 && hex) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, " \"", hash, "\" is not 32 lower-case hex digits"));
}

absl::Status CheckRecord(const RecordRow& record) {
  const auto invalid = [&](const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat("record of task ", record.task, ", trial ", record.trial, ": ", what...));
  };
  if (const absl::Status hash = CheckHash("program_hash", record.program_hash); !hash.ok())
    return invalid(hash.message());
  if (record.task < 0 || record.round < 0 || record.trial < 0)
    return invalid("task, round and trial are not negative");
  if (record.status.empty()) return invalid("status is empty");
  if (record.verified && record.status != outcome::kOk)
    return invalid("verified, but its status is ", record.status);
  for (const double sample : record.samples) {
    if (!std::isfinite(sample) || std::signbit(sample))
      return invalid("sample ", sample, " is not a time in seconds");
  }
  if (record.raw_samples.size() % 2 != 0)
    return invalid("taken has ", record.raw_samples.size(), " numbers, and should have two a sample");
  for (const double number : record.raw_samples) {
    if (!std::isfinite(number) || std::signbit(number))
      return invalid("taken has ", number, ", which is neither a time nor a slowdown");
  }
  if (!nlohmann::json::parse(record.facts, nullptr, false).is_object())
    return invalid("facts are not a JSON object: ", record.facts);
  return absl::OkStatus();
}

bool SameMeasurement(const RecordRow& a, const RecordRow& b) {
  return a.workload == b.workload && a.target == b.target && a.run == b.run && a.task == b.task &&
         a.round == b.round && a.trial == b.trial && a.sketch == b.sketch && a.trace == b.trace &&
         a.program_hash == b.program_hash && a.samples == b.samples && a.lower_bound == b.lower_bound &&
         a.flags == b.flags && a.created == b.created;
}

absl::Status DifferentMeasurement(const RecordRow& stored, absl::string_view run_uid) {
  return absl::AlreadyExistsError(absl::StrCat("record ", stored.id, " (run ", run_uid, ", task ",
                                               stored.task, ", trial ", stored.trial,
                                               ") is another measurement than the incoming one of the same "
                                               "trial: two copies of this run were continued apart; "
                                               "merge into an empty store instead"));
}

std::string RandomUid() {
  std::random_device entropy;
  return absl::StrFormat("%08x%08x%08x%08x", entropy(), entropy(), entropy(), entropy());
}

}  // namespace kiln
