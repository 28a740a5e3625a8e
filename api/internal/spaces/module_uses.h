// Notes what the modules of a space do while its sketches are enumerated.
//
//   ModuleUses uses;
//   const auto space = ParseSpace(text, [&](auto name) { return uses.Watch(FindModule(name)); });
//   Enumerate(uses.Watch(*space), ...);
//   uses.all().at("my-module").lives ...
//
// Must outlive the watched modules and spaces. Threads: one at a time.
#pragma once

#include <map>
#include <set>
#include <string>

#include "modules/registry.h"
#include "trace/enumerate.h"

namespace kiln::api {

struct ModuleUse {
  bool of_plugin = false;
  bool lives = false;  // it transformed a program in a run of the space that applied
  bool keeps = false;  // all blocks that it made were left at the end of such a run
  // A block that the module made and that was gone at the end of a run of the space that applied; empty if there was
  // none. Noted for modules of plugins only.
  std::string lost{};
  std::string
      dropped{};  // why the last run in which it transformed the program or failed did not apply; empty: none
  std::string declined{};  // the first block that it left alone, with the reason; empty if there was none
};

class ModuleUses {
 public:
  // Returns a copy of the module that notes whether it transforms the program in a run of the space and, if
  // `of_plugin`, which blocks it makes. Returns nullptr for nullptr.
  const ModuleEntry* Watch(const ModuleEntry* entry, bool of_plugin = false);
  Space Watch(Space space);

  // Notes for each watched module the first reason in `enumeration` why it left a block alone.
  void Note(const Enumeration& enumeration);
  // Adds what another object noted about a module, such as one in a child process. A flag is then true if either object
  // set it. A text that is not empty stays.
  void Add(const std::string& name, const ModuleUse& use);

  const std::map<std::string, ModuleUse>& all() const { return uses_; }

 private:
  template <typename... Arguments>
  std::function<void(Schedule&, Arguments...)> Watched(const std::string& name,
                                                       std::function<void(Schedule&, Arguments...)> apply);

  std::map<std::string, ModuleUse> uses_;
  std::map<std::string, ModuleEntry> watched_;
  // The modules that transformed the program in the present run of the space. For those of plugins, the names of the
  // blocks that they made.
  std::map<std::string, std::set<std::string>> made_;
};

// Returns a warning for each of these, with the reason: a plugin's module that changed no program, or that in each run
// of the space made a block which was gone at the end, and any module with whose steps every sketch was dropped.
std::vector<std::string> WarningsOf(const ModuleUses& uses);

}  // namespace kiln::api
