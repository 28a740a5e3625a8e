// Settings and results of Session::Bundle, ImportRecords and ExportRecords. A bundle is a folder of compiled programs
// that a machine with a GPU times. Its results come back as records. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/tuning.h"

namespace kiln::api {

struct BundleSettings {
  SpaceSettings space{};
  std::string task{};           // only this one; empty: all
  std::string target = "h100";  // a GPU
  int programs = 100;           // of each task, at most
  uint64_t seed = 0;
  int runs = 10;            // samples of each program
  double run_seconds = 10;  // limit of each program on the machine with the GPU
  std::string folder{};
};

struct BundledTask {
  std::string name{};
  int programs = 0;  // in the bundle
  int drawn = 0;     // different programs that were drawn
  int refused = 0;   // drawn programs that could not be compiled
};

struct BundleReport {
  std::string folder{};
  int64_t bytes = 0;
  std::vector<BundledTask> tasks{};
};

struct ImportReport {
  int added = 0, present = 0;  // records that are new, and that the database had already
};

struct ExportReport {
  int records = 0;
};

}  // namespace kiln::api
