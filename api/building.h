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
  // order. Build prepares them and writes NAME.weights. A target other than "host" is then a Mistake. If empty,
  // NAME.weights is written only if the model's file holds all constants.
  std::string weights{};
  bool check = false;  // checks the library on drawn inputs before it is written; only for this machine
};

// The result of checking a built model: how far its results on drawn data are from those of the model in f64.
struct ModelAccuracy {
  bool checked = false;
  double error = 0;    // largest error of a result against the model in f64, over its largest element
  double limit = 0;    // largest limit of a result; an error above its result's limit makes the build fail
  std::string note{};  // why there is no error; empty if there is one
};

// How a built model computes one of its tasks: by the schedule of a record, by a default schedule, without a schedule,
// or, for an operation that Kiln cannot express, by code of upstream MLIR.
struct BuiltTask {
  std::string name{}, hash{};
  int occurrences = 1;
  int64_t record = 0;         // its number in the database; 0: there is none
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
  int64_t arena_bytes = 0, alive_bytes = 0;  // alive_bytes: the most of the arena that is alive at once
  int64_t weights_bytes = 0;
  ModelAccuracy accuracy{};
  std::vector<std::string> files{};  // paths, the header first
  double seconds = 0;                // that the build took
};

// A call of a task in a built model, as NAME.trace lists it: the task, its arguments, its schedule and its memory.
struct PlannedCall {
  int number = 0;
  bool prepares = false;  // whether it runs once, when the weights are prepared
  std::string task{}, arguments{};
  std::string schedule{};  // "record 12", "default", "untuned" or "foreign"
  bool takes_threads = false;
  int64_t bytes = 0;      // bytes of the arrays that are its arguments
  int64_t workspace = 0;  // bytes of its scratch memory
};

// A range of bytes in the memory of a built model that holds one array. The area is the arena, the weights, or the
// scratch memory of the prepare phase.
struct PlannedArray {
  std::string area{};
  int64_t begin = 0, end = 0;  // offsets in bytes
  std::string what{};
  int first = -1, last = -1;  // the first and the last call in which the array is alive; -1: it always is
};

// The calls and the memory plan of a model that Session::Build made, as its file NAME.trace lists them.
struct PlannedModel {
  std::string name{};
  std::vector<PlannedCall> calls{};
  std::vector<PlannedArray> arrays{};
  int64_t arena_bytes = 0, weights_bytes = 0, scratch_bytes = 0;
  int64_t alive_bytes() const;  // the most of the arena that is alive at once
};

}  // namespace kiln::api
