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
  // A file with the model's constants, .safetensors or .npz. They are matched to the arguments by name, or else by
  // order. Build prepares them and writes NAME.weights; only for the target "host".
  std::string weights{};
  bool check = false;  // runs the library on drawn data before it is written; for this machine only
};

// What the check of a built model found.
struct ModelAccuracy {
  bool checked = false;
  double error = 0;    // largest error of a result against the model in f64, over its largest element
  double limit = 0;    // a larger error makes the build fail
  std::string note{};  // why there is no error; empty if there is one
};

// How a task of the model is computed.
struct BuiltTask {
  std::string name{}, hash{};
  int occurrences = 1;
  int64_t record = 0;         // of the database; 0: there is none
  double seconds = 0;         // of one call, by the record; 0 if unknown
  std::string schedule{};     // "record", "default", "untuned", or "foreign": code of upstream MLIR
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

// A call of a built model.
struct PlannedCall {
  int number = 0;
  bool prepares = false;  // whether it runs once, when the weights are prepared
  std::string task{}, arguments{};
  std::string schedule{};  // "record 12", "default", "untuned" or "foreign"
  bool takes_threads = false;
  int64_t bytes = 0;      // of the arrays that it takes
  int64_t workspace = 0;  // bytes of its scratch memory
};

// A part of the arena, of the weights or of the scratch area of the prepare phase.
struct PlannedArray {
  std::string area{};
  int64_t begin = 0, end = 0;  // offsets in bytes
  std::string what{};
  int first = -1, last = -1;  // the calls in which it is alive, both inclusive; -1: it always is
};

// What NAME.trace says of a model that Session::Build made.
struct PlannedModel {
  std::string name{};
  std::vector<PlannedCall> calls{};
  std::vector<PlannedArray> arrays{};
  int64_t arena_bytes = 0, weights_bytes = 0, scratch_bytes = 0;
  int64_t alive_bytes() const;  // the most of the arena that is alive at once
};

}  // namespace kiln::api
