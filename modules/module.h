// Modules: how spaces are made. A module is a plain function that transforms a schedule; modules compose by
// calling each other, and no module handles lists of schedules (design D5).
//
//   void MyModule(Schedule& s, Block block);        a module of one block, for EachBlock
//   void MySpace(Schedule& s);                      a module of a whole program: a space
//   KILN_MODULE("my-module", MyModule);             its name in space strings and in the names of its sites
//
// With options: `BlockModule MyModule(MyOptions options)` returns the module, and each option is declared
// once:
//
//   KILN_MODULE("my-module", MyModule, Option("max-innermost", &MyOptions::max_innermost));
//
// A module cannot tell sampling from replay. It ends early with `return` where it does not apply; it never
// branches on a sampled value. A step that does not apply makes the schedule inert, and the sketch is dropped
// with that reason: check first what may fail for good reasons (lang/analysis), or offer the alternative as a
// choice.
#pragma once

#include "build_info.h"
#include "header_hash.h"
#include "modules/registry.h"

namespace kiln {

// What a plugin must have been built for; every file that includes this header carries it, and `--plugin`
// reads it before it loads a shared object.
#define KILN_PLUGIN_STAMP_PREFIX "kiln-plugin-stamp: "
inline constexpr char kPluginStamp[] __attribute__((used)) =
    KILN_PLUGIN_STAMP_PREFIX "Kiln " KILN_VERSION ", headers " KILN_HEADER_HASH
                             ", clang " KILN_CXX_COMPILER_VERSION " " KILN_CXX_FLAGS;

// Applies the modules, in order, to every block that is there when it starts, last block first: so the
// consumers of a block are simple when its turn comes. A block that a module has removed is skipped from then
// on.
void EachBlock(Schedule& s, const std::vector<BlockModule>& modules);

// Runs a module of a whole program under its own section.
void RunSpace(Schedule& s, absl::string_view name, const Space& space);

#define KILN_MODULE_JOIN2(a, b) a##b
#define KILN_MODULE_JOIN(a, b) KILN_MODULE_JOIN2(a, b)
#define KILN_MODULE(name, function, ...)                                              \
  static const ::kiln::internal::RegisterModule KILN_MODULE_JOIN(kModule_, __LINE__)( \
      name, function __VA_OPT__(, ) __VA_ARGS__)

}  // namespace kiln
