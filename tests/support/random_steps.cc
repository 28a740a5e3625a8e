#include "tests/support/random_steps.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"

namespace kiln {
namespace {

Operand HandleOf(Operand::Kind kind, const std::vector<Id>& table, Id node) {
  return {kind, std::find(table.begin(), table.end(), node) - table.begin()};
}

// Loops around one block: a run of neighbours, or for `shuffled` any of them in any order.
std::vector<Id> SomeLoops(const State& state, Dice& dice, bool shuffled) {
  const Id block = state.blocks[dice.Below(static_cast<int64_t>(state.blocks.size()))];
  std::vector<Id> loops = LoopsAround(state.program, block);
  if (loops.empty()) return loops;
  if (!shuffled) {
    const auto first = dice.Below(static_cast<int64_t>(loops.size()));
    const auto count = 1 + dice.Below(static_cast<int64_t>(loops.size()) - first);
    return {loops.begin() + first, loops.begin() + first + count};
  }
  for (size_t i = loops.size(); i > 1; --i)
    std::swap(loops[i - 1], loops[dice.Below(static_cast<int64_t>(i))]);
  loops.resize(1 + dice.Below(static_cast<int64_t>(loops.size())));
  return loops;
}

}  // namespace

void RefreshHandles(State& state) {
  state.blocks = Blocks(state.program);
  state.loops = LoopsBelow(state.program, kRoot);
}

Step RandomStep(const State& state, Dice& dice) {
  std::vector<const Primitive*> primitives = AllPrimitives();
  primitives.erase(
      std::remove_if(primitives.begin(), primitives.end(), [](const Primitive* p) { return p->reads_only; }),
      primitives.end());
  const auto any = [&](const std::vector<Id>& table) {
    return dice.Below(static_cast<int64_t>(table.size()));
  };
  Step step;
  step.primitive = primitives[any(std::vector<Id>(primitives.size()))];
  const absl::string_view name = step.primitive->name;
  if (name == "fuse" || name == "reorder") {
    for (const Id loop : SomeLoops(state, dice, name == "reorder")) {
      step.operands.push_back(HandleOf(Operand::Kind::kLoop, state.loops, loop));
    }
  } else {
    for (const OperandDecl& decl : step.primitive->operands) {
      const int64_t count = decl.variadic ? 1 + dice.Below(3) : 1;
      for (int64_t i = 0; i < count; ++i) {
        if (decl.kind == OperandKind::kBlock) {
          step.operands.push_back({Operand::Kind::kBlock, any(state.blocks)});
        } else if (decl.kind == OperandKind::kLoop && !state.loops.empty()) {
          // Half of the time a loop around the block that the step is about.
          std::vector<Id> around;
          if (!step.operands.empty())
            around = LoopsAround(state.program, state.blocks[step.operands[0].number]);
          step.operands.push_back(around.empty() || dice.Flip(0.5)
                                      ? Operand{Operand::Kind::kLoop, any(state.loops)}
                                      : HandleOf(Operand::Kind::kLoop, state.loops, around[any(around)]));
        } else if (decl.kind == OperandKind::kFactor) {
          const bool rest = decl.variadic && i == 0 && dice.Flip(0.6);
          step.operands.push_back({Operand::Kind::kInt, rest ? -1 : 1 + dice.Below(6)});
        } else {
          step.operands.push_back({Operand::Kind::kLoop, -1});
        }
      }
    }
  }
  for (const AttributeDecl& decl : step.primitive->attributes) {
    const absl::string_view attribute = decl.name;
    if (attribute == "storage") {
      constexpr const char* kStorages[] = {"global", "stack", "register"};
      step.attributes.emplace_back(std::string(kStorages[dice.Below(3)]));
    } else if (attribute == "axis") {
      step.attributes.emplace_back(dice.Below(4) - 2);
    } else if (attribute == "operand") {
      step.attributes.emplace_back(dice.Below(4) - 1);
    } else if (attribute == "map") {
      constexpr const char* kMaps[] = {"(i) -> (i%2, i/2)", "(i, j) -> (j, i)", "(i, j) -> (j/4, i, j%4)",
                                       "(i, j, k) -> (k, i, j)"};
      step.attributes.emplace_back(std::string(kMaps[dice.Below(4)]));
    } else if (attribute == "key") {
      step.attributes.emplace_back(std::string("note"));
    } else {
      step.attributes.push_back(decl.fallback);
    }
  }
  return step;
}

}  // namespace kiln
