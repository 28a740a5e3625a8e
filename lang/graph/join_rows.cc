#include "lang/graph/join_rows.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/alike.h"
#include "lang/graph/constant_exprs.h"
#include "lang/graph/join_siblings.h"
#include "lang/program/layout.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// The only difference of two sums: the second one reads the dimension `dim` of the operand `distance` elements further.
struct Shift {
  Id operand = kNone;
  int dim = -1;
  int64_t distance = 0;
};

// Sums by the distance at which they read a dimension of an operand. The distances count from the first sum in the
// program.
struct Rows {
  Id operand = kNone;
  int dim = -1;
  std::map<int64_t, Id> sums = {};
};

class RowJoiner {
 public:
  explicit RowJoiner(Program& program) : p_(program), constants_(program) {}

  int Run() {
    std::vector<Id> sums;
    for (const Id block : Blocks(p_)) {
      if (IsSimpleSum(p_, block) && !IsGathered(ResultOf(p_, block))) sums.push_back(block);
    }
    int count = 0;
    for (size_t first = 0; first < sums.size(); ++first) {
      if (!p_.IsBlock(sums[first])) continue;
      const Rows rows = RowsOf(sums, first);
      if (rows.sums.size() < 2 || !Gains(rows)) continue;
      Join(rows, sums[first]);
      count += static_cast<int>(rows.sums.size()) - 1;
    }
    return count;
  }

 private:
  bool IsGathered(Id buffer) const {
    return absl::c_any_of(Readers(p_, buffer), [&](Id reader) { return GathersFrom(p_, reader, buffer); });
  }

  Rows RowsOf(const std::vector<Id>& sums, size_t first) const {
    Rows rows{.sums = {{0, sums[first]}}};
    for (size_t other = first + 1; other < sums.size(); ++other) {
      if (!p_.IsBlock(sums[other])) continue;
      const std::optional<Shift> shift = ShiftOf(sums[first], sums[other]);
      if (!shift.has_value() || !IsComplete(shift->operand, sums[first])) continue;
      if (rows.dim >= 0 && (shift->operand != rows.operand || shift->dim != rows.dim)) continue;
      rows.operand = shift->operand;
      rows.dim = shift->dim;
      rows.sums.emplace(shift->distance, sums[other]);
    }
    return AtEvenDistances(rows);
  }

  // Keeps the sums at evenly spaced distances, from the lowest distance on. The lowest two give the step.
  static Rows AtEvenDistances(Rows rows) {
    if (rows.sums.size() < 2) return rows;
    const int64_t lowest = rows.sums.begin()->first, step = std::next(rows.sums.begin())->first - lowest;
    int64_t next = lowest;
    std::erase_if(rows.sums, [&](const auto& row) {
      if (row.first != next) return true;
      next += step;
      return false;
    });
    return rows;
  }

  // Returns in which dimension of an operand, and how far apart, the sums `a` and `b` read. Returns nullopt if they
  // read the same elements, or differ in anything else.
  std::optional<Shift> ShiftOf(Id a, Id b) const {
    const BlockNode &x = p_.block(a), &y = p_.block(b);
    const Id to_a = ResultOf(p_, a), to_b = ResultOf(p_, b);
    if (x.monoid != y.monoid || x.initial.count != y.initial.count ||
        IterExtents(p_, a) != IterExtents(p_, b) || p_.buffers[to_a].dtype != p_.buffers[to_b].dtype ||
        !SameShape(to_a, to_b) || !SameIndex(p_, ResultIndex(p_, a), ResultIndex(p_, b)))
      return std::nullopt;
    for (int i = 0; i < x.iters.count; ++i)
      if (p_.Iters(x.iters)[i].kind != p_.Iters(y.iters)[i].kind) return std::nullopt;
    Shift shift;
    std::vector<Id> same;
    const auto load = [&](const Expr& u, const Expr& v) { return IsShifted(u, v, shift, same); };
    const auto guard = [](Range) { return true; };
    const MayDiffer may_differ{load, guard};
    if (!SameExpr(p_, p_.List(x.values)[0], p_.List(y.values)[0], may_differ)) return std::nullopt;
    if (x.initial.count != 0 && !SameExpr(p_, p_.List(x.initial)[0], p_.List(y.initial)[0], may_differ))
      return std::nullopt;
    if (shift.dim < 0 || absl::c_linear_search(same, shift.operand)) return std::nullopt;
    return shift;
  }

  bool SameShape(Id a, Id b) const {
    return absl::c_equal(p_.Dims(p_.buffers[a].shape), p_.Dims(p_.buffers[b].shape));
  }

  // Compares a load of one sum with the matching load of another. True if both read the same element: then adds its
  // buffer to `same`. True also if the second reads the element that `shift` gives. The first pair that differs sets
  // `shift`.
  bool IsShifted(const Expr& u, const Expr& v, Shift& shift, std::vector<Id>& same) const {
    const auto [a, index_a] = u.AsLoad();
    const auto [b, index_b] = v.AsLoad();
    if (a != b || index_a.count != index_b.count) return false;
    Shift now;
    for (int d = 0; d < index_a.count; ++d) {
      const IndexSum x = p_.SumOf(p_.List(index_a)[d]), y = p_.SumOf(p_.List(index_b)[d]);
      if (x == y) continue;
      const bool of_iters = absl::c_all_of(
          x.splits, [](const IndexSplit& split) { return split.source.kind == Source::Kind::kIter; });
      if (x.splits != y.splits || !of_iters || now.dim >= 0) return false;
      now = {a, d, y.offset - x.offset};
    }
    if (now.dim < 0) {
      same.push_back(a);
      return true;
    }
    if (constants_.IsConstant(a)) return false;
    if (shift.dim < 0) shift = now;
    return now.operand == shift.operand && now.dim == shift.dim && now.distance == shift.distance;
  }

  // True if nothing writes the operand at or after the block.
  bool IsComplete(Id operand, Id block) const {
    return absl::c_all_of(Writers(p_, operand), [&](Id writer) { return Before(p_, writer, block); });
  }

  // True if the estimate says that joining gains: joined rows read the constants once.
  bool Gains(const Rows& rows) const {
    JoinEstimate estimate;
    const Id block = rows.sums.begin()->second;
    const auto others = static_cast<double>(rows.sums.size() - 1);
    estimate.AddSums(IterExtents(p_, block), others + 1);
    estimate.SaveCalls(others);
    for (const Id buffer : ReadBuffers(p_, block)) {
      if (constants_.IsConstant(buffer)) estimate.SaveReads(BytesOf(p_, buffer), others);
    }
    return estimate.Gains();
  }

  void Join(const Rows& rows, Id first) {
    const auto count = static_cast<int64_t>(rows.sums.size());
    const int64_t lowest = rows.sums.begin()->first;
    const int64_t step = std::next(rows.sums.begin())->first - lowest;
    const Id result = ResultOf(p_, first), place = p_.AddLoop("place", Extent(1));
    const auto dims = p_.Dims(p_.buffers[result].shape);
    std::vector<Extent> shape(dims.begin(), dims.end());
    shape.insert(shape.begin(), Extent(count));
    const Id joined = constants_.Add(absl::StrCat(p_.Text(p_.buffers[result].name), ".rows"),
                                     p_.buffers[result].dtype, shape, /*is_constant=*/false);
    p_.InsertBefore(ChildTowards(p_, kRoot, first), place);
    const BlockNode node = JoinedBlock(rows, first, joined, lowest, step);
    std::vector<Id> results;
    for (const auto& [distance, sum] : rows.sums) {
      results.push_back(ResultOf(p_, sum));
      RemoveWithEmptyLoops(p_, sum);
      if (sum != first) p_.Kill(sum);
    }
    p_.block(first) = node;
    const Id nest = NestOver(p_, first, WholeRanges(p_, first), false);
    p_.Replace(place, nest);
    const Id before = p_.nodes[nest].next;
    for (size_t r = 0; r < results.size(); ++r) CopyRow(results[r], joined, static_cast<int64_t>(r), before);
  }

  // Returns the joined block: the first sum with one more iter, the row, before its own iters.
  BlockNode JoinedBlock(const Rows& rows, Id first, Id joined, int64_t lowest, int64_t step) {
    const BlockNode old = p_.block(first);
    std::vector<int64_t> extents = IterExtents(p_, first);
    extents.insert(extents.begin(), static_cast<int64_t>(rows.sums.size()));
    const auto now = [](int iter) { return IndexSum::Of(Source::Iter(iter + 1)); };
    const auto load = [&](const Expr& e) {
      const auto [buffer, index] = e.AsLoad();
      if (buffer != rows.operand) return kNone;
      return p_.AddExpr(Expr::Load(e.dtype, buffer, RowIndex(buffer, index, rows.dim, lowest, step)));
    };
    BodyRewriter body(p_, load, now, extents);
    BlockNode node = old;
    node.values = body.Expressions(old.values);
    if (old.initial.count != 0) node.initial = body.Expressions(old.initial);
    const auto shape = p_.Dims(p_.buffers[joined].shape);
    std::vector<int32_t> written{p_.AddMark(IndexSum::Of(Source::Iter(0)), shape[0])};
    for (const Id mark : p_.List(ResultIndex(p_, first)))
      written.push_back(p_.AddMark(Moved(p_.SumOf(mark)), shape[written.size()]));
    node.dests = {static_cast<int32_t>(p_.accesses.size()), 1};
    p_.accesses.push_back({joined, p_.AddList(written)});
    node.iters = {static_cast<int32_t>(p_.iters.size()), old.iters.count + 1};
    p_.iters.push_back({p_.Intern("row"), Extent(extents[0]), IterKind::kSpatial, kNone});
    for (int i = 0; i < old.iters.count; ++i) {
      const Iter iter = p_.iters[old.iters.begin + i];
      p_.iters.push_back(iter);
    }
    return node;
  }

  // Translates an index over the iters of the first block to the iters of the joined one.
  static IndexSum Moved(IndexSum sum) {
    for (IndexSplit& split : sum.splits) split.source = Source::Iter(split.source.id + 1);
    return sum;
  }

  Range RowIndex(Id buffer, Range index, int dim, int64_t lowest, int64_t step) {
    std::vector<int32_t> marks;
    for (int d = 0; d < index.count; ++d) {
      IndexSum sum = Moved(p_.SumOf(p_.List(index)[d]));
      if (d == dim) sum = sum + IndexSum::Of(Source::Iter(0), step) + IndexSum::Constant(lowest);
      marks.push_back(p_.AddMark(sum, p_.Dims(p_.buffers[buffer].shape)[d]));
    }
    return p_.AddList(marks);
  }

  // Adds a block that copies one row of the joined sums: result[d...] = joined[row, d...].
  void CopyRow(Id result, Id joined, int64_t row, Id before) {
    const auto dims = p_.Dims(p_.buffers[result].shape);
    const std::vector<Extent> shape(dims.begin(), dims.end());
    std::vector<IndexSum> read{IndexSum::Constant(row)}, written;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
      written.push_back(IndexSum::Of(Source::Iter(d)));
      read.push_back(written.back());
    }
    constants_.AddCopy("row", shape, joined, read, result, written, before);
  }

  Program& p_;
  ConstantBuffers constants_;
};

}  // namespace

int JoinRows(Program& program) { return RowJoiner(program).Run(); }

}  // namespace kiln
