#include "tests/fuzz/refusals.h"

#include <optional>

#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/primitive.h"
#include "lang/rewrite.h"
#include "lang/shadow.h"
#include "tests/fuzz/small_programs.h"
#include "tests/support/random_steps.h"

namespace kiln::fuzz {
namespace {

constexpr int kPreparations = 2;

// Names become x, numbers #.
std::string Shape(absl::string_view message) {
  message = message.substr(0, message.find('\n'));
  const size_t at = message.find("does not apply: ");
  if (at != absl::string_view::npos) message.remove_prefix(at + 16);
  std::string shape;
  for (size_t i = 0; i < message.size(); ++i) {
    const bool name =
        i > 0 && message[i - 1] == ' ' &&
        (i >= 5 && (message.substr(i - 5, 5) == "loop " || message.substr(i - 5, 5) == "iter "));
    if (message[i] == '"' || name) {
      const char end = message[i] == '"' ? '"' : ' ';
      i = std::min(message.find(end, i + 1), message.size());
      shape += end == ' ' ? "x " : "x";
      continue;
    }
    shape += message[i] >= '0' && message[i] <= '9' ? '#' : message[i];
  }
  return shape;
}

bool OnlyChild(const Program& p, Id node) {
  return p.nodes[node].prev == kNone && p.nodes[node].next == kNone;
}

void MoveChildren(Program& p, Id from, Id to) {
  while (p.nodes[from].first != kNone) {
    const Id child = p.nodes[from].first;
    p.Detach(child);
    p.Append(to, child);
  }
}

void Define(Program& p, Id loop, const Sum& value) {
  p.loops[p.nodes[loop].index].definition = p.AddMark(value, p.loop(loop).extent);
  p.Kill(loop);
}

// Each does to the program what the primitive would, without a check; false where that is not defined.
bool BruteSplit(Program& p, const std::vector<Id>& loops) {
  const Id loop = loops[0], inner = p.AddLoop("inner", 2);
  const Id outer = p.AddLoop("outer", (p.loop(loop).extent.max + 1) / 2);
  p.Replace(loop, outer);
  p.Append(outer, inner);
  MoveChildren(p, loop, inner);
  Define(p, loop, Sum::Of(Source::Loop(outer), 2) + Sum::Of(Source::Loop(inner)));
  return true;
}

bool BruteFuse(Program& p, const std::vector<Id>& loops) {
  if (p.nodes[loops[1]].parent != loops[0] || !OnlyChild(p, loops[1])) return false;
  const int64_t inner = p.loop(loops[1]).extent.max;
  const Id fused = p.AddLoop("fused", p.loop(loops[0]).extent.max * inner);
  p.Replace(loops[0], fused);
  MoveChildren(p, loops[1], fused);
  Define(p, loops[1], Sum{0, {{Source::Loop(fused), 1, 1, inner}}});
  Define(p, loops[0], Sum{0, {{Source::Loop(fused), 1, inner, 0}}});
  return true;
}

// The inner one of two loops goes around the outer one.
bool BruteReorder(Program& p, const std::vector<Id>& loops) {
  const Id inner = loops[0], outer = loops[1];
  for (Id at = inner; at != outer; at = p.nodes[at].parent) {
    if (at == kRoot || !p.IsLoop(at) || !OnlyChild(p, at)) return false;
  }
  const Id above = p.AddLoop("above", 1), below = p.AddLoop("below", 1);
  p.Replace(outer, above);
  p.Replace(inner, below);
  std::swap(p.nodes[inner].first, p.nodes[outer].first);
  std::swap(p.nodes[inner].last, p.nodes[outer].last);
  for (const Id loop : {inner, outer}) {
    for (Id c = p.nodes[loop].first; c != kNone; c = p.nodes[c].next) p.nodes[c].parent = loop;
  }
  p.Replace(above, inner);
  p.Replace(below, outer);
  return true;
}

template <LoopKind kKind>
bool BruteKind(Program& p, const std::vector<Id>& loops) {
  p.loop(loops[0]).kind = kKind;
  return true;
}

// The whole producer in every iteration, before all else.
bool BruteComputeAt(Program& p, const std::vector<Id>& nodes) {
  const Id block = nodes[0], loop = nodes[1];
  if (IsAncestor(p, loop, block)) return false;
  RemoveWithEmptyLoops(p, block);
  p.InsertBefore(p.nodes[loop].first, NestOver(p, block, WholeRanges(p, block), false));
  return true;
}

struct Asked {
  const char* primitive;
  std::vector<Operand> operands;
  std::vector<Id> nodes;  // of the operands that are loops and blocks
  bool (*brute)(Program& p, const std::vector<Id>& nodes);
};

std::vector<Asked> Questions(const State& s) {
  std::vector<Asked> asked;
  const auto handle = [&](size_t l) { return Operand{Operand::Kind::kLoop, static_cast<int64_t>(l)}; };
  for (size_t l = 0; l < s.loops.size(); ++l) {
    const Id loop = s.loops[l];
    if (s.program.loop(loop).extent.max > 1) {  // whether a unit loop may be parallel must not hang on a draw
      asked.push_back({"parallel", {handle(l)}, {loop}, BruteKind<LoopKind::kParallel>});
      asked.push_back({"vectorize", {handle(l)}, {loop}, BruteKind<LoopKind::kVectorized>});
    }
    asked.push_back(
        {"split", {handle(l), {Operand::Kind::kInt, -1}, {Operand::Kind::kInt, 2}}, {loop}, BruteSplit});
    for (size_t o = 0; o < s.loops.size(); ++o) {
      if (o == l || !IsAncestor(s.program, s.loops[o], loop)) continue;
      asked.push_back({"reorder", {handle(l), handle(o)}, {loop, s.loops[o]}, BruteReorder});
      asked.push_back({"fuse", {handle(o), handle(l)}, {s.loops[o], loop}, BruteFuse});
    }
    for (size_t b = 0; b < s.blocks.size(); ++b) {
      asked.push_back({"compute-at",
                       {{Operand::Kind::kBlock, static_cast<int64_t>(b)}, handle(l)},
                       {s.blocks[b], loop},
                       BruteComputeAt});
    }
  }
  return asked;
}

bool Apply(State& s, const Asked& asked, std::string* refusal) {
  Step step;
  step.primitive = FindPrimitive(asked.primitive);
  step.operands.assign(asked.operands.begin(), asked.operands.end());
  for (const AttributeDecl& decl : step.primitive->attributes) step.attributes.push_back(decl.fallback);
  const absl::Status status = Run(s, Target(), step, 0, nullptr, nullptr, nullptr);
  if (refusal != nullptr) *refusal = Shape(status.message());
  return status.ok();
}

bool Legal(const Program& p, const Shadow& wanted) {
  for (const uint64_t shuffle : {0, 1, 2}) {
    if (!CheckShadow(p, wanted, {.shuffle = shuffle}).ok()) return false;
  }
  return true;
}

void Ask(const State& state, const Shadow& wanted, std::map<std::string, Refusals>& study) {
  for (const Asked& asked : Questions(state)) {
    Refusals& refusals = study[asked.primitive];
    State tried = state;
    std::string why;
    if (Apply(tried, asked, &why)) {
      ++refusals.applied;
      continue;
    }
    ++refusals.refused;
    Program forced = state.program;
    if (asked.brute(forced, asked.nodes) && Verify(forced).ok() && Legal(forced, wanted))
      ++refusals.needless[why];
  }
}

// Asks, and asks again after every split and move that applies.
void Visit(State state, const Shadow& wanted, int preparations, std::map<std::string, Refusals>& study) {
  RefreshHandles(state);
  Ask(state, wanted, study);
  if (preparations == 0) return;
  for (const Asked& asked : Questions(state)) {
    State prepared = state;
    const absl::string_view name = asked.primitive;
    if ((name == "split" || name == "compute-at") && Apply(prepared, asked, nullptr))
      Visit(std::move(prepared), wanted, preparations - 1, study);
  }
}

}  // namespace

std::map<std::string, Refusals> StudyRefusals() {
  std::map<std::string, Refusals> study;
  for (const Program& program : SmallPrograms()) {
    State state;
    state.program = program;
    Visit(state, RunShadow(program).value(), kPreparations, study);
  }
  return study;
}

}  // namespace kiln::fuzz
