// Modules, from which spaces are built. A module is a plain function that transforms one schedule. Modules
// compose by calling each other, and no module handles lists of schedules (design D5).
//
//   void MyModule(Schedule& s, Block block);        a module of one block, for EachBlock
//   void MySpace(Schedule& s);                      a module of a whole program: a space
//   KILN_MODULE("my-module", MyModule);             its name in space strings and in site names
//
// A module with options is a function `BlockModule MyModule(MyOptions options)` that returns the module. Each
// option is declared once:
//
//   KILN_MODULE("my-module", MyModule, Option("max-innermost", &MyOptions::max_innermost));
//
// A named space, such as cpu, is a function `std::string MySpace(const Target&, const MyOptions&)` that returns
// a space string (modules/space.h).
//
// A module cannot tell sampling from replay. It returns early where it does not apply, and it never branches
// on a sampled value. A step that fails makes the schedule inert, and the search drops the sketch with that
// reason. If a step may legitimately fail, check first (lang/analysis), or offer the alternative as a choice.
#pragma once

#include "build_info.h"
#include "header_hash.h"
#include "modules/registry.h"

namespace kiln {

// Names the Kiln version, headers, compiler and flags that a plugin was built with. Every object that
// includes this header contains the stamp, and `--plugin` compares it before loading a shared object.
#define KILN_PLUGIN_STAMP_PREFIX "kiln-plugin-stamp: "
inline constexpr char kPluginStamp[] __attribute__((used)) =
    KILN_PLUGIN_STAMP_PREFIX "Kiln " KILN_VERSION ", headers " KILN_HEADER_HASH
                             ", clang " KILN_CXX_COMPILER_VERSION " " KILN_CXX_FLAGS;

// Visits every block that exists at the start, last block first, and applies the modules to it in the given order. The
// consumers of a block are thus inlined or scheduled before the block. Skips blocks that a module has removed.
void EachBlock(Schedule& s, const std::vector<BlockModule>& modules);

// Runs a module of a whole program; the names of the module's sampling sites begin with `name`.
void RunSpace(Schedule& s, absl::string_view name, const Space& space);

#define KILN_MODULE_JOIN2(a, b) a##b
#define KILN_MODULE_JOIN(a, b) KILN_MODULE_JOIN2(a, b)
#define KILN_MODULE(name, function, ...)                                                 \
  static const ::kiln::internal::RegisterModule KILN_MODULE_JOIN(kModule_, __COUNTER__)( \
      name, function __VA_OPT__(, ) __VA_ARGS__)

}  // namespace kiln
