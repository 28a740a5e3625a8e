#include "tests/fuzz/bindings.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/text/text.h"

namespace kiln::fuzz {
namespace {

constexpr int kPoints = 12;  // points that are tried for each block

// Evaluates marks (index sums with an extent, lang/program/program.h) and iters at one point of the loops, without
// algebra.
struct Point {
  const Program& program;
  Id around;                    // the block whose iters occur, or kNone
  std::map<Id, int64_t> loops;  // the values of the live loops
  bool exists = true;           // false once a mark was outside of its extent

  int64_t ValueOf(Source source) {
    if (source.kind == Source::Kind::kMark) return ValueOf(source.id);
    if (source.kind == Source::Kind::kIter)
      return ValueOf(program.Iters(program.block(around).iters)[source.id].binding);
    const auto live = loops.find(source.id);
    return live != loops.end() ? live->second
                               : ValueOf(program.loops[program.nodes[source.id].index].definition);
  }
  int64_t ValueOf(Id mark) {
    const int64_t value = Evaluate(program.SumOf(mark), [&](Source s) { return ValueOf(s); });
    exists = exists && value >= 0 && value < program.marks[mark].extent.Known();
    return value;
  }
  std::vector<int64_t> Iters(Id block) {
    std::vector<int64_t> values;
    for (const Iter& iter : program.Iters(program.block(block).iters))
      values.push_back(ValueOf(iter.binding));
    for (const Id mark : program.List(program.block(block).domain)) {
      const int64_t value = Evaluate(program.SumOf(mark), [&](Source s) { return values[s.id]; });
      exists = exists && value >= 0 && value < program.marks[mark].extent.Known();
    }
    return values;
  }
};

Broken Check(const Program& program, const Bindings& resolved, Point point) {
  if (point.around != kNone) point.Iters(point.around);
  const std::vector<int64_t> wanted = point.Iters(resolved.block);
  const bool wanted_exists = point.exists;
  const auto value = [&](const IndexSum& sum) {
    return Evaluate(sum, [&](Source s) { return point.ValueOf(s); });
  };
  bool exists = true;
  for (const Guard& guard : resolved.guards) {
    const int64_t at = value(guard.value);
    exists = exists && at >= 0 && at < guard.extent;
  }
  const auto broken = [&](const std::string& what) {
    return Broken{"bindings",
                  absl::StrCat("block \"", program.Text(program.block(resolved.block).name), "\" ", what)};
  };
  if (exists != wanted_exists) return broken(exists ? "lacks a guard" : "has a guard too many");
  for (size_t i = 0; exists && i < wanted.size(); ++i) {
    if (value(resolved.iters[i]) != wanted[i]) return broken(absl::StrCat("has another value of iter ", i));
  }
  return {};
}

}  // namespace

Broken CheckBindings(const Program& program, Dice& dice) {
  for (const Id block : Blocks(program)) {
    const Id around = EnclosingBlock(program, block);
    if (around != kNone && EnclosingBlock(program, around) != kNone) continue;
    const std::vector<Id> loops = LoopsAround(program, block);
    const Bindings resolved = ResolveBindings(program, block);
    for (int n = 0; n < kPoints; ++n) {
      Point point{program, around, {}};
      for (const Id loop : loops) {
        const int64_t extent = program.loop(loop).extent.Known();
        point.loops[loop] = dice.Flip(0.4) ? extent - 1 : dice.Below(extent);  // guards fail at the ends
      }
      if (const Broken broken = Check(program, resolved, std::move(point))) return broken;
    }
  }
  return {};
}

}  // namespace kiln::fuzz
