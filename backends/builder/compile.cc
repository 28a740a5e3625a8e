#include "backends/builder/compile.h"

#include <utility>
#include <vector>

#include "backends/codegen/link.h"
#include "backends/codegen/pool_files.h"
#include "backends/codegen/table_entry.h"
#include "backends/cpu/passes/outline_parallel.h"

namespace kiln {

LowerOptions LoweringFor(const MachineTarget& machine) {
  LowerOptions options;
  options.vector_bytes = machine.vector_bytes;
  options.vector_registers = machine.vector_registers;
  options.stream_bytes = machine.l2_bytes;
  options.features = machine.features;
  options.costs = machine.costs;
  return options;
}

CodegenOptions CodegenFor(const Program& program, bool table) {
  CodegenOptions options;
  for (const std::string& entry : EntryPoints(program))
    options.entries.push_back({.name = entry, .noalias = true, .table = table});
  return options;
}

absl::StatusOr<std::string> LinkKernel(const Program& program, const ObjectCode& object, bool stands_alone,
                                       bool table) {
  const std::vector<std::string> entries = EntryPoints(program);
  std::vector<std::string> objects{object.bytes}, exports = entries;
  if (table) {
    for (const std::string& entry : entries) exports.push_back(TableSymbol(entry));
  }
  if (object.takes_threads) exports.push_back(ThreadsSymbol(exports.front()));
  const bool pool = object.takes_threads && stands_alone;
  if (pool) objects.push_back(PoolObject());
  return LinkShared(objects,
                    {.exports = std::move(exports), .names_libraries = stands_alone, .stays_loaded = pool});
}

}  // namespace kiln
