// Settings and results of Session::Build, which makes one library of a whole model. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/model.h"

namespace kiln::api {

struct BuildSettings {
  std::string folder = ".";
  std::string name{};           // of the function and the files; empty: the file's
  std::string target = "host";  // one of TargetNames()
  // A file with the model's constants, .safetensors or .npz: by the names of the arguments, or in order. Given for this
  // machine only, it is prepared and written as NAME.weights.
  std::string weights{};
  bool check = false;  // runs the library on drawn data before it is written; for this machine only
};

// What the check of a built model found.
struct ModelAccuracy {
  bool checked = false;
  double error = 0;    // the greatest of a result relative to its range, beside the model in f64
  double limit = 0;    // that a build refuses to exceed
  std::string note{};  // why there is no error; empty if there is one
};

// How a task of the model is computed.
struct BuiltTask {
  std::string name{}, hash{};
  int occurrences = 1;
  int64_t record = 0;         // of the database; 0: there is none
  double seconds = 0;         // of one call, by the record; 0 if unknown
  std::string schedule{};     // "record", "default" or "untuned"
  std::string assumptions{};  // of the schedule about the data; empty if none
};

struct BuildReport {
  std::string file{}, name{};  // name: of the function
  std::string target{};
  std::vector<Parameter> parameters{};  // of the model in order, constants included
  std::vector<BuiltTask> tasks{};
  int calls = 0;
  int64_t arena_bytes = 0, alive_bytes = 0;  // alive_bytes: the most that is needed at once
  int64_t weights_bytes = 0;
  ModelAccuracy accuracy{};
  std::vector<std::string> files{};  // paths, the header first
  double seconds = 0;                // that the build took
};

}  // namespace kiln::api
