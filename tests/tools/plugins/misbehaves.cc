// A faulty plugin for tests: its modules throw, crash, end the process, or never return.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <unistd.h>

#include "lang/analysis/cost.h"
#include "modules/module.h"

namespace {

// A module that throws if the block has reuse, as products have, and does nothing otherwise.
void Throws(kiln::Schedule& s, kiln::Block block) {
  if (s.ok() && kiln::HasReuse(s.program(), s.node(block))) throw std::runtime_error("no tile is left");
}
void ReadsPastTheEnd(kiln::Schedule& s, kiln::Block block) {
  const std::vector<kiln::Loop> loops = s.GetLoops(block);
  if (s.program().loop(s.node(loops[7])).extent.Known() > 1) s.Reorder({loops[1], loops[0]});
}
void Segfaults(kiln::Schedule&, kiln::Block) { std::raise(SIGSEGV); }
void Exits(kiln::Schedule&) { std::exit(0); }
// A module that sends SIGINT to its own process and to its parent, as Ctrl-C in a terminal does, and then waits
// forever.
void Interrupts(kiln::Schedule&) {
  std::raise(SIGINT);
  kill(getppid(), SIGINT);
  while (true) pause();
}
void Hangs(kiln::Schedule&) {
  kill(getppid(), SIGTERM);
  while (true) pause();
}
void Prints(kiln::Schedule& s) { std::printf("%d choices so far\n", static_cast<int>(s.choices().size())); }

struct Options {
  int64_t size = 0;
};
kiln::BlockModule ThrowsWhenMade(Options options) {
  std::vector<int>().at(static_cast<size_t>(options.size));
  return {"throws-when-made", [](kiln::Schedule&, kiln::Block) {}};
}

}  // namespace

KILN_MODULE("throws", Throws);
KILN_MODULE("reads-past-the-end", ReadsPastTheEnd);
KILN_MODULE("segfaults", Segfaults);
KILN_MODULE("exits", Exits);
KILN_MODULE("interrupts", Interrupts);
KILN_MODULE("hangs", Hangs);
KILN_MODULE("prints", Prints);
KILN_MODULE("throws-when-made", ThrowsWhenMade, kiln::Option("size", &Options::size));
