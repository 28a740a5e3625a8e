#include "lang/graph/concatenations.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/reshape.h"
#include "lang/graph/constant_exprs.h"
#include "lang/graph/outline.h"
#include "lang/graph/views.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

class Separating {
 public:
  Separating(Program& program, int64_t alignment) : p_(program), alignment_(alignment), stores_(program) {}

  void Run() {
    for (const Id block : Blocks(p_)) {
      const BlockNode& b = p_.block(block);
      if (b.values.count != 1 || p_.exprs[p_.List(b.values)[0]].op != Op::kWithin) continue;
      if (const std::vector<Part> parts = PartsOf(block); parts.size() > 1) Separate(block, parts);
    }
  }

 private:
  struct Part {
    int64_t first = 0, size = 0;  // along the iter
    Id value = kNone;
  };

  // Returns the parts of a concatenation that the block stores as one operation (nested kWithin), by position. Sets
  // iter_ to the iter along which the parts follow each other. Returns an empty list if the block is no such
  // concatenation or AreApart is false.
  std::vector<Part> PartsOf(Id block) {
    const std::optional<Piece> piece = WrittenPiece(p_, block);
    if (!piece.has_value() || stores_.IsConstant(piece->buffer) || Writers(p_, piece->buffer).size() != 1)
      return {};
    std::vector<Part> parts;
    iter_ = -1;
    for (Id value = p_.List(p_.block(block).values)[0]; p_.exprs[value].op == Op::kWithin;) {
      const auto [marks, inside, outside] = p_.exprs[value].AsWithin();
      if (marks.count != 1) return {};
      const Id mark = p_.List(marks)[0];
      const IndexSum sum = p_.SumOf(mark);
      if (sum.splits.size() != 1) return {};
      if (iter_ < 0) iter_ = sum.splits[0].source.id;
      if (!(sum.splits == IndexSum::Of(Source::Iter(iter_)).splits)) return {};
      parts.push_back({-sum.offset, p_.marks[mark].extent.Known(), inside});
      value = outside;
    }
    absl::c_sort(parts, [](const Part& a, const Part& b) { return a.first < b.first; });
    return parts.size() > 1 && AreApart(block, *piece, parts) ? parts : std::vector<Part>();
  }

  // True if the parts cover all values of the iter without gaps, each is consecutive in memory and begins at a multiple
  // of the alignment, and parts that copy temporaries make up at least half of them.
  bool AreApart(Id block, const Piece& piece, const std::vector<Part>& parts) const {
    const std::vector<int64_t> extents = IterExtents(p_, block);
    const auto stride =
        absl::c_find_if(piece.flat.splits, [&](const IndexSplit& split) { return split.source.id == iter_; });
    if (stride == piece.flat.splits.end() || stride->scale * extents[iter_] != piece.elements) return false;
    const int64_t bytes = stride->scale * SizeOf(p_.buffers[piece.buffer].dtype);
    int64_t end = 0, copied = 0;
    for (const Part& part : parts) {
      if (part.first != end || part.first * bytes % alignment_ != 0) return false;
      end += part.size;
      copied += IsCopy(part, piece, extents, part.first * stride->scale) ? part.size : 0;
    }
    return end == extents[iter_] && 2 * copied >= end;
  }

  // True if the part copies a whole temporary in memory order, and the temporary is not computed from constants alone.
  bool IsCopy(const Part& part, const Piece& piece, const std::vector<int64_t>& extents,
              int64_t first) const {
    const Expr& value = p_.exprs[part.value];
    if (value.op != Op::kLoad) return false;
    const auto [from, index] = value.AsLoad();
    if (p_.buffers[from].role != Role::kTemporary || p_.buffers[from].layout.axes.count != 0) return false;
    IndexSum flat = Simplify(FlatIndex(p_, from, index), [&](Source source) { return extents[source.id]; });
    flat.offset += first;
    return !stores_.IsConstant(from) && flat == piece.flat &&
           p_.buffers[from].dtype == p_.buffers[piece.buffer].dtype &&
           ElementsOf(p_, from) * extents[iter_] == piece.elements * part.size;
  }

  struct Store {
    std::vector<Iter> iters;
    std::vector<IndexSum> index;
    Id value = kNone;
  };

  // Returns a store of one part alone, with iter_ counting from the beginning of the part. Returns nullopt if an index
  // cannot be expressed.
  std::optional<Store> StoreOf(Id block, const Part& part) {
    const BlockNode b = p_.block(block);
    Store store;
    store.iters.assign(p_.Iters(b.iters).begin(), p_.Iters(b.iters).end());
    store.iters[iter_].extent = part.size;
    std::vector<int64_t> extents = IterExtents(p_, block);
    extents[iter_] = part.size;
    const auto walked = [&](int iter) {
      IndexSum sum = IndexSum::Of(Source::Iter(iter));
      sum.offset = iter == iter_ ? part.first : 0;
      return sum;
    };
    for (const Id mark : p_.List(p_.Accesses(b.dests)[0].index)) {
      const auto moved = Substitute(
          p_.SumOf(mark), [&](Source source) { return std::optional(walked(source.id)); },
          [&](Source source) { return extents[source.id]; });
      if (!moved.has_value()) return std::nullopt;
      store.index.push_back(*moved);
    }
    store.value = BodyRewriter(p_, nullptr, walked, extents).Expression(part.value);
    return store.value == kNone ? std::nullopt : std::optional(std::move(store));
  }

  void Separate(Id block, const std::vector<Part>& parts) {
    std::vector<Store> all;
    for (const Part& part : parts) {
      std::optional<Store> store = StoreOf(block, part);
      if (!store.has_value()) return;
      all.push_back(*std::move(store));
    }
    const std::string name(p_.Text(p_.block(block).name));
    const Id whole = p_.Accesses(p_.block(block).dests)[0].buffer;
    for (const Store& store : all)
      stores_.AddStore(name, store.iters, whole, store.index, store.value, ChildTowards(p_, kRoot, block));
    RemoveWithEmptyLoops(p_, block);
  }

  Program& p_;
  const int64_t alignment_;
  ConstantBuffers stores_;
  int iter_ = -1;  // of the block at hand: the one that the parts follow each other along
};

class Nesting {
 public:
  explicit Nesting(Program& program) : p_(program), stores_(program) {}

  void Run() {
    int count = 0;
    position_.resize(p_.nodes.size());
    for (Id nest = p_.nodes[kRoot].first; nest != kNone; nest = p_.nodes[nest].next, ++count) {
      for (const Id block : BlocksOf(p_, nest)) position_[block] = count;
    }
    const std::vector<std::vector<Id>> writers = WritersByBuffer(p_);
    for (Id whole = 0; whole < static_cast<Id>(p_.buffers.size()); ++whole) {
      std::vector<Put> puts = PutsOf(p_, whole, writers[whole]);
      const bool copies = absl::c_all_of(puts, [](const Put& put) { return put.part != kNone; });
      if (!puts.empty() && copies) puts_[whole] = std::move(puts);
    }
    for (const auto& [whole, puts] : puts_) Nest(whole, puts);
  }

 private:
  // Lets the concatenation `whole` copy the longest other one whose parts it contains in a row, if CanRead allows it.
  void Nest(Id whole, const std::vector<Put>& puts) {
    Id longest = kNone;
    size_t first = 0;
    for (const auto& [other, parts] : puts_) {
      if (parts.size() >= puts.size() || (longest != kNone && parts.size() <= puts_.at(longest).size()))
        continue;
      const auto found = std::search(puts.begin(), puts.end(), parts.begin(), parts.end(),
                                     [](const Put& a, const Put& b) { return a.part == b.part; });
      const auto at = static_cast<size_t>(found - puts.begin());
      if (found == puts.end() || !CanRead(whole, puts, at, other)) continue;
      longest = other;
      first = at;
    }
    if (longest != kNone) Read(whole, puts, first, longest);
  }

  // True if one store can copy all of `other` to where puts[at] and the stores after it write its parts, and `other` is
  // complete before the last of these.
  bool CanRead(Id whole, const std::vector<Put>& puts, size_t at, Id other) const {
    const auto of_whole = p_.Dims(p_.buffers[whole].shape), of_other = p_.Dims(p_.buffers[other].shape);
    if (of_whole.size() != of_other.size()) return false;
    const size_t axis = AxisOf(whole, other);
    int64_t stride = 1;
    for (size_t d = 0; d < of_whole.size(); ++d) {
      if (d < axis && of_whole[d].Known() != 1) return false;
      if (d == axis) continue;
      if (of_whole[d].Known() != of_other[d].Known()) return false;
      stride *= of_whole[d].Known();
    }
    const Id last = Last(puts, at, puts_.at(other).size());
    return puts[at].piece.first % stride == 0 && absl::c_all_of(puts_.at(other), [&](const Put& put) {
             return position_[put.block] < position_[last];
           });
  }

  // Returns the first dimension in which the shapes of two concatenations differ; the last dimension if they are equal.
  size_t AxisOf(Id whole, Id other) const {
    const auto of_whole = p_.Dims(p_.buffers[whole].shape), of_other = p_.Dims(p_.buffers[other].shape);
    size_t axis = 0;
    while (axis + 1 < of_whole.size() && of_whole[axis].Known() == of_other[axis].Known()) ++axis;
    return axis;
  }

  // Returns the block that comes last in the program among `count` stores from puts[at] on.
  Id Last(const std::vector<Put>& puts, size_t at, size_t count) const {
    const auto begin = puts.begin() + static_cast<ptrdiff_t>(at);
    return std::max_element(
               begin, begin + static_cast<ptrdiff_t>(count),
               [&](const Put& a, const Put& b) { return position_[a.block] < position_[b.block]; })
        ->block;
  }

  void Read(Id whole, const std::vector<Put>& puts, size_t at, Id other) {
    const auto dims = p_.Dims(p_.buffers[other].shape);
    const std::vector<Extent> shape(dims.begin(), dims.end());
    const size_t axis = AxisOf(whole, other), count = puts_.at(other).size();
    int64_t stride = 1;
    for (size_t d = axis + 1; d < shape.size(); ++d) stride *= shape[d].Known();
    std::vector<IndexSum> read;
    for (size_t d = 0; d < shape.size(); ++d)
      read.push_back(IndexSum::Of(Source::Iter(static_cast<int32_t>(d))));
    std::vector<IndexSum> written = read;
    written[axis].offset = puts[at].piece.first / stride;
    const Id last = Last(puts, at, count);
    const std::string name(p_.Text(p_.block(last).name));
    stores_.AddCopy(name, shape, other, read, whole, written, ChildTowards(p_, kRoot, last));
    for (size_t n = 0; n < count; ++n) RemoveWithEmptyLoops(p_, puts[at + n].block);
  }

  Program& p_;
  ConstantBuffers stores_;
  std::map<Id, std::vector<Put>> puts_;  // by concatenation: the copies that the file makes it of
  std::vector<int> position_;            // by block of the file: the number of its nest
};

}  // namespace

std::optional<Piece> PieceOf(const Program& p, Id block, Id buffer, Range index) {
  if (p.buffers[buffer].role != Role::kTemporary || p.buffers[buffer].layout.axes.count != 0)
    return std::nullopt;
  const std::vector<int64_t> extents = IterExtents(p, block);
  Piece piece{.buffer = buffer};
  for (const int64_t extent : extents) piece.elements *= extent;
  piece.flat = Simplify(FlatIndex(p, buffer, index), [&](Source source) { return extents[source.id]; });
  piece.first = std::exchange(piece.flat.offset, 0);
  int64_t step = 1;  // of the next iter, from the fastest
  for (auto split = piece.flat.splits.rbegin(); split != piece.flat.splits.rend(); ++split) {
    if (split->lower != 1 || split->extent != 0 || split->scale != step) return std::nullopt;
    step *= extents[split->source.id];
  }
  return step == piece.elements ? std::optional(piece) : std::nullopt;
}

std::optional<Piece> WrittenPiece(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid != kNone || b.domain.count != 0 || b.dests.count != 1 || b.values.count != 1)
    return std::nullopt;
  const Access& dest = p.Accesses(b.dests)[0];
  return PieceOf(p, block, dest.buffer, dest.index);
}

std::vector<Put> PutsOf(const Program& p, Id whole, const std::vector<Id>& writers) {
  std::vector<Put> puts;
  if (writers.size() < 2) return {};
  for (const Id block : writers) {
    std::optional<Piece> piece = WrittenPiece(p, block);
    if (!piece.has_value()) return {};
    const std::optional<View> view = AsView(p, block);
    puts.push_back({block, *std::move(piece), view.has_value() && !view->slice ? view->part : kNone});
  }
  absl::c_sort(puts, [](const Put& a, const Put& b) { return a.piece.first < b.piece.first; });
  int64_t end = 0;
  for (const Put& put : puts) {
    if (put.piece.first != end) return {};
    end += put.piece.elements;
  }
  return end == ElementsOf(p, whole) ? puts : std::vector<Put>();
}

std::vector<std::vector<Id>> WritersByBuffer(const Program& program) {
  std::vector<std::vector<Id>> writers(program.buffers.size());
  for (const Id block : Blocks(program)) {
    for (const Id buffer : WrittenBuffers(program, block)) writers[buffer].push_back(block);
  }
  return writers;
}

void SeparateConcatenations(Program& program, int64_t alignment) { Separating(program, alignment).Run(); }

void NestConcatenations(Program& program) { Nesting(program).Run(); }

bool CanSplit(const Program& p, const Put& put) {
  const std::vector<char> prepared = PreparedBuffers(p);
  const bool varies = absl::c_any_of(ReadBuffers(p, put.block), [&](Id b) {
    return p.buffers[b].role != Role::kConstant && prepared[b] == 0;
  });
  return varies && !put.piece.flat.splits.empty() && p.nodes[ChildTowards(p, kRoot, put.block)].next != kNone;
}

Id SplitPut(Program& p, const Put& put) {
  const BlockNode block = p.block(put.block);
  const Access dest = p.Accesses(block.dests)[0];
  std::vector<int32_t> dim(block.iters.count, -1);  // by iter of the block: the dimension of the part
  std::vector<Extent> shape;
  std::vector<int32_t> marks;
  std::vector<IndexSum> read, written;
  for (const IndexSplit& split : put.piece.flat.splits) {  // from the slowest
    const auto d = dim[split.source.id] = static_cast<int32_t>(shape.size());
    shape.push_back(p.Iters(block.iters)[split.source.id].extent);
    marks.push_back(p.AddMark(IndexSum::Of(split.source), shape[d]));
    read.push_back(IndexSum::Of(Source::Iter(d)));
  }
  for (const Id mark : p.List(dest.index)) {
    const IndexSum sum = p.SumOf(mark);
    IndexSum& of_copy = written.emplace_back(IndexSum::Constant(sum.offset));
    for (IndexSplit split : sum.splits) {
      if (dim[split.source.id] < 0) continue;  // it has one value, 0
      split.source = Source::Iter(dim[split.source.id]);
      of_copy.splits.push_back(split);
    }
  }
  ConstantBuffers stores(p);
  const std::string name(p.Text(block.name)), whole(p.Text(p.buffers[dest.buffer].name));
  const DType dtype = p.buffers[dest.buffer].dtype;
  const Id part = stores.Add(absl::StrCat(whole, ".part"), dtype, shape, /*is_constant=*/false);
  stores.AddCopy(name, shape, part, read, dest.buffer, written,
                 p.nodes[ChildTowards(p, kRoot, put.block)].next);
  p.accesses[block.dests.begin] = {part, p.AddList(marks)};
  return part;
}

}  // namespace kiln
