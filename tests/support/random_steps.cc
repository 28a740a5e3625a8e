#include "tests/support/random_steps.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/patterns/match.h"
#include "tests/support/tiny_intrinsics.h"

namespace kiln {
namespace {

class Maker {
 public:
  Maker(const State& state, absl::Span<const Step> before, Dice& dice,
        absl::Span<const Primitive* const> favored)
      : state_(state), before_(before), dice_(dice), favored_(favored) {
    blocks_ = Live(Operand::Kind::kBlock, state.blocks);
    loops_ = Live(Operand::Kind::kLoop, state.loops);
    if (!before.empty() && before.back().primitive->sampling && dice.Flip(0.7)) drawn_ = &before.back();
  }

  Step Make(bool sampling) {
    Step step;
    step.primitive = PickPrimitive(sampling);
    for (size_t i = 0; i < step.primitive->operands.size(); ++i) AddOperands(step, i);
    for (const AttributeDecl& decl : step.primitive->attributes) step.attributes.push_back(Value(decl, step));
    if (step.primitive->sampling) step.site = absl::StrCat("s", before_.size());
    return step;
  }

 private:
  using Handles = std::vector<Operand>;

  Handles Live(Operand::Kind kind, const std::vector<Id>& table) const {
    Handles live;
    for (size_t i = 0; i < table.size(); ++i) {
      const Node& node = state_.program.nodes[table[i]];
      if (node.kind == Node::Kind::kDead || node.parent == kNone) continue;
      if (std::find(table.begin(), table.begin() + static_cast<int64_t>(i), table[i]) ==
          table.begin() + static_cast<int64_t>(i)) {
        live.push_back({kind, static_cast<int64_t>(i)});
      }
    }
    return live;
  }
  Operand Any(const Handles& handles) { return handles[Below(handles.size())]; }
  int64_t Below(size_t n) { return dice_.Below(static_cast<int64_t>(n)); }

  static bool Takes(const Primitive& p, OperandKind kind) {
    return std::any_of(p.operands.begin(), p.operands.end(), [&](const auto& o) { return o.kind == kind; });
  }

  const Primitive* PickPrimitive(bool sampling) {
    std::vector<const Primitive*> some;
    for (const Primitive* p : AllPrimitives()) {
      if (p->sampling ? !sampling : p->reads_only && (!sampling || p->operands.empty() || !dice_.Flip(0.1)))
        continue;
      if (loops_.empty() && Takes(*p, OperandKind::kLoop)) continue;
      if (drawn_ != nullptr && !Continues(*p)) continue;
      some.push_back(p);
    }
    if (!favored_.empty() && dice_.Flip(0.4)) {
      const Primitive* const favored = favored_[Below(favored_.size())];
      if (std::count(some.begin(), some.end(), favored) != 0) return favored;
    }
    return some[Below(some.size())];
  }
  // True if the primitive can take the value that the previous step sampled as a factor, and applies to the same kind
  // of handle (block or loop) as that sampling step.
  bool Continues(const Primitive& p) const {
    const auto& from = drawn_->primitive->operands;
    return !p.reads_only && Takes(p, OperandKind::kFactor) &&
           (from.empty() ? p.operands[0].kind == OperandKind::kFactor : p.operands[0].kind == from[0].kind);
  }

  // Returns the handles of the loops around a block, outermost first.
  Handles Around(Id block) const {
    Handles around;
    for (const Id loop : LoopsAround(state_.program, block)) {
      for (const Operand o : loops_) {
        if (state_.loops[o.number] == loop) around.push_back(o);
      }
    }
    return around;
  }

  // Adds some loops around a random block to the operands of the step: adjacent loops in their order, or any loops in
  // random order. Chooses from all loops if none is around the block.
  void AddLoops(Step& step) {
    Handles loops = Around(state_.blocks[Any(blocks_).number]);
    if (loops.empty()) loops = loops_;
    const size_t first = Below(loops.size());
    if (dice_.Flip(0.5)) {
      std::rotate(loops.begin(), loops.begin() + static_cast<int64_t>(first), loops.end());
      loops.resize(loops.size() - first);
    } else {
      for (size_t i = loops.size(); i > 1; --i) std::swap(loops[i - 1], loops[Below(i)]);
    }
    loops.resize(1 + Below(loops.size()));
    step.operands.insert(step.operands.end(), loops.begin(), loops.end());
  }

  // Returns the loops to which the primitive is likely to apply; empty if there are none, or by chance. For a primitive
  // on two loops: those followed by a loop of the same extent. For one that restricts what may follow, in most draws:
  // those whose children pass buffers on. Otherwise: those with several children.
  Handles Fitting(const Primitive& primitive) {
    const Program& p = state_.program;
    const bool two = primitive.operands.size() == 2 && primitive.operands[1].kind == OperandKind::kLoop;
    const bool carries = primitive.restricts && dice_.Flip(0.8);
    if (!dice_.Flip(two || carries ? 0.9 : 0.2)) return {};
    Handles fitting;
    for (const Operand o : loops_) {
      const Id loop = state_.loops[o.number], next = p.nodes[loop].next;
      const bool followed = next != kNone && p.IsLoop(next) && p.loop(next).extent == p.loop(loop).extent;
      if (two       ? followed
          : carries ? !CarriedBuffers(p, loop).empty()
                    : p.nodes[loop].first != p.nodes[loop].last)
        fitting.push_back(o);
    }
    return fitting;
  }

  // Returns the rank of the buffer that the first attribute of a step on a block selects: the operand that it reads
  // with this number, or its result if the attribute is negative. Returns -1 if there is no such buffer.
  int64_t RankOf(const Step& step) const {
    const Id block = state_.blocks[step.operands[0].number];
    const int64_t operand = std::get<int64_t>(step.attributes[0]);
    const std::vector<Id> buffers =
        operand < 0 ? WrittenBuffers(state_.program, block) : ReadBuffers(state_.program, block);
    const size_t at = static_cast<size_t>(std::max<int64_t>(operand, 0));
    return at < buffers.size() ? state_.program.buffers[buffers[at]].shape.count : -1;
  }

  void AddOperands(Step& step, size_t index) {
    const OperandDecl& decl = step.primitive->operands[index];
    if (drawn_ != nullptr && index == 0 && decl.kind != OperandKind::kFactor) {
      step.operands.push_back(drawn_->operands[0]);
      return;
    }
    if (decl.kind == OperandKind::kBlock) {
      Handles tiles;
      if (absl::string_view(decl.name) == "tile" && dice_.Flip(0.9)) {
        for (const Operand block : blocks_)
          if (state_.program.nodes[state_.blocks[block.number]].first != kNone) tiles.push_back(block);
      }
      step.operands.push_back(Any(tiles.empty() ? blocks_ : tiles));
    } else if (decl.kind == OperandKind::kLoop) {
      if (decl.variadic) return AddLoops(step);
      if (!step.operands.empty() && step.operands[0].kind == Operand::Kind::kLoop && dice_.Flip(0.8)) {
        for (const Operand next : loops_) {  // prefers the loop that follows
          if (state_.loops[next.number] == state_.program.nodes[state_.loops[step.operands[0].number]].next)
            return step.operands.push_back(next);
        }
      }
      if (const Handles fitting = step.operands.empty() ? Fitting(*step.primitive) : Handles();
          !fitting.empty())
        return step.operands.push_back(Any(fitting));
      Handles around;  // prefers loops around the block of the step or around its producers and consumers
      if (!step.operands.empty() && step.operands[0].kind == Operand::Kind::kBlock && dice_.Flip(0.8)) {
        const Id block = state_.blocks[step.operands[0].number];
        std::vector<Id> near =
            dice_.Flip(0.5) ? Consumers(state_.program, block) : Producers(state_.program, block);
        if (near.empty() || dice_.Flip(0.4)) near = {block};
        around = Around(near[Below(near.size())]);
      }
      step.operands.push_back(Any(around.empty() ? loops_ : around));
    } else if (drawn_ != nullptr) {
      step.operands.push_back({Operand::Kind::kValue, drawn_->first_result});
    } else {
      AddFactors(step, decl.variadic);
    }
  }

  void AddFactors(Step& step, bool variadic) {
    const bool values = step.primitive->sampling;
    int64_t count = !variadic ? 1 : values ? dice_.Below(2) : 1 + dice_.Below(3);
    if (values && state_.values.empty() && dice_.Flip(0.9)) count = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (!state_.values.empty() && dice_.Flip(values ? 0.9 : 0.1)) {
        step.operands.push_back({Operand::Kind::kValue, Below(state_.values.size())});
      } else {
        const bool rest = variadic && i == 0 && dice_.Flip(0.6);
        step.operands.push_back({Operand::Kind::kInt, rest ? -1 : 1 + dice_.Below(6)});
      }
    }
  }

  // Returns the text of a random index map, such as "(i, j) -> (j, i)", usually with the rank of the step's buffer.
  // Some of the texts are not valid.
  std::string MapText(const Step& step) {
    constexpr const char* kMaps[][6] = {
        {"(i) -> (i)", "(i) -> (i%2, i/2)", "(i) -> (i/2)", "(i, j) -> (i, j", "(i) -> (i/$0, i%$0)",
         "(i) -> (i%$0, i/$0)"},
        {"(i, j) -> (i, j)", "(i, j) -> (j, i)", "(i, j) -> (j/4, i, j%4)", "(i, j) -> (i%2, j)",
         "(i, j) -> (j/$0, i, j%$0)", "(i, j) -> (i/$0, j/$1, i%$0, j%$1)"},
        {"(i, j, k) -> (i, j, k)", "(i, j, k) -> (k, i, j)", "(i, j, k) -> (i, k, j/2, j%2)", "() -> (0)",
         "(i, j, k) -> (i, j/$0, k, j%$0)", "(i, j, k) -> (k%$0, j, k/$0, i)"}};
    const int64_t rank = RankOf(step);
    const bool fits = rank >= 1 && rank <= 3 && dice_.Flip(0.9);
    return kMaps[fits ? rank - 1 : dice_.Below(3)][dice_.Below(6)];
  }

  // Returns a random value for an attribute, chosen by its name, type and default.
  Attribute Value(const AttributeDecl& decl, const Step& step) {
    if (std::holds_alternative<int64_t>(decl.fallback))
      return dice_.Flip(0.3) ? decl.fallback : Attribute(dice_.Below(dice_.Flip(0.5) ? 2 : 5) - 1);
    if (std::holds_alternative<std::string>(decl.fallback)) {
      const std::string& text = std::get<std::string>(decl.fallback);
      if (ParseStorage(text).has_value()) {
        constexpr const char* kStorages[] = {"global", "stack", "register", "shared", "warp", "warpgroup"};
        return std::string(kStorages[dice_.Below(6)]);
      }
      if (absl::string_view(decl.name) == "map") return MapText(step);
      if (absl::string_view(decl.name) == "intrinsic") {
        std::vector<std::string> names = TinyIntrinsics();
        const Id tile = state_.blocks[step.operands[0].number];
        const auto misses = [&](const std::string& name) {
          return !MatchIntrinsic(state_.program, tile, *FindIntrinsic(name)).ok();
        };
        if (dice_.Flip(0.9) && !std::all_of(names.begin(), names.end(), misses))
          names.erase(std::remove_if(names.begin(), names.end(), misses), names.end());
        return names[Below(names.size())];
      }
      constexpr const char* kWords[][6] = {
          {"place", "", "first", "last", "0", "1"},
          {"to", "thread-x", "thread-y", "block-x", "virtual-thread", "parallel"},
          {"bound", "", "registers", "unrolled", "l1", "l2"},
          {"kinds", "", "", "", "", "lane, register"},
          {"dtype", "f32", "f64", "i64", "i64", "i32"},
          {"transport", "sync", "async", "bulk", "sync", "fast"},
          {"readers", "", "", "all", "all", "one"}};
      for (const auto& words : kWords) {
        if (absl::string_view(decl.name) == words[0]) return std::string(words[1 + dice_.Below(5)]);
      }
      return text.empty() && dice_.Flip(0.9) ? Attribute(std::string("note")) : decl.fallback;
    }
    if (std::holds_alternative<std::vector<int64_t>>(decl.fallback)) {
      if (absl::string_view(decl.name) == Only().name) return decl.fallback;
      const std::vector<std::pair<absl::string_view, std::vector<std::vector<int64_t>>>> kLists = {
          {"swizzle", {{}, {1, 0, 1}, {1, 0, 1}, {1, 0, 2}, {2, 0, 1}, {0, 1, 1}, {2, 0, 2}, {0, 0, 1}}},
          {"stages", {{}, {}, {0, 1}, {0, 2}, {0, 0, 1}, {0, 1, 2}, {1, 0}, {0}}},
          {"order", {{}, {}, {}, {}, {1, 0}, {0, 2, 1}}},
          {"depths", {{}, {}, {}, {1}, {2}, {3}, {2, 3}}},
          {"producers", {{}, {}, {}, {0}, {1}}},
          {"most-of", {{}, {}, {0}, {1}, {0, 1}}},
          {"each-of", {{}, {}, {0}, {1}, {2}}}};
      for (const auto& [name, lists] : kLists) {
        if (decl.name == name) return lists[dice_.Flip(0.7) ? 0 : Below(lists.size())];
      }
      std::vector<int64_t> list;
      for (int64_t i = dice_.Below(4); i >= 0; --i) list.push_back(1 + i * (1 + dice_.Below(3)));
      return list;
    }
    if (std::holds_alternative<std::vector<double>>(decl.fallback) && dice_.Flip(0.1))
      return std::vector<double>{1, 0.5};
    return decl.fallback;
  }

  const State& state_;
  absl::Span<const Step> before_;
  Dice& dice_;
  absl::Span<const Primitive* const> favored_;
  Handles blocks_, loops_;
  const Step* drawn_ = nullptr;  // the previous step, if this one must use its sampled value
};

}  // namespace

void RefreshHandles(State& state) {
  state.blocks = Blocks(state.program);
  state.loops = LoopsBelow(state.program, kRoot);
}

Step RandomStep(const State& state, absl::Span<const Step> before, bool sampling, Dice& dice,
                absl::Span<const Primitive* const> favored) {
  return Maker(state, before, dice, favored).Make(sampling);
}

void TryRandomSteps(State& state, int tries, Dice& dice) {
  for (int i = 0; i < tries; ++i) {
    RefreshHandles(state);
    const Step step = RandomStep(state, {}, false, dice);
    if (absl::string_view(step.primitive->name) != "bind")
      Run(state, Target(), step, 0, nullptr, nullptr, nullptr).IgnoreError();
  }
}

}  // namespace kiln
