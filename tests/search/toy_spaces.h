// Search spaces of at most 200 points, on which tests check the chain exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lang/program/builder.h"
#include "search/sampler/chain.h"
#include "trace/enumerate.h"

namespace kiln::toy {

// Returns the program C[i] = A[i] + A[i]
inline Program Doubling(int64_t extent) {
  Builder b("doubling");
  const Id a = b.Input("A", DType::kF32, {extent}), c = b.Output("C", DType::kF32, {extent});
  const IndexSum i = Builder::Iter(0);
  b.Compute("double", {{"i", extent}}, {c, {i}}, b.Add(b.Load(a, {i}), b.Load(a, {i})));
  return b.Finish();
}

// Returns an energy between 0 and 3 of a point of a search space: a hash of its sketch and its decisions.
inline double Energy(const Candidate& point) {
  uint64_t hash = 0x9e3779b97f4a7c15u * static_cast<uint64_t>(point.sketch + 1);
  for (const Decision& decision : point.decisions) {
    for (const int64_t value : decision)
      hash = (hash ^ static_cast<uint64_t>(value)) * 0xbf58476d1ce4e5b9u, hash ^= hash >> 29;
  }
  return static_cast<double>(hash % 3001) / 1000;
}

using Refuses = std::function<bool(const Candidate&)>;

inline SearchSpace Make(const Program& program, const SpaceFunction& function,
                        const Refuses& refuses = nullptr) {
  SearchSpace space{program, Target(), {}, nullptr};
  const auto sketches = Enumerate(function, program, space.target);
  KILN_CHECK(sketches.ok(), sketches.status().ToString());
  for (const Sketch& sketch : sketches->sketches) space.sketches.push_back(sketch.trace);
  space.make_prefilter = [refuses]() -> Prefilter {
    return [refuses](const Replayed& replayed, FeatureSet&) {
      Candidate at{0, {}, 0};
      for (const ReplayedSite& site : replayed.sites) at.decisions.push_back(site.decision);
      return refuses && refuses(at) ? absl::FailedPreconditionError("refused") : absl::OkStatus();
    };
  };
  return space;
}

inline Value Tile(Schedule& s, Loop loop, int parts, int64_t innermost, const char* label) {
  Schedule::TileOptions options;
  options.parts = parts;
  options.innermost = innermost;
  return s.SamplePerfectTile(loop, options, label);
}
inline std::vector<Loop> SplitBy(Schedule& s, Loop loop, const std::vector<Factor>& factors) {
  return s.Split(loop, factors);
}

// Returns a space of 30 points that tiles a loop of 24 iterations, and then the inner loop. The support of the second
// site depends on the first. If only one value is left, there is one site less to mutate.
inline SearchSpace Nested(const Refuses& refuses = nullptr) {
  return Make(
      Doubling(24),
      [](Schedule& s) {
        const Loop i = s.GetLoops(s.GetBlock("double"))[0];
        const std::vector<Loop> parts = SplitBy(s, i, {Tile(s, i, 2, 0, "outer")});
        if (s.ok()) SplitBy(s, parts[1], {Tile(s, parts[1], 2, 0, "inner")});
      },
      refuses);
}

// Returns a space that tiles a loop and then the inner loop. Its validator refuses 4 of the 30 points.
inline SearchSpace Refusing() {
  return Nested([](const Candidate& p) { return (p.decisions[0][0] + 2 * p.decisions[1][0]) % 3 == 0; });
}

// Returns a space with a weighted choice on which two tiles depend. 32 points with different prior probabilities.
inline SearchSpace Weighted() {
  return Make(Doubling(24), [](Schedule& s) {
    const Loop i = s.GetLoops(s.GetBlock("double"))[0];
    const std::vector<Loop> parts =
        SplitBy(s, i, {kAuto, s.SampleCategorical({2, 3, 4}, {1, 2, 5}, "width")});
    if (!s.ok()) return;
    SplitBy(s, parts[0], {Tile(s, parts[0], 2, 0, "outer")});
    SplitBy(s, parts[1], {Tile(s, parts[1], 2, 0, "inner")});
  });
}

// Returns a space with a tile of three parts, the innermost at most 4, and a second tile of the middle part, with an
// inner factor of at most 3. Its points have different numbers of neighbors, so the proposal is not symmetric. 46
// points.
inline SearchSpace Asymmetric() {
  return Make(Doubling(24), [](Schedule& s) {
    const Loop i = s.GetLoops(s.GetBlock("double"))[0];
    const std::vector<Loop> parts = SplitBy(s, i, {Tile(s, i, 3, 4, "outer")});
    if (s.ok()) SplitBy(s, parts[1], {Tile(s, parts[1], 2, 3, "inner")});
  });
}

// Returns a space with two tiles whose last factors have a product of at most 12: the first tile limits the support of
// the second. 46 points.
inline SearchSpace Shared() {
  Builder b("doubling");
  const Id a = b.Input("A", DType::kF32, {12, 8}), c = b.Output("C", DType::kF32, {12, 8});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1);
  b.Compute("double", {{"i", 12}, {"j", 8}}, {c, {i, j}}, b.Add(b.Load(a, {i, j}), b.Load(a, {i, j})));
  return Make(b.Finish(), [](Schedule& s) {
    const std::vector<Loop> loops = s.GetLoops(s.GetBlock("double"));
    const Value first = Tile(s, loops[0], 2, 0, "i");
    Schedule::TileOptions options;
    options.parts = 3;
    options.innermost = 0;
    options.budget = 12;
    options.within = {first};
    const Value second = s.SamplePerfectTile(loops[1], options, "j");
    SplitBy(s, loops[0], {first});
    SplitBy(s, loops[1], {second});
  });
}

// Returns a space with three sketches that share names of sites, with different supports and numbers of sites. The
// validator refuses some points. 22 points.
inline SearchSpace Structured() {
  return Make(
      Doubling(12),
      [](Schedule& s) {
        const Loop i = s.GetLoops(s.GetBlock("double"))[0];
        const int shape = s.Choose("shape", 3);
        if (shape == 0) {
          SplitBy(s, i, {Tile(s, i, 2, 0, "tile")});
        } else if (shape == 1) {
          const std::vector<Loop> parts =
              SplitBy(s, i, {kAuto, s.SampleCategorical({1, 2, 3}, {3, 1, 1}, "width")});
          if (s.ok()) SplitBy(s, parts[0], {Tile(s, parts[0], 2, 0, "tile")});
        } else {
          SplitBy(s, i, {kAuto, s.SampleCategorical({2, 3, 4, 6}, {1, 2, 3, 4}, "width")});
        }
      },
      [](const Candidate& p) {
        return p.decisions.size() == 2 && p.decisions[0][0] == 3 && p.decisions[1][0] == 2;
      });
}

}  // namespace kiln::toy
