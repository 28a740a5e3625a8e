// Tests LoopNestSummary, which is fast, against ResolveBindings, which is simple, on random programs under
// random steps. Both must give the same indices wherever an instance exists.
#include "lang/analysis/loop_nest_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/region.h"
#include "lang/schedule/primitive.h"
#include "lang/text/text.h"
#include "testing/matmul.h"
#include "testing/random_program.h"
#include "testing/scheduled.h"
#include "tests/support/random_steps.h"
#include "tests/support/repeats.h"

namespace kiln {
namespace {

using Point = std::map<Id, int64_t>;  // values of loops

// Evaluates the bindings of one block, as ResolveBindings gives them, for values of the loops around it.
class Plain {
 public:
  Plain(const Program& p, Id block)
      : p_(p), iters_(p.Iters(p.block(block).iters)), bindings_(ResolveBindings(p, block)) {}

  int64_t At(const IndexSum& sum, const Point& point) const {
    return Evaluate(sum, [&](Source source) {
      return source.kind == Source::Kind::kLoop ? point.at(source.id)
                                                : At(Resolver(p_).Resolve(source.id), point);
    });
  }
  bool Exists(const Point& point) const {
    for (const Guard& guard : bindings_.guards) {
      const int64_t value = At(guard.value, point);
      if (value < 0 || value >= guard.extent) return false;
    }
    return true;
  }
  // Returns the loops that occur in the bindings of the spatial iters, or in those of the reduction iters.
  std::set<Id> LoopsOf(IterKind kind) const {
    std::set<Id> loops;
    for (size_t i = 0; i < bindings_.iters.size(); ++i) {
      if (iters_[i].kind == kind) AddLoops(bindings_.iters[i], loops);
    }
    return loops;
  }
  // Returns the indices of the accessed element along the axes of the buffer's layout. Empty if an index is outside of
  // the buffer: then a `within` skips the load.
  std::vector<int64_t> Axes(Id buffer, absl::Span<const int32_t> index, const Point& point) const {
    std::vector<int64_t> iters, logical;
    for (const IndexSum& iter : bindings_.iters) iters.push_back(At(iter, point));
    for (const Id mark : index) {
      logical.push_back(Evaluate(p_.SumOf(mark), [&](Source source) { return iters[source.id]; }));
      if (logical.back() < 0 || logical.back() >= p_.marks[mark].extent.Known()) return {};
    }
    const auto layout = p_.List(p_.buffers[buffer].layout.axes);
    if (layout.empty()) return logical;
    std::vector<int64_t> axes;
    for (const Id mark : layout)
      axes.push_back(Evaluate(p_.SumOf(mark), [&](Source source) { return logical[source.id]; }));
    return axes;
  }

 private:
  void AddLoops(const IndexSum& sum, std::set<Id>& loops) const {
    for (const IndexSplit& split : sum.splits) {
      if (split.source.kind == Source::Kind::kLoop) {
        loops.insert(split.source.id);
      } else {
        AddLoops(Resolver(p_).Resolve(split.source.id), loops);
      }
    }
  }

  const Program& p_;
  const absl::Span<const Iter> iters_;
  const Bindings bindings_;
};

int64_t ByNests(const LoopNestSummary& nests, const NestAxis& axis, const Point& point) {
  int64_t value = axis.offset;
  for (const NestTerm& t : nests.terms(axis)) {
    const int64_t digit = point.at(nests.loops()[t.loop].node) / t.lower;
    value += t.scale * (t.extent == 0 ? digit : digit % t.extent);
  }
  return value;
}

class Comparison {
 public:
  Comparison(const Program& p, Dice& dice) : p_(p), dice_(dice) { nests_.Read(p); }

  void Run() {
    for (const NestBlock& block : nests_.blocks()) {
      const Plain plain(p_, block.node);
      ExpectFeeds(block, plain);
      for (int i = 0; i < 8; ++i) {
        const Point point = Draw(block);
        ExpectGuards(block, plain, point);
        if (plain.Exists(point)) ExpectAccesses(block, plain, point);
      }
    }
  }
  int compared() const { return compared_; }
  int inexact() const { return inexact_; }

 private:
  Id LoopAt(const NestBlock& block, int depth) const {
    return nests_.loops()[nests_.path(block)[depth]].node;
  }

  Point Draw(const NestBlock& block) {
    Point point;
    for (const int32_t loop : nests_.path(block))
      point[nests_.loops()[loop].node] = dice_.Below(nests_.loops()[loop].extent);
    return point;
  }

  // Compares the loops that feed the spatial and the reduction iters of a block. Expects that LoopNestSummary reports
  // every loop that remains in simplified bindings, and only loops that occur in the bindings.
  void ExpectFeeds(const NestBlock& block, const Plain& plain) {
    for (const IterKind kind : {IterKind::kSpatial, IterKind::kReduction}) {
      const std::vector<bool> named = Feeds(p_, block.node, kind);
      const std::set<Id> remain = plain.LoopsOf(kind);
      const uint64_t mask = kind == IterKind::kSpatial ? block.spatial : block.reduction;
      for (int depth = 0; depth < block.depth; ++depth) {
        const bool feeds = (mask & LoopNestSummary::Bit(depth)) != 0;
        EXPECT_LE(remain.contains(LoopAt(block, depth)), feeds) << "depth " << depth;
        EXPECT_LE(feeds, named[depth]) << "depth " << depth;
      }
    }
  }

  // Expects that a loop that LoopNestSummary does not report in `guarded` does not decide whether an instance of the
  // block exists.
  void ExpectGuards(const NestBlock& block, const Plain& plain, const Point& point) {
    Point other = Draw(block);
    for (int depth = 0; depth < block.depth; ++depth) {
      if ((block.guarded & LoopNestSummary::Bit(depth)) != 0)
        other[LoopAt(block, depth)] = point.at(LoopAt(block, depth));
    }
    EXPECT_EQ(plain.Exists(point), plain.Exists(other));
  }

  void ExpectAccesses(const NestBlock& block, const Plain& plain, const Point& point) {
    std::vector<std::pair<Id, std::vector<int32_t>>> logical;
    const auto list = [&](Range range) {
      return std::vector<int32_t>(p_.List(range).begin(), p_.List(range).end());
    };
    for (const Id id : BodyExprs(p_, block.node)) {
      const Expr& e = p_.exprs[id];
      if (e.op == Op::kLoad) logical.push_back({e.AsLoad().buffer, list(e.AsLoad().index)});
      if (e.op == Op::kGather) logical.push_back({BufferRead(e), GatherMarks(p_, block.node, e)});
    }
    for (const Access& dest : p_.Accesses(p_.block(block.node).dests))
      logical.push_back({dest.buffer, list(dest.index)});
    const auto accesses = nests_.accesses(block);
    ASSERT_EQ(accesses.size(), logical.size());
    for (size_t i = 0; i < accesses.size(); ++i) {
      ASSERT_EQ(accesses[i].buffer, logical[i].first);
      const auto& marks = logical[i].second;
      if (std::find(marks.begin(), marks.end(), kNone) != marks.end()) continue;  // a computed index
      const auto wanted = plain.Axes(logical[i].first, marks, point);
      for (size_t a = 0; a < wanted.size(); ++a) ExpectAxis(block, accesses[i], a, wanted[a], point);
    }
  }

  // Compares one index of an access with LoopNestSummary, whose indices are those after compaction. Expects that
  // compaction subtracts the same number from the index in all accesses. The number may depend on the loops outside of
  // the buffer's allocation, and on axes of which each iteration has its own copy. It is 0 for parameters.
  void ExpectAxis(const NestBlock& block, const NestAccess& access, size_t a, int64_t wanted,
                  const Point& point) {
    const NestAxis& axis = nests_.axes(access)[a];
    if (!axis.exact) {
      ++inexact_;
      return;
    }
    ++compared_;
    const NestBuffer& buffer = nests_.buffers()[access.buffer];
    std::vector<int64_t> key{access.buffer, static_cast<int64_t>(a)};
    for (int depth = 0; depth < buffer.home; ++depth) key.push_back(point.at(LoopAt(block, depth)));
    for (int depth = buffer.home; depth < block.depth; ++depth) {
      const Id loop = LoopAt(block, depth);
      if (!OnAxis(p_, loop) || !IsPrivateTo(p_, access.buffer, loop)) continue;
      key.push_back(-1 - static_cast<int64_t>(p_.loop(loop).kind));
      key.push_back(point.at(loop));
    }
    const int64_t left_out = wanted - ByNests(nests_, axis, point);
    if (p_.buffers[access.buffer].role != Role::kTemporary) EXPECT_EQ(left_out, 0);
    EXPECT_EQ(left_out_.emplace(key, left_out).first->second, left_out)
        << "axis " << a << " of " << p_.Text(p_.buffers[access.buffer].name);
  }

  const Program& p_;
  Dice& dice_;
  LoopNestSummary nests_;
  std::map<std::vector<int64_t>, int64_t> left_out_;
  int compared_ = 0, inexact_ = 0;
};

TEST(LoopNestSummary, GuardsABlockByWhatGuardsThoseAroundIt) {
  Schedule s = Scheduled(Matmul(1, 4, 4));
  const auto loops = s.GetLoops(s.GetBlock("matmul"));
  s.Split(loops[0], {5, 1});  // four of five iterations run no instance
  s.Blockize(loops[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  LoopNestSummary nests;
  nests.Read(s.program());
  ASSERT_EQ(nests.blocks().size(), 2u);
  EXPECT_EQ(nests.blocks()[0].guarded, LoopNestSummary::Bit(0));
  EXPECT_EQ(nests.blocks()[1].guarded, LoopNestSummary::Bit(0));
}

// LoopNestSummary counts 24 rows for a copy of a tile of 24 rows whose layout has panels of 6 rows. The rows, 12*a +
// 4*t + e for loops a, t and e, are those of four panels.
TEST(LoopNestSummary, CountsThePanelsOfATile) {
  Schedule s = Scheduled(Matmul(48, 4, 4));
  const Block matmul = s.GetBlock("matmul");
  const auto rows = s.Split(s.GetLoops(matmul)[0], {2, 2, 3, 4});
  const Block copy = s.CacheRead(matmul, 0, "shared");
  s.ComputeAt(copy, rows[0]);
  s.TransformLayout(copy, -1, "(d0, d1) -> (d0/6, d1, d0%6)");
  ASSERT_TRUE(s.ok()) << s.status();
  LoopNestSummary nests;
  nests.Read(s.program());
  const Id buffer = WrittenBuffers(s.program(), s.node(copy))[0];
  EXPECT_EQ(nests.buffers()[buffer].elements, 24 * 4) << ToString(s.program());
}

TEST(LoopNestSummary, AgreesWithResolvedBindingsUnderRandomSteps) {
  int compared = 0, inexact = 0;
  for (uint64_t seed = 1; seed <= Repeats(300) && !testing::Test::HasFailure(); ++seed) {
    RandomDice dice(Engine({seed, 78}));
    State state;
    state.program = RandomProgram(dice);
    for (int tries = 0; tries < 30 && !testing::Test::HasFailure(); ++tries) {
      RefreshHandles(state);
      int results = 0;
      Decision decision;
      const Step step = RandomStep(state, {}, false, dice);
      if (!kiln::Run(state, Target(), step, 0, nullptr, &results, &decision).ok()) continue;
      Comparison comparison(state.program, dice);
      comparison.Run();
      compared += comparison.compared();
      inexact += comparison.inexact();
      if (testing::Test::HasFailure()) ADD_FAILURE() << "seed " << seed << "\n" << ToString(state.program);
    }
  }
  EXPECT_GT(compared, 15 * inexact);  // some layouts split dimensions by numbers that do not divide them
}

}  // namespace
}  // namespace kiln
