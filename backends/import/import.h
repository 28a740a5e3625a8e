// Import: linalg on tensors, as MLIR 22's parser reads it, becomes a Program. This is Kiln's front door; to
// bring in another form, convert it to linalg on tensors first, or add a translation to Program beside this
// one.
//
// The function is inlined and canonicalized, and every named operation generalized; then each linalg.generic,
// pad, concat and insert_slice is one block (one a result). Reshapes and slices are no blocks: they are
// folded into the indices of what reads them. A fill that starts a reduction from its identity vanishes,
// another one is the reduction's `initial`. Nothing is fused: that is the search's choice. Parameters: the
// function's arguments in order (and constants without bytes), then its results in order. Blocks are called
// after the operations they came from ("matmul", "pad", "reduce_sum").
//
// TOSA is lowered by MLIR's passes first. Signed and unsigned element types are taken as signless ones of the
// same bits. Arguments and results without elements are no parameters.
//
// What the file leaves open, or Kiln says otherwise:
// - tensor.extract at indices that are sums of loops is a load, else a gather. Out of bounds it is undefined
//   in the file; a gather reads the nearest element.
// - tensor.scatter is two blocks: one goes through all indices for each place, one chooses. Indices out of
//   bounds write nothing.
// - 0 to a negative power of integers, undefined in the file, is 0.
// - cf.assert is the program's status, which the function returns: not 0 where any assertion fails.
// - An argmax keeps the file's rule for ties and NaN, and its index may be any function of the loops
//   (backends/import/arg_blocks.h). Where the index is read from a tensor and a NaN wins, it is taken
//   to grow.
//
// Text may start with a byte-order mark, and MLIR's bytecode is read as text is. Files of other forms (ONNX,
// TFLite, safetensors, ...) are errors that say what they are and how to convert them
// (backends/import/file_kind.h).
//
// Errors: kInvalidArgument with "FILE:LINE:COL: OP is not supported (WHY)" and a line that starts with
// "hint:", for the first operation that Kiln cannot say; "FILE:LINE:COL: MESSAGE" for text that does not
// parse. Threads: any number of calls at once; each makes its own MLIRContext without threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lang/program/program.h"

namespace kiln {

struct ImportOptions {
  // What an operation that is not supported becomes: false, an error; true, a Boundary (for models).
  bool allow_boundaries = false;
  // The function to import. Empty: the only public one, or the one called main.
  std::string entry;
  // Arguments (by position) that hold constants, such as weights;
  // so do arguments with the attribute `kiln.constant`.
  std::vector<int> constant_arguments;

  std::string name;  // of the file, in messages and for the program; the path by default

  // Of ImportFile's child process.
  absl::Duration time_limit = absl::Seconds(60);
  int64_t memory_limit = int64_t{8} << 30;  // bytes that it may allocate
  std::function<void()> in_child;  // runs in the child before it reads the file: how tests make it crash
};

// An operation that is left out of the program, and so is not tuned: its results are inputs, its operands
// outputs of the program.
struct Boundary {
  std::string location;              // "FILE:LINE:COL"
  std::string op;                    // "tensor.extract"
  std::string reason;                // one line
  std::vector<std::string> results;  // buffers, role kInput; after the arguments, in order
  std::vector<std::string>
      operands;  // buffers; those that the program computes are outputs after the function's results
};

struct Imported {
  Program program;
  // What the file calls the arguments of the function, by position, without "%": that at position 3 is the
  // buffer "arg3", where it has elements. Empty: it has no name there.
  std::vector<std::string> arguments;
  std::vector<Boundary> boundaries;
};

// kOutOfRange: there is nothing to do, as no result has elements. `filename` is for messages, and names the
// program where the function is called main. A crash of the parser is a crash of the caller.
absl::StatusOr<Imported> ImportLinalg(absl::string_view text, absl::string_view filename,
                                      const ImportOptions& options = {});

// Reads and imports in a forked child, so that a crash, a hang or a runaway allocation of the parser is an
// error that names the file (kInvalidArgument). Call it before starting threads where possible: only the
// calling thread lives on in the child.
absl::StatusOr<Imported> ImportFile(const std::string& path, const ImportOptions& options = {});

}  // namespace kiln
