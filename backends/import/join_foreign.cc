#include "backends/import/join_foreign.h"

namespace kiln {

std::vector<ForeignCall> JoinForeign(const Imported& imported, Program& program) {
  const auto buffer_of = [&](const std::string& name) {
    for (const Id id : program.parameters) {
      if (program.Text(program.buffers[id].name) == name) return id;
    }
    return kNone;
  };
  std::vector<ForeignCall> calls;
  for (const Boundary& boundary : imported.boundaries) {
    ForeignCall& call = calls.emplace_back();
    call.name = boundary.op;
    for (const std::string& name : boundary.operands) call.reads.push_back(buffer_of(name));
    for (const std::string& name : boundary.results) call.writes.push_back(buffer_of(name));
  }
  for (const std::string& name : imported.between) {
    const Id buffer = buffer_of(name);
    program.buffers[buffer].role = Role::kTemporary;
    std::erase(program.parameters, buffer);
  }
  return calls;
}

}  // namespace kiln
