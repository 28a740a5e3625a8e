// The input of a Session: a file or text, and the tasks that it is cut into. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program/program.h"

namespace kiln::api {

// The input of a Session, linalg on tensors in MLIR: a file, or a text if there is no path.
struct Source {
  std::string path{};      // "-": standard input
  std::string text{};      // used if `path` is empty
  std::string name{};      // name of a text, in messages and for its program; "text" if empty
  std::string function{};  // function to tune; empty: the only public one, or main
  // The arguments of the function that are inputs; all others are then constants. "2" means the first two; "x,arg3"
  // lists their names in the file. If empty, the arguments with the attribute kiln.constant are the constants.
  std::string inputs{};
  // If true, operations that Kiln cannot schedule become foreign calls in any file, and otherwise in models only. Set
  // this for Session::Build, and for Session::Tune with an output.
  bool whole = false;
};

// A parameter of an exported function: its names, element type, shape and role. Lists have parameters in order.
struct Parameter {
  std::string name{};  // its name in the header
  // The name of the argument in the file, without "%"; empty for results and for parameters without a name there.
  std::string argument{};
  std::string dtype{};           // "f32"
  std::vector<int64_t> shape{};  // empty: a scalar
  std::string role{};  // "input", "output", "constant", "scalar", or "prepared": NAME_prepare writes it
  bool operator==(const Parameter&) const = default;
};

// A task: a part of the file that is tuned as one program. It may occur several times in the file.
struct TaskInfo {
  std::string name{};
  std::string hash{};  // 32 hex digits: the program's hash, by which databases identify workloads
  int occurrences = 1;
  double flops = 0;                     // of one execution
  std::string blocks{};                 // names of the blocks, with spaces between
  std::string symbol{};                 // name of the function that an export makes
  std::vector<Parameter> parameters{};  // parameters of that function, for the task's first occurrence
  Program program{};
};

// An operation that Kiln cannot express. In a model (a file that is still cut into several tasks, or into one that
// occurs several times, at least one with a reduction), and with Source::whole, the operation is not tuned. In other
// files it is an error of Session::Load.
struct LeftOut {
  std::string location{};  // "FILE:LINE:COL"
  std::string op{}, reason{};
};

// The roofline of a task on this machine. The task needs at least the longer of two times: for its arithmetic at peak
// rate, and for reading its parameters once.
struct Roofline {
  double compute = 0,
         // Seconds of a task: `compute` for operations, `memory` to read its parameters; 0 if unknown.
      memory = 0;
  double flops_per_second = 0, bytes_per_second = 0;

  double seconds() const;  // the longer of the two; 0 if the peak is unknown
  bool IsCompute() const { return compute >= memory; }
};

}  // namespace kiln::api
