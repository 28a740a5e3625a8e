// How a record was built and timed. A database and JSON lines keep it as words with spaces between,
// "threads=2 contract cold-cache race"; this is the one place that knows them.
//
//   RecordFlags flags = RecordFlags::Parse("threads=2 contract of-a-measurer");
//   flags.race = true;
//   flags.Print();   // "threads=2 contract race of-a-measurer"
//
// Words that are not known, of another measurer or a later version, are kept in `unknown` and printed last.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln {

struct RecordFlags {
  int threads = 0;            // that it ran on; numbers are 0 where nothing is said
  bool contract = false;      // multiply-adds fused; once spelled "contraction"
  bool reassociated = false;  // sums reordered
  bool cold = false;          // "cold-cache": caches held nothing of it; such times and others do not compare
  bool relative = false;      // divided by the slowdown of a reference kernel
  bool spot_checked = false;  // chosen elements of its outputs were compared, not all
  bool uninterpreted = false;  // the original was not checked by the interpreter
  bool prepare = false;        // constants were prepared before
  bool disturbed = false;      // most samples were, by other programs
  int retaken = 0;             // samples that were taken again
  int preempted = 0;           // samples that count though another process had the core meanwhile
  int others = 0;              // threads of other programs that were ready to run
  // Other programs may have changed the time (search/measure/noise.h). A measurer says so where more threads are
  // ready to run than there are cores; the tuner where most samples of a race were disturbed, or where race
  // and search differ.
  bool noisy = false;
  bool race = false;    // of the race at the end of a run
  bool proven = false;  // equal to the original by proof (validator/proof/proof.h)
  std::vector<std::string> unknown = {};

  static RecordFlags Parse(absl::string_view text);
  std::string Print() const;  // in the order above
  bool operator==(const RecordFlags&) const = default;
};

}  // namespace kiln
