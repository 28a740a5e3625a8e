#include "lang/analysis/dataflow.h"
#include "modules/module.h"

namespace kiln {
namespace {

bool HasBlock(const Program& program, absl::string_view name) {
  for (const Id block : Blocks(program)) {
    if (program.Text(program.block(block).name) == name) return true;
  }
  return false;
}

}  // namespace

void EachBlock(Schedule& s, const std::vector<BlockModule>& modules) {
  std::vector<std::string> names;
  for (const Id block : Blocks(s.program())) {
    names.emplace_back(s.program().Text(s.program().block(block).name));
  }
  for (size_t i = names.size(); i-- > 0;) {
    for (const BlockModule& module : modules) {
      if (!s.ok() || !HasBlock(s.program(), names[i])) break;
      Schedule::Section by_module(s, module.name);
      Schedule::Section by_block(s, names[i]);
      module.apply(s, s.GetBlock(names[i]));
    }
  }
}

void RunSpace(Schedule& s, absl::string_view name, const Space& space) {
  Schedule::Section section(s, name);
  space(s);
}

}  // namespace kiln
