// A plugin for tests, with a module "good" that tiles blocks with reuse. It has a structural choice with an alternative
// that always fails, sampled tile sizes, and blocks that it leaves alone.
#include "lang/analysis/cost.h"
#include "modules/module.h"

namespace {

struct Options {
  int64_t innermost = 16;
};

kiln::BlockModule Good(Options options) {
  return {"good", [options](kiln::Schedule& s, kiln::Block block) {
            if (!s.ok()) return;
            const bool reuses = kiln::HasReuse(s.program(), s.node(block));
            if (s.Skip(reuses ? absl::OkStatus() : absl::FailedPreconditionError("reads it once"))) return;
            const int choice = s.Choose("tile", 3);
            if (choice == 0) return;
            if (choice == 1) s.GetBlock("nowhere");
            const std::vector<kiln::Loop> loops = s.GetLoops(block);
            std::vector<kiln::Loop> outer, inner;
            for (const kiln::Loop loop : loops) {
              const kiln::Value tile =
                  s.SamplePerfectTile(loop, {.parts = 2, .innermost = options.innermost});
              const auto parts = s.Split(loop, {kiln::kAuto, s.Part(tile, -1)});
              outer.push_back(parts[0]);
              inner.push_back(parts[1]);
            }
            outer.insert(outer.end(), inner.begin(), inner.end());
            s.Reorder(outer);
          }};
}

// A module that makes the schedule fail if an earlier step has split a loop, so that the sketch is dropped.
void FailsAfterSplits(kiln::Schedule& s) {
  for (const kiln::Step& step : s.steps()) {
    if (step.primitive->name == std::string("split"))
      s.Fail(absl::FailedPreconditionError("no more steps, please"));
  }
}

// A module that copies the first buffer that a block with reuse reads. If it stands before the default space,
// auto-inline inlines the copy.
void CopiesOperand(kiln::Schedule& s, kiln::Block block) {
  if (!s.ok() || !kiln::HasReuse(s.program(), s.node(block))) return;
  s.ComputeAt(s.CacheRead(block, 0), s.GetLoops(block)[0]);
}

}  // namespace

KILN_MODULE("copies-operand", CopiesOperand);
KILN_MODULE("fails-after-splits", FailsAfterSplits);
KILN_MODULE("good", Good, kiln::Option("innermost", &Options::innermost, kiln::From(1)));
