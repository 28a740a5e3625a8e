// Prints the parts of the baseline (scripts/baseline), which must not change when code is restructured, such as hashes
// of programs and of object code. Each part prints lines. A line that begins with a name is about the thing with that
// name.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "lang/graph/outline.h"

namespace kiln::baseline {

// Prints every primitive, lemma, intrinsic, module, strategy, cost model and kind of features, and the default space of
// every target but the host.
void PrintRegistered(std::ostream& out);

// Prints the hash and the text of every task of the MLIR files in tests/inputs (ops, models, field, unsupported) and
// bench/operators, and a line for each file that is refused.
void PrintWorkloads(std::ostream& out);

// Prints a line for each record of 36 searches on the simulated machine: of six tasks under five strategies, and of six
// other tasks under the default strategy.
void PrintSearches(std::ostream& out);

// Prints a line for each of a thousand scheduled programs: the hashes of its text and of its object code for three
// machines (the status code if a machine refuses it). Prints only programs whose position modulo `shards` is `shard`.
void PrintObjects(std::ostream& out, int shard, int shards);

// Writes the files of tests/inputs/before to a folder: files of this version that later versions must read. Ends the
// program if the folder has a kiln.db already.
void MakeBefore(const std::string& folder);

// A task of a file below the root of the sources.
struct FileTask {
  std::string file;  // such as "tests/inputs/ops/torch_softmax.mlir"
  Task task;
};
// Returns the tasks of all MLIR files of a folder, in the order of the files' names. Each refused file gives a line in
// `refused`, unless that is null.
std::vector<FileTask> TasksOf(const std::string& folder, std::vector<std::string>* refused);
Program OnlyTask(const std::string& file);
// Returns the hash of bytes as 32 hexadecimal digits.
std::string HashOfBytes(absl::string_view bytes);

}  // namespace kiln::baseline
