// What a Session reads: a file or text, and the tasks that it is cut into. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program/program.h"

namespace kiln::api {

// Linalg on tensors, as MLIR: a file or, where there is no path, text.
struct Source {
  std::string path{};      // "-": standard input
  std::string text{};      // where `path` is empty
  std::string name{};      // of a text, in messages and for its program; "text" if empty
  std::string function{};  // which one; empty: the only public one, or main
};

// A parameter of an exported function, in order.
struct Parameter {
  std::string name{};  // in the header
  std::string
      argument{};       // what the file calls it, without "%"; empty for results and what has no name there
  std::string dtype{};  // "f32"
  std::vector<int64_t> shape{};  // empty: a scalar
  std::string role{};  // "input", "output", "constant", "scalar", or "prepared": NAME_prepare writes it
  bool operator==(const Parameter&) const = default;
};

// What is tuned as one: a part of the file, which may occur several times in it.
struct TaskInfo {
  std::string name{};
  std::string hash{};  // 32 hex digits: of its program, as databases name workloads
  int occurrences = 1;
  double flops = 0;                     // of one execution
  std::string blocks{};                 // names, with spaces between
  std::string symbol{};                 // of the function that an export makes
  std::vector<Parameter> parameters{};  // of that function, of its first occurrence
  Program program{};
};

// An operation that Kiln cannot say. In a model, which is a file that is still cut into several tasks, one of
// them with a reduction, it is left out and is not tuned; elsewhere it is an error of Session::Load.
struct LeftOut {
  std::string location{};  // "FILE:LINE:COL"
  std::string op{}, reason{};
};

// The least time that this machine could need for a task.
struct Roofline {
  double compute = 0,
         memory = 0;  // seconds: of its operations, and of reading its parameters once; 0: not known
  double flops_per_second = 0, bytes_per_second = 0;

  double seconds() const;  // the longer of the two; 0 if one is not known
  bool IsCompute() const { return compute >= memory; }
};

}  // namespace kiln::api
