#include "lang/analysis/tile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"

namespace kiln {
namespace {

class Divider {
 public:
  Divider(const Program& program, Id block, Id loop)
      : p_(program),
        block_(block),
        loop_(loop),
        scope_(EnclosingBlock(program, block)),
        extents_(program, scope_) {}

  absl::Status Divide(const Iter& iter, TilePart& part) const {
    Resolver resolver(p_, scope_);
    const IndexSum value = resolver.ResolveChecked(iter.binding);
    if (!Divide(value, part.outer, part.inner, part.tile)) {
      return No(iter, value, "is not a multiple of a tile plus an offset in it");
    }
    for (const Guard& guard : resolver.guards()) {
      const bool own = guard.value == value && guard.extent == iter.extent.Known();
      IndexSum outer, inner;
      int64_t tile = 1;
      if (!Divide(guard.value, outer, inner, tile) ||
          (!outer.splits.empty() && !inner.splits.empty() && guard.extent % tile != 0)) {
        return No(
            iter, guard.value,
            absl::StrCat("< ", guard.extent, " is a condition on both sides of it: the tile is imperfect"));
      }
      if (own) continue;
      if (outer.splits.empty()) {
        part.inside.push_back(guard);
      } else if (inner.splits.empty()) {
        part.outside.push_back(guard);
      } else {
        part.outside.push_back({outer, guard.extent / tile});
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status No(const Iter& iter, const IndexSum& value, absl::string_view why) const {
    const auto name = [&](Source s) -> std::string {
      if (s.kind == Source::Kind::kLoop) return std::string(p_.Text(p_.loop(s.id).name));
      if (s.kind == Source::Kind::kIter)
        return std::string(p_.Text(p_.Iters(p_.block(scope_).iters)[s.id].name));
      return absl::StrCat("m", s.id);
    };
    return absl::FailedPreconditionError(absl::StrCat("iter ", p_.Text(iter.name), " of ",
                                                      Describe(p_, block_), " at ", Describe(p_, loop_), ": ",
                                                      ToString(value, name), " ", why));
  }

  enum Side { kNeither = 0, kOutside = 1, kInside = 2 };
  int SideOf(Source source) const {
    if (source.kind == Source::Kind::kIter) return kOutside;
    if (source.kind == Source::Kind::kLoop && p_.IsLoop(source.id))
      return IsAncestor(p_, loop_, source.id) ? kInside : kOutside;
    const Id mark =
        source.kind == Source::Kind::kMark ? source.id : p_.loops[p_.nodes[source.id].index].definition;
    int sides = kNeither;
    for (const IndexSplit& split : p_.Splits(p_.marks[mark].splits)) sides |= SideOf(split.source);
    return sides;
  }

  bool Divide(const IndexSum& value, IndexSum& outer, IndexSum& inner, int64_t& tile) const {
    std::vector<Source> outside, inside;
    for (const IndexSplit& split : value.splits) {
      const int side = SideOf(split.source);
      if (side == (kOutside | kInside)) return false;
      std::vector<Source>& list = side == kInside ? inside : outside;
      if (std::find(list.begin(), list.end(), split.source) == list.end()) list.push_back(split.source);
    }
    std::vector<Source> sources = outside;
    sources.insert(sources.end(), inside.begin(), inside.end());
    IndexMap map;
    for (const Source source : sources) map.domain.push_back(extents_(source));
    IndexSum numbered = value;
    for (IndexSplit& split : numbered.splits) {
      const auto at = std::find(sources.begin(), sources.end(), split.source) - sources.begin();
      split.source = Source::Iter(static_cast<int32_t>(at));
    }
    map.results.push_back(numbered);
    const std::optional<Division> division = kiln::Divide(map, static_cast<int>(inside.size()));
    if (!division.has_value()) return false;
    // Replaces positions by sources (loops, marks or iters): kiln::Divide returns sums over the positions of the
    // sources.
    const auto named = [&](IndexSum sum, size_t first) {
      for (IndexSplit& split : sum.splits) split.source = sources[first + split.source.id];
      return sum;
    };
    outer = named(division->outer.results[0], 0);
    inner = named(division->inner.results[0], outside.size());
    tile = division->tile[0];
    return true;
  }

  const Program& p_;
  Id block_, loop_, scope_;
  Extents extents_;
};

}  // namespace

absl::StatusOr<Tile> TileBelow(const Program& program, Id block, Id loop) {
  const Divider divider(program, block, loop);
  Tile tile;
  for (const Iter& iter : program.Iters(program.block(block).iters)) {
    tile.parts.emplace_back();
    const absl::Status status = divider.Divide(iter, tile.parts.back());
    if (!status.ok()) return status;
  }
  return tile;
}

}  // namespace kiln
