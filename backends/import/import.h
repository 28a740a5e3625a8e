// Imports linalg on tensors, as parsed by MLIR 22, as a Program. To import another format, convert it to linalg on
// tensors first, or add another translation to Program.
//
// Import inlines and canonicalizes the function and generalizes every named operation. Each linalg.generic, pad, concat
// and insert_slice then becomes one block (one per used result; an argmax may take several). Reshapes and slices become
// no blocks, but are folded into the indices of their readers. A fill with the identity of a reduction disappears;
// another fill becomes the reduction's `initial`. Nothing is fused, because the search decides that. The parameters are
// the function's arguments in order (and constants without bytes), then its results in order. Blocks are named after
// the operations they come from ("matmul", "pad", "reduce_sum").
//
// TOSA is lowered by MLIR's passes first. Signed and unsigned element types become signless types with the same bits.
// Arguments and results without elements are no parameters.
//
// Choices where the file leaves something undefined, or where Kiln differs:
// - tensor.extract is a load if its indices are sums of loops that stay within the tensor, otherwise a gather. A read
//   out of bounds is undefined in the file; a gather then reads the nearest element.
// - tensor.scatter becomes two blocks: for each place, one searches all indices, and one selects the element. Indices
//   out of bounds write nothing.
// - 0 to a negative integer power is undefined in the file and gives 0.
// - cf.assert sets the program's status, which the function returns: nonzero if any assertion fails.
// - An argmax keeps the file's rules for ties and NaN, and its index may be any function of the loops
//   (backends/import/arg_blocks.h). If the index is read from a tensor and NaN wins, the index is assumed to grow.
// - With ImportOptions::large_constants, constants of at least 64 bytes are parameters without bytes if one of them has
//   64 KiB or more. Splats and constants of i1 keep their bytes, and so do 32-bit and 64-bit integers, since these may
//   be indices or sizes.
//
// Text may start with a byte-order mark. MLIR bytecode is accepted too. Files in other formats (ONNX, TFLite,
// safetensors, ...) give an error that names the format and how to convert it (backends/import/file_kind.h).
//
// Errors: kInvalidArgument with "FILE:LINE:COL: OP is not supported (WHY)" and a line that starts with "hint:", for the
// first operation that Kiln cannot express; "FILE:LINE:COL: MESSAGE" for text that does not parse. Threads: any number
// of calls at once; each creates its own MLIRContext without threads.
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
  // False: an unsupported operation is an error. True, for models: it is left out of the program and reported as a
  // Boundary.
  bool allow_boundaries = false;
  // The name of the function to import. Empty: the function called main, else the only public function. It is an error
  // if there is no such function.
  std::string entry;
  // Positions of the function's arguments that are constants, such as weights. Arguments with the attribute
  // `kiln.constant` are constants too.
  std::vector<int> constant_arguments;
  // If not empty, the arguments that are inputs: {"2"}, the first two, or their names, {"x", "arg3"}. Names are those
  // of the file without "%", or "argN" by position. All others are constants, and constant_arguments is ignored.
  // Scalars stay scalars.
  std::vector<std::string> inputs;

  // A file that is open for writing: import appends the bytes of large constants to it and leaves them out of the
  // program. -1: all bytes stay in the program.
  int large_constants = -1;

  std::string name;  // of the file, for messages and the program; by default the path

  // Limits of the child process in which ImportFile parses the file: time and memory.
  absl::Duration time_limit = absl::Seconds(60);
  int64_t memory_limit = int64_t{8} << 30;  // bytes that it may allocate
  std::function<void()> in_child;  // called in the child before it reads the file; tests crash it here
};

// A group of operations that Kiln cannot express, which is left out of the program and therefore not tuned
// (backends/import/outline_foreign.h). The results of the group are inputs of the program, and those of its operands
// that the program computes are outputs.
struct Boundary {
  std::string location;  // "FILE:LINE:COL" of the first that cannot be expressed
  std::string op;        // "scf.for"
  std::string reason;    // one line
  std::string hint;      // what the user may do about it
  // The text of an MLIR module with one function on tensors, which takes the operands and returns the results. Empty if
  // upstream MLIR does not know an operation in it, or if one calls a function.
  std::string code;
  std::vector<std::string> results;   // buffers with role kInput, after the arguments, in order
  std::vector<std::string> operands;  // buffers; those that the program computes are outputs
};

// A constant whose bytes are in the file ImportOptions::large_constants, and where they are. It is a parameter of the
// program.
struct LargeConstant {
  std::string buffer;  // its name
  int64_t offset = 0, bytes = 0;
};

struct Imported {
  Program program;
  // The names of the function's arguments in the file, by position, without "%"; "" for an argument without a name. The
  // argument at position 3 is the buffer "arg3", if it has elements.
  std::vector<std::string> arguments;
  std::vector<Boundary> boundaries;
  // Names of buffers that are parameters only because of boundaries: results of boundaries, and outputs that only
  // boundaries read.
  std::vector<std::string> between;
  std::vector<LargeConstant> large_constants;  // in the order of the file
};

// Imports linalg from a text. kOutOfRange if there is nothing to compute because no result has elements; kUnavailable
// if large constants cannot be written. `filename` is used in messages, and names the program if the function is called
// main. A crash of the parser crashes the caller.
absl::StatusOr<Imported> ImportLinalg(absl::string_view text, absl::string_view filename,
                                      const ImportOptions& options = {});

// Reads and imports a file in a forked child process. A crash, a hang or a runaway allocation of the parser becomes an
// error that names the file (kInvalidArgument). kOutOfRange is as for ImportLinalg; all other errors of the import are
// kInvalidArgument. Only the calling thread exists in the child, so call ImportFile before starting threads if
// possible.
absl::StatusOr<Imported> ImportFile(const std::string& path, const ImportOptions& options = {});

}  // namespace kiln
