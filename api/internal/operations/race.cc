// Session::Race: times two records of one workload in turns.
#include <array>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/interval.h"
#include "api/internal/measurers.h"
#include "api/internal/operations/operations.h"
#include "api/internal/store/flags_text.h"
#include "api/internal/store/open_store.h"
#include "api/internal/store/record.h"
#include "api/text.h"
#include "backends/vendor/paired_timing.h"
#include "lang/analysis/cost.h"
#include "lang/text/text.h"
#include "search/measure/noise.h"

namespace kiln::api {
namespace {

constexpr int kRounds = 50;  // samples of each program

absl::Status Refused(const std::string& why) { return Mistake(absl::InvalidArgumentError(why)); }

std::string NameOf(const RecordPlace& place) {
  return absl::StrCat("record ", place.record, " of ", place.database);
}

// Sets what the caller left open in a place: the session's database, and the fastest record of this machine in the
// database. kNotFound if the database has no record of this machine. A Mistake if it has several fastest records: of
// several workloads, or for several states of the caches.
absl::Status Complete(const SessionOptions& options, RecordPlace* place) {
  if (place->database.empty()) place->database = options.database;
  if (place->record != 0) return absl::OkStatus();
  SessionOptions there = options;
  there.database = place->database;
  const auto best = BestRecords(there);
  if (!best.ok()) return best.status();
  for (const BestRecord& record : *best) {
    if (!record.measured_here) continue;
    if (place->record != 0)
      return Refused(absl::StrCat(place->database,
                                  " has several workloads; give the numbers of two records (`kiln "
                                  "best --db ",
                                  place->database, "` lists them)"));
    place->record = record.id;
  }
  if (place->record != 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(place->database, " has no record of this machine"));
}

// Describes how a record was built and timed. Two records can race only if their descriptions are equal.
std::string HowTimed(const Rebuilt& record) {
  const RecordFlags& flags = record.entry.record.flags;
  return absl::StrCat(
      CoresText(record.target.cores), flags.contract ? "" : ", no contraction",
      flags.cold ? ", cold caches" : "", flags.in_model ? ", as within a model" : "",
      flags.policies.AreUsual() ? "" : absl::StrCat(", without ", flags.policies.WithoutText()));
}

absl::Status CheckAlike(const std::array<RecordPlace, 2>& places, const std::array<Rebuilt, 2>& records) {
  ThisMachine here;
  for (size_t i = 0; i < 2; ++i) {
    if (records[i].entry.record.flags.is_static)
      return Refused(
          absl::StrCat(NameOf(places[i]), " is static: it was estimated, and nothing can be timed"));
    if (!here.Is(records[i].target))
      return Refused(absl::StrCat(NameOf(places[i]), " was measured on another machine"));
  }
  if (ToString(records[0].original) != ToString(records[1].original))
    return Refused(absl::StrCat(NameOf(places[0]), " is of ", records[0].entry.workload.name, ", ",
                                NameOf(places[1]), " of ", records[1].entry.workload.name,
                                "; a race takes two programs of one workload"));
  if (records[0].target.fingerprint != records[1].target.fingerprint)
    return Refused(absl::StrCat("the records are of two machines: ", records[0].target.fingerprint, "; and ",
                                records[1].target.fingerprint));
  if (HowTimed(records[0]) != HowTimed(records[1]))
    return Refused(absl::StrCat("the records were timed in two ways: ", HowTimed(records[0]), "; and ",
                                HowTimed(records[1])));
  return absl::OkStatus();
}

RacedProgram Told(const RecordPlace& place, MeasureResult& result, double flops) {
  const Quiet quiet = QuietOf(result.raw_samples, result.flags);
  result.flags.noisy |= !quiet.Mostly();
  const Interval seconds = IntervalOf(MedianOf(result.samples));
  return {.database = place.database,
          .record = place.record,
          .seconds = seconds,
          .gflops = flops / seconds.median * 1e-9,
          .flags = result.flags.Print(),
          .how = FlagsText(result.flags, quiet),
          .noise = NoiseText(result.flags, quiet, seconds.median, 0)};
}

}  // namespace

absl::StatusOr<RaceReport> RaceRecords(const SessionOptions& options, const RecordPlace& one,
                                       const RecordPlace& other, Stop& stop) {
  const Stop::Work work(stop);
  std::array<RecordPlace, 2> places = {one, other};
  std::array<Rebuilt, 2> records;
  for (size_t i = 0; i < 2; ++i) {
    if (const absl::Status completed = Complete(options, &places[i]); !completed.ok()) return completed;
    absl::StatusOr<Rebuilt> rebuilt = Rebuild(places[i].database, places[i].record);
    if (!rebuilt.ok()) return rebuilt.status();
    records[i] = *std::move(rebuilt);
  }
  if (const absl::Status alike = CheckAlike(places, records); !alike.ok()) return alike;
  auto started = StartMeasurerOf(records[0], options, kRounds);
  if (!started.ok()) return started.status();
  if (stop.asked()) return absl::CancelledError("interrupted");
  const Stop::Work racing(stop, started->interrupt);
  std::vector<MeasureRequest> requests(2);
  for (size_t i = 0; i < 2; ++i) {
    requests[i].original = &records[0].original;
    requests[i].scheduled = &records[i].scheduled;
    requests[i].in_model = records[0].entry.record.flags.in_model;
    requests[i].best_seconds = Seconds(records[i].entry.record);
  }
  std::vector<MeasureResult> results = started->measurer->Race(requests);
  for (size_t i = 0; i < 2; ++i) {
    if (results[i].status == outcome::kInterrupted) return absl::CancelledError("interrupted");
    if (!results[i].ok())
      return absl::FailedPreconditionError(
          absl::StrCat(NameOf(places[i]), ": ", results[i].status, ": ", results[i].error));
  }
  const double flops = Flops(records[0].original);
  return RaceReport{.workload = records[0].entry.workload.name,
                    .one = Told(places[0], results[0], flops),
                    .other = Told(places[1], results[1], flops),
                    .ratio = IntervalOf(RatioOfMedians(results[0].samples, results[1].samples))};
}

}  // namespace kiln::api
