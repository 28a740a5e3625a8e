#include "tests/fuzz/refusals.h"

#include <algorithm>
#include <optional>
#include <set>

#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/program/layout.h"
#include "lang/reference/symbolic.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"
#include "tests/fuzz/small_programs.h"
#include "tests/support/random_steps.h"

namespace kiln::fuzz {
namespace {

constexpr int kPreparations = 2;

// Returns the shape of a message: its first line after "does not apply: ", with names replaced by x and digits by #.
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

void Define(Program& p, Id loop, const IndexSum& value) {
  p.loops[p.nodes[loop].index].definition = p.AddMark(value, p.loop(loop).extent);
  p.Kill(loop);
}

// The functions Brute... change a program as a primitive does, but without its checks. They return false if the change
// is not defined. BruteSplit splits a loop into an outer loop and an inner loop of 2 iterations.
bool BruteSplit(Program& p, const std::vector<Id>& loops) {
  const Id loop = loops[0], inner = p.AddLoop("inner", 2);
  const Id outer = p.AddLoop("outer", (p.loop(loop).extent.Known() + 1) / 2);
  p.Replace(loop, outer);
  p.Append(outer, inner);
  MoveChildren(p, loop, inner);
  Define(p, loop, IndexSum::Of(Source::Loop(outer), 2) + IndexSum::Of(Source::Loop(inner)));
  return true;
}

bool BruteFuse(Program& p, const std::vector<Id>& loops) {
  if (p.nodes[loops[1]].parent != loops[0] || !OnlyChild(p, loops[1])) return false;
  const int64_t inner = p.loop(loops[1]).extent.Known();
  const Id fused = p.AddLoop("fused", p.loop(loops[0]).extent.Known() * inner);
  p.Replace(loops[0], fused);
  MoveChildren(p, loops[1], fused);
  Define(p, loops[1], IndexSum{0, {{Source::Loop(fused), 1, 1, inner}}});
  Define(p, loops[0], IndexSum{0, {{Source::Loop(fused), 1, inner, 0}}});
  return true;
}

// Swaps two loops without the checks of `reorder`: the inner one goes around the outer one. Returns false if the outer
// loop, or a loop between the two, has other children.
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

// Moves a block into a loop without the checks of `compute-at`: each iteration of the loop then begins with all
// iterations of the block. Returns false if the block is already in the loop.
bool BruteComputeAt(Program& p, const std::vector<Id>& nodes) {
  const Id block = nodes[0], loop = nodes[1];
  if (IsAncestor(p, loop, block)) return false;
  RemoveWithEmptyLoops(p, block);
  p.InsertBefore(p.nodes[loop].first, NestOver(p, block, WholeRanges(p, block), false));
  return true;
}

// Pipelines a loop without the checks of `pipeline`: a child that reads what an earlier child writes is one stage
// later, and each buffer that the children share gets a ring. Returns false if a child reads what a later child writes.
bool BrutePipeline(Program& p, const std::vector<Id>& loops) {
  const std::vector<CarriedBuffer> carried = CarriedBuffers(p, loops[0]);
  std::vector<PipelineStage> stages;
  for (Id child = p.nodes[loops[0]].first; child != kNone; child = p.nodes[child].next) {
    const auto c = static_cast<int>(stages.size());
    PipelineStage stage{0, c};
    for (const CarriedBuffer& other : carried) {
      const bool reads = std::count(other.readers.begin(), other.readers.end(), c) > 0;
      if (reads && other.writer > c) return false;  // children that wait for each other
      if (reads) stage.stage = std::max(stage.stage, stages[other.writer].stage + 1);
    }
    stages.push_back(stage);
  }
  std::vector<Ring> rings;
  for (const CarriedBuffer& c : carried) rings.push_back({c.buffer, static_cast<int32_t>(stages.size()) + 1});
  p.SetPipeline(loops[0], stages, rings);
  return true;
}

// Moves the nest of a block to the front of the program and into the prepare phase, without the checks of `prepare`.
// Returns false if the nest writes other buffers than temporaries, or needs inputs that are not constants.
bool BrutePrepare(Program& p, const std::vector<Id>& nodes) {
  const Id nest = NestOf(p, nodes[0]);
  std::vector<Id> blocks = BlocksBelow(p, nest);
  if (p.IsBlock(nest)) blocks.push_back(nest);
  for (const Id block : blocks) {
    for (const Id buffer : WrittenBuffers(p, block))
      if (p.buffers[buffer].role != Role::kTemporary) return false;
  }
  if (p.nodes[kRoot].first != nest) {
    p.Detach(nest);
    p.InsertBefore(p.nodes[kRoot].first, nest);
  }
  p.nodes[nest].prepare = true;
  Program phase = p;
  while (phase.nodes[nest].next != kNone) phase.Detach(phase.nodes[nest].next);
  for (Buffer& buffer : phase.buffers)
    if (buffer.role != Role::kConstant) buffer.role = Role::kTemporary;
  return RunSymbolic(phase).ok();
}

int64_t CountThreads(const Program& p, Id nest) {
  int64_t threads = 1;
  for (const Id loop : LoopsBelow(p, nest))
    if (p.loop(loop).kind == LoopKind::kThreadX) threads = std::max(threads, p.loop(loop).extent.Known());
  return threads;
}

// Distributes the loop around a block over the threads of its nest, without the checks of `cooperative-fetch`. Returns
// false if the loop is not serial or has other children.
bool BruteFetch(Program& p, const std::vector<Id>& nodes) {
  const Id loop = p.nodes[nodes[0]].parent;
  if (!p.IsLoop(loop) || !OnlyChild(p, nodes[0]) || p.loop(loop).kind != LoopKind::kSerial) return false;
  const int64_t threads = CountThreads(p, NestOf(p, loop));
  const Id inner = p.AddLoop("thread", threads, LoopKind::kThreadX);
  const Id outer = p.AddLoop("outer", (p.loop(loop).extent.Known() + threads - 1) / threads);
  p.Replace(loop, outer);
  p.Append(outer, inner);
  MoveChildren(p, loop, inner);
  Define(p, loop, IndexSum::Of(Source::Loop(outer), threads) + IndexSum::Of(Source::Loop(inner)));
  return true;
}

// Returns true if the swizzle of a row-major buffer maps different elements to different addresses within the buffer.
bool OneToOne(const Program& p, Id buffer, Swizzle swizzle) {
  const int64_t elements = LayoutElements(p, buffer);
  std::set<int64_t> places;
  for (int64_t address = 0; address < elements; ++address) places.insert(Swizzled(swizzle, address));
  return static_cast<int64_t>(places.size()) == elements && *places.rbegin() < elements;
}

bool Moves(const Program& p, Id buffer, Swizzle swizzle) {
  for (int64_t address = 0; address < LayoutElements(p, buffer); ++address)
    if (Swizzled(swizzle, address) != address) return true;
  return false;
}

struct Asked {
  const char* primitive;
  std::vector<Operand> operands;
  std::vector<Id> nodes;  // the nodes of the operands that are loops or blocks
  bool (*brute)(Program& p, const std::vector<Id>& nodes);
  std::vector<std::pair<size_t, Attribute>> attributes = {};  // by number; the others as declared
  bool verified = true;                                       // what brute force makes must pass Verify too
};

// Appends steps to try: `bind` of each loop if the program has no threads yet, and `cooperative-fetch` of each block
// without a reduction whose nest has threads, if none of its loops is on thread-x.
void AskForThreads(const State& s, std::vector<Asked>& asked) {
  for (size_t l = 0; l < s.loops.size(); ++l) {
    if (s.program.loop(s.loops[l]).extent.Known() > 1 && CountThreads(s.program, kRoot) == 1)
      asked.push_back({"bind",
                       {{Operand::Kind::kLoop, static_cast<int64_t>(l)}},
                       {s.loops[l]},
                       BruteKind<LoopKind::kThreadX>});
  }
  for (size_t b = 0; b < s.blocks.size(); ++b) {
    const Id block = s.blocks[b];
    const std::vector<Id> around = LoopsAround(s.program, block);
    const bool plain = s.program.block(block).monoid == kNone && s.program.nodes[block].first == kNone;
    const bool spread = std::any_of(around.begin(), around.end(),
                                    [&](Id loop) { return s.program.loop(loop).kind == LoopKind::kThreadX; });
    if (plain && !spread && CountThreads(s.program, NestOf(s.program, block)) > 1)
      asked.push_back({"cooperative-fetch",
                       {{Operand::Kind::kBlock, static_cast<int64_t>(b)}, {Operand::Kind::kInt, 1}},
                       {block},
                       BruteFetch});
  }
}

std::vector<Asked> Questions(const State& s) {
  std::vector<Asked> asked;
  const auto handle = [&](size_t l) { return Operand{Operand::Kind::kLoop, static_cast<int64_t>(l)}; };
  AskForThreads(s, asked);
  for (size_t b = 0; b < s.blocks.size(); ++b) {
    asked.push_back({"prepare",
                     {{Operand::Kind::kBlock, static_cast<int64_t>(b)}},
                     {s.blocks[b]},
                     BrutePrepare,
                     {},
                     false});
  }
  for (size_t l = 0; l < s.loops.size(); ++l) {
    const Id loop = s.loops[l];
    if (s.program.loop(loop).kind != LoopKind::kSerial) continue;
    if (s.program.loop(loop).extent.Known() > 1)
      asked.push_back({"pipeline", {handle(l)}, {loop}, BrutePipeline, {}, false});
    if (s.program.loop(loop).extent.Known() >
        1) {  // whether a unit loop may be parallel must not hang on a draw
      asked.push_back({"parallel", {handle(l)}, {loop}, BruteKind<LoopKind::kParallel>});
      asked.push_back({"vectorize", {handle(l)}, {loop}, BruteKind<LoopKind::kVectorized>});
    }
    asked.push_back(
        {"split", {handle(l), {Operand::Kind::kInt, -1}, {Operand::Kind::kInt, 2}}, {loop}, BruteSplit});
    for (size_t o = 0; o < s.loops.size(); ++o) {
      if (o == l || !IsAncestor(s.program, s.loops[o], loop)) continue;
      if (s.program.loop(s.loops[o]).kind != LoopKind::kSerial) continue;
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
  for (const auto& [number, value] : asked.attributes) step.attributes[number] = value;
  const absl::Status status = Run(s, Target(), step, 0, nullptr, nullptr, nullptr);
  if (refusal != nullptr) *refusal = Shape(status.message());
  return status.ok();
}

bool Legal(const Program& p, const SymbolicOutputs& wanted) {
  for (const uint64_t shuffle : {0, 1, 2}) {
    for (const PipelineOrder order :
         {PipelineOrder::kInTurn, PipelineOrder::kEager, PipelineOrder::kLate, PipelineOrder::kRandom}) {
      if (order != PipelineOrder::kInTurn && p.pipelines.empty()) continue;
      if (!CheckSymbolic(p, wanted, {.shuffle = shuffle, .pipelines = order}).ok()) return false;
    }
  }
  return true;
}

void Ask(const State& state, const SymbolicOutputs& wanted, std::map<std::string, Refusals>& study) {
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
    if (asked.brute(forced, asked.nodes) && (!asked.verified || Verify(forced).ok()) && Legal(forced, wanted))
      ++refusals.needless[why];
  }
}

// Tries the studied primitives on all operands and counts their refusals. Then does so again on the program after each
// split, compute-at or bind that applies, up to `preparations` of these in a row.
void Visit(State state, const SymbolicOutputs& wanted, int preparations,
           std::map<std::string, Refusals>& study) {
  RefreshHandles(state);
  Ask(state, wanted, study);
  if (preparations == 0) return;
  for (const Asked& asked : Questions(state)) {
    State prepared = state;
    const absl::string_view name = asked.primitive;
    if ((name == "split" || name == "compute-at" || name == "bind") && Apply(prepared, asked, nullptr))
      Visit(std::move(prepared), wanted, preparations - 1, study);
  }
}

// Tries `transform-layout` with each of 18 small swizzles on the temporaries that blocks write. Counts how often it
// applies, and how often it refuses a swizzle that maps elements one to one.
void AskForSwizzles(State state, std::map<std::string, Refusals>& study) {
  RefreshHandles(state);
  for (size_t b = 0; b < state.blocks.size(); ++b) {
    const Id buffer = WrittenBuffers(state.program, state.blocks[b])[0];
    if (state.program.buffers[buffer].role != Role::kTemporary) continue;
    for (int64_t bits = 0; bits < 18; ++bits) {
      const std::vector<int64_t> swizzle = {bits % 3, bits / 3 % 3, 1 + bits / 9};
      const Swizzle meant{static_cast<int8_t>(swizzle[0]), static_cast<int8_t>(swizzle[1]),
                          static_cast<int8_t>(swizzle[2])};
      if (!Moves(state.program, buffer, meant)) continue;
      Asked asked{"transform-layout", {{Operand::Kind::kBlock, static_cast<int64_t>(b)}}, {}, nullptr};
      asked.attributes = {{1, std::string("(i, j) -> (i, j)")}, {2, swizzle}};
      State tried = state;
      std::string why;
      Refusals& refusals = study[asked.primitive];
      const bool applied = Apply(tried, asked, &why);
      ++(applied ? refusals.applied : refusals.refused);
      if (!applied && OneToOne(state.program, buffer, meant)) ++refusals.needless[why];
    }
  }
}

}  // namespace

std::map<std::string, Refusals> StudyRefusals() {
  std::map<std::string, Refusals> study;
  for (const Program& program : SmallPrograms()) {
    State state;
    state.program = program;
    Visit(state, RunSymbolic(program).value(), kPreparations, study);
    AskForSwizzles(state, study);
    for (size_t known = 1; known < size_t{1} << program.parameters.size(); ++known) {
      bool inputs = true;  // whether the set `known` contains only inputs
      for (size_t i = 0; i < program.parameters.size(); ++i) {
        Buffer& buffer = state.program.buffers[program.parameters[i]];
        inputs &= (known >> i & 1) == 0 || buffer.role != Role::kOutput;
        if (buffer.role != Role::kOutput) buffer.role = known >> i & 1 ? Role::kConstant : Role::kInput;
      }
      if (inputs) Visit(state, RunSymbolic(state.program).value(), 1, study);
    }
  }
  return study;
}

}  // namespace kiln::fuzz
