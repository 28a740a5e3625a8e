// How a record was built and timed. Databases and JSON lines keep it as words with spaces between, such as
// "threads=2 contract cold-cache race". Only this class knows the words.
//
//   RecordFlags flags = RecordFlags::Parse("threads=2 contract of-a-measurer");
//   flags.race = true;
//   flags.Print();   // "threads=2 contract race of-a-measurer"
//
// Unknown words, of another measurer or a later version, are kept in `unknown` and printed last.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lang/target/policies.h"

namespace kiln {

// What the caches hold when a timed run begins. kWarm: all that the program reads. kCold: nothing of it. kInModel: its
// inputs, but not its constants, as within a model. Times with different caches are not comparable.
enum class Caches { kWarm, kCold, kInModel };
inline constexpr Caches kAllCaches[] = {Caches::kWarm, Caches::kCold, Caches::kInModel};

struct RecordFlags {
  int threads = 0;             // threads that it ran on; 0: unknown
  bool contract = false;       // multiply and add may be fused; formerly spelled "contraction"
  bool reassociated = false;   // sums reordered
  bool cold = false;           // "cold-cache": run with cold caches; not comparable with warm times
  bool in_model = false;       // "in-model": run with its constants out of the caches; not comparable either
  bool relative = false;       // divided by the slowdown of a reference kernel
  bool spot_checked = false;   // only chosen elements of the outputs were compared
  bool uninterpreted = false;  // the interpreter did not check the original
  bool prepare = false;        // constants were prepared before the timing
  bool disturbed = false;      // other programs disturbed most samples
  int retaken = 0;             // samples taken again
  int preempted = 0;           // samples that count although another process had the core meanwhile
  int others = 0;              // threads of other programs that were ready to run
  // True if other programs may have changed the time (search/measure/noise.h). A measurer sets this if more threads are
  // ready to run, the program's included, than there are cores. The tuner sets it if most samples of a race were
  // disturbed, or if the times in race and search differ by a factor of more than 1.2.
  bool noisy = false;
  bool race = false;    // measured in the race at the end of a run
  bool proven = false;  // proven equal to the original (validator/proof/proof.h)
  // The word "static": the record's time is an estimate of cycles divided by a clock rate, not a measurement
  // (backends/measure/static_machine.h).
  bool is_static = false;
  bool emulated = false;   // its kernels ran in the emulator without a fault
  Policies policies = {};  // "without=NAMES": those that the user switched
  std::vector<std::string> unknown = {};

  Caches caches() const { return cold ? Caches::kCold : in_model ? Caches::kInModel : Caches::kWarm; }
  static RecordFlags Parse(absl::string_view text);
  std::string Print() const;  // words in the order of the fields above
  bool operator==(const RecordFlags&) const = default;
};

}  // namespace kiln
