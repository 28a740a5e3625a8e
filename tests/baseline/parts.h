// What the baseline holds (scripts/baseline): what must stay the same while the code around it moves. Each
// part prints lines; a line that begins with a name is about what has that name.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "lang/graph/outline.h"

namespace kiln::baseline {

// Every primitive, lemma, module, intrinsic, strategy, cost model and kind of features, and the default space
// of every target.
void PrintRegistered(std::ostream& out);

// The hash and the text of every workload of tests/inputs and bench/operators.
void PrintWorkloads(std::ostream& out);

// A line for each record of searches on the simulated machine: six tasks under five strategies.
void PrintSearches(std::ostream& out);

// A line for each of a thousand scheduled programs: the hash of its text, and of its object for each of three
// machines. `shard` of `shards` prints every program whose position has that remainder.
void PrintObjects(std::ostream& out, int shard, int shards);

// Makes tests/inputs/before anew in a folder: what an earlier version wrote, which later ones have to read.
void MakeBefore(const std::string& folder);

// Shared by the parts.

// A task of a file below the root of the sources.
struct FileTask {
  std::string file;  // such as "tests/inputs/ops/torch_softmax.mlir"
  Task task;
};
// All files of a folder in the order of their names. A file that is refused has a line in `refused`.
std::vector<FileTask> TasksOf(const std::string& folder, std::vector<std::string>* refused);
Program OnlyTask(const std::string& file);
// 32 hexadecimal digits.
std::string HashOfBytes(absl::string_view bytes);

}  // namespace kiln::baseline
