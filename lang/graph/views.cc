#include "lang/graph/views.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/concatenations.h"
#include "lang/graph/outline.h"
#include "lang/program/layout.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

constexpr absl::string_view kView = "view";

bool IsAll(const Program& p, const Piece& piece) { return piece.elements == ElementsOf(p, piece.buffer); }

}  // namespace

std::optional<View> AsView(const Program& p, Id block) {
  const std::optional<Piece> to = WrittenPiece(p, block);
  if (!to.has_value()) return std::nullopt;
  const Expr& value = p.exprs[p.List(p.block(block).values)[0]];
  if (value.op != Op::kLoad) return std::nullopt;
  const std::optional<Piece> from = PieceOf(p, block, value.AsLoad().buffer, value.AsLoad().index);
  const DType type = p.buffers[to->buffer].dtype;
  if (!from.has_value() || !(from->flat == to->flat) || p.buffers[from->buffer].dtype != type)
    return std::nullopt;
  if (IsAll(p, *from)) return View{from->buffer, to->buffer, to->first * SizeOf(type)};
  if (IsAll(p, *to)) return View{to->buffer, from->buffer, from->first * SizeOf(type), true};
  return std::nullopt;
}

bool IsView(const Program& p, Id block) { return AnnotationOf(p, p.block(block).annotations, kView) != 0; }

namespace {

void Mark(Program& p, Id block) { SetAnnotation(p, p.block(block).annotations, kView, 1); }

// Marks the blocks that copy slices of buffers, and returns their number. A slice must begin at a multiple of
// `alignment` bytes, overlap no other slice, have no other writer and contain no marked slice. Skips a slice of a
// buffer that is prepared or a marked slice itself, and a slice if it or the buffer that contains it is in `parts`.
int MarkSlices(Program& p, const std::set<Id>& parts, absl::Span<const char> prepared, int64_t alignment) {
  std::map<Id, std::set<std::pair<int64_t, int64_t>>> taken;  // by whole: the bytes of its slices
  std::set<Id> slices;
  int count = 0;
  for (const Id block : Blocks(p)) {
    const std::optional<View> view = AsView(p, block);
    if (!view.has_value() || !view->slice || view->offset % alignment != 0 || prepared[view->whole] != 0 ||
        parts.contains(view->whole) || parts.contains(view->part) || slices.contains(view->whole) ||
        taken.contains(view->part) || Writers(p, view->part).size() != 1)
      continue;
    const int64_t end = view->offset + BytesOf(p, view->part);
    auto& of_whole = taken[view->whole];
    if (absl::c_any_of(of_whole, [&](const auto& t) { return t.first < end && view->offset < t.second; }))
      continue;
    of_whole.insert({view->offset, end});
    slices.insert(view->part);
    Mark(p, block);
    ++count;
  }
  return count;
}

}  // namespace

int MarkViews(Program& p, int64_t alignment) {
  SeparateConcatenations(p, alignment);
  NestConcatenations(p);
  const std::vector<char> prepared = PreparedBuffers(p);
  const std::vector<std::vector<Id>> writers = WritersByBuffer(p);
  std::set<Id> parts;
  int count = 0;
  for (Id whole = 0; whole < static_cast<Id>(prepared.size()); ++whole) {
    if (p.buffers[whole].role != Role::kTemporary || prepared[whole] != 0) continue;
    const int64_t bytes = SizeOf(p.buffers[whole].dtype);
    std::set<Id> now;
    std::vector<Put> others;
    int64_t in_place = 0;  // elements
    const bool all = absl::c_all_of(PutsOf(p, whole, writers[whole]), [&](const Put& put) {
      if (put.piece.first * bytes % alignment != 0) return false;
      const bool free = put.part != kNone && prepared[put.part] == 0 && !parts.contains(put.part);
      if (free && now.insert(put.part).second) {
        in_place += put.piece.elements;
        return true;
      }
      others.push_back(put);
      return CanSplit(p, put);
    });
    if (!all || in_place == 0 || 2 * in_place < ElementsOf(p, whole)) continue;
    for (const Put& put : others) now.insert(SplitPut(p, put));
    parts.insert(now.begin(), now.end());
    for (const Id block : Writers(p, whole)) {
      Mark(p, block);
      ++count;
    }
  }
  return count + MarkSlices(p, parts, PreparedBuffers(p), alignment);
}

}  // namespace kiln
