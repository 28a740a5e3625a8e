// einsum
//
//   for i in 0..6: for j in 0..8: for r in 0..3:
//     C[i, j] sum= A[i + r] * B[r, j]
//
//   -- einsum multiples=[4 8 2] -->
//
//   for m in 0..8: for k in 0..4: A.mk[m, k] = (m < 6, k < 3 ? A[m + k] : 0)
//   for k in 0..4: for n in 0..8: B.kn[k, n] = (k < 3 ? B[k, n] : 0)
//   for m in 0..8: for n in 0..8: for k in 0..4: C.mn[m, n] sum= A.mk[m, k] * B.kn[k, n]
//   for i in 0..6: for j in 0..8: C[i, j] = C.mn[i, j]
//
// Turns a contraction into a (batched) matrix product: its iters are fused to m, n and k and padded. The contraction
// must be untiled: each iter is one serial loop of its own.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/base/defect.h"
#include "lang/patterns/contraction.h"
#include "lang/program/expr_copier.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

// Iters of a contraction that are fused into one iter of the matrix product: m, n, k, or one of the batch. An iter of
// the batch is alone in its group. `size` is the product of the extents, and `padded` is `size` rounded up to a
// multiple.
struct Group {
  std::string name;
  std::vector<int> iters;
  int64_t size = 1, padded = 1;
};

// Turns a contraction block into a (batched) matrix product. Plan checks whether that is possible, and Make changes the
// program.
class Product {
 public:
  Product(Program& program, Id block)
      : p_(program), block_(block), old_(program.block(block)), tainted_(AnyTainted(program, block)) {}

  absl::Status Plan(const std::vector<int64_t>& multiples);
  std::vector<Id> Make();  // returns its last three loops

 private:
  enum { kM, kN, kK };
  absl::Status CheckLoops() const;
  int64_t ExtentOf(int iter) const { return p_.iters[old_.iters.begin + iter].extent.Known(); }
  // Returns an old iter as a quotient, with remainder, of the iter into which its group is fused; without remainder if
  // it is the first of its group. The iter of group g has the position position[g] in the new block.
  IndexSum Digit(int iter, const std::vector<int>& position) const;
  std::vector<int64_t> Padded(const std::vector<int>& groups) const;
  std::vector<int> With(int first, int second) const;  // returns the batch groups and two of m, n, k
  std::vector<int> Positions(const std::vector<int>& groups) const;
  std::optional<std::vector<int>> Plain(Range index, const std::vector<int>& groups) const;
  Id Factor(Id factor, const std::vector<int>& groups, const char* suffix);
  void Crop();

  Program& p_;
  Id block_;
  BlockNode old_;
  bool tainted_;
  Contraction c_;
  std::vector<Group> groups_;       // the batch groups, then m, n, k
  std::vector<int> group_of_;       // group of each old iter
  std::vector<Id> before_, after_;  // copy nests before and after the product
};

absl::Status Product::CheckLoops() const {
  const Id outermost = ChildTowards(p_, kRoot, block_);
  if (BlocksBelow(p_, outermost).size() != 1 && outermost != block_)
    return No(absl::StrCat(Describe(p_, outermost), " is around other blocks too"));
  std::vector<Id> loops;
  for (int i = 0; i < old_.iters.count; ++i) {
    const Iter& iter = p_.iters[old_.iters.begin + i];
    const IndexSum binding = p_.SumOf(iter.binding);
    const Id loop = binding.splits.size() == 1 ? binding.splits[0].source.id : kNone;
    if (loop == kNone || !(binding == IndexSum::Of(Source::Loop(loop))) || !p_.IsLoop(loop) ||
        p_.loop(loop).kind != LoopKind::kSerial || !(p_.loop(loop).extent == iter.extent) ||
        std::count(loops.begin(), loops.end(), loop) != 0) {
      return No(absl::StrCat("iter ", p_.Text(iter.name),
                             " is not one serial loop of its own; einsum comes "
                             "before tiling"));
    }
    loops.push_back(loop);
  }
  if (outermost == block_ || loops.size() != LoopsAround(p_, block_).size())
    return No(absl::StrCat("a loop around ", Describe(p_, block_), " binds none of its iters"));
  return absl::OkStatus();
}

absl::Status Product::Plan(const std::vector<int64_t>& multiples) {
  if (multiples.size() != 3 || std::any_of(multiples.begin(), multiples.end(),
                                           [](int64_t m) { return m < 1 || m > (int64_t{1} << 20); })) {
    return absl::InvalidArgumentError("there are three multiples, of m, n and k, each positive");
  }
  if (const absl::Status status = CheckNotWithin(p_, block_); !status.ok()) return status;
  absl::StatusOr<Contraction> contraction = AsContraction(p_, block_);
  if (!contraction.ok()) return contraction.status();
  c_ = *std::move(contraction);
  if (const absl::Status status = CheckLoops(); !status.ok()) return status;
  if (Writers(p_, p_.Accesses(old_.dests)[0].buffer).size() != 1)
    return No(absl::StrCat("what ", Describe(p_, block_), " writes has other writers"));

  for (const int i : c_.batch)
    groups_.push_back({std::string(p_.Text(p_.iters[old_.iters.begin + i].name)), {i}});
  groups_.push_back({"m", c_.m});
  groups_.push_back({"n", c_.n});
  groups_.push_back({"k", c_.k});
  group_of_.assign(old_.iters.count, -1);
  for (size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    for (const int i : group.iters) {
      group_of_[i] = static_cast<int>(g);
      group.size *= ExtentOf(i);
    }
    const int64_t multiple = g < c_.batch.size() ? 1 : multiples[g - c_.batch.size()];
    group.padded = (group.size + multiple - 1) / multiple * multiple;
  }
  std::vector<int> all;
  for (size_t g = 0; g < groups_.size(); ++g) all.push_back(static_cast<int>(g));
  const std::vector<int> position = Positions(all);
  const auto digit = [&](int i) { return Digit(i, position); };
  const std::vector<int64_t> extents = Padded(all);
  for (const Id factor : {c_.a, c_.b}) {
    if (!CanSubstitute(p_, factor, digit, extents))
      return No("an index of a factor cannot be expressed in m, n and k");
  }
  for (const Id mark : p_.List(old_.provenance.map)) {
    if (!Substitute(
             p_.SumOf(mark), [&](Source s) { return std::optional<IndexSum>(digit(s.id)); },
             [&](Source s) { return extents[s.id]; })
             .has_value())
      return No("the block's origin cannot be expressed in m, n and k");
  }
  return absl::OkStatus();
}

IndexSum Product::Digit(int iter, const std::vector<int>& position) const {
  const Group& group = groups_[group_of_[iter]];
  const Source source = Source::Iter(position[group_of_[iter]]);
  int64_t lower = group.size;
  for (const int i : group.iters) {
    lower /= ExtentOf(i);
    if (i == iter) break;
  }
  if (KILN_DEFECT("einsum.digit") && lower > 1) lower = 1;
  // Takes no remainder for the outermost iter of the group. A guard excludes values beyond its extent.
  const bool first = group.iters[0] == iter;
  return IndexSum{0, {IndexSplit{source, 1, lower, first ? 0 : ExtentOf(iter)}}};
}

std::vector<int> Product::With(int first, int second) const {
  const int batch = static_cast<int>(c_.batch.size());
  std::vector<int> groups;
  for (int g = 0; g < batch; ++g) groups.push_back(g);
  groups.push_back(batch + first);
  groups.push_back(batch + second);
  return groups;
}

std::vector<int> Product::Positions(const std::vector<int>& groups) const {
  std::vector<int> position(groups_.size(), 0);
  for (size_t i = 0; i < groups.size(); ++i) position[groups[i]] = static_cast<int>(i);
  return position;
}

std::vector<int64_t> Product::Padded(const std::vector<int>& groups) const {
  std::vector<int64_t> extents;
  for (const int g : groups) extents.push_back(groups_[g].padded);
  return extents;
}

// Returns, for each index, the group of its iter, if the buffer can be accessed without a copy: each index is an iter
// that is alone in its group, and no group in `groups` is padded, or has several values and no index. Otherwise returns
// nullopt.
std::optional<std::vector<int>> Product::Plain(Range index, const std::vector<int>& groups) const {
  std::vector<int> plain;
  for (const Id mark : p_.List(index)) {
    const std::optional<SimpleIndex> simple = AsSimpleIndex(p_, mark);
    if (!simple.has_value() || simple->offset != 0) return std::nullopt;
    const int g = group_of_[simple->iter];
    if (groups_[g].iters.size() != 1 || std::count(plain.begin(), plain.end(), g) != 0) return std::nullopt;
    plain.push_back(g);
  }
  for (const int g : groups) {
    if (groups_[g].padded != groups_[g].size ||
        (groups_[g].padded > 1 && std::count(plain.begin(), plain.end(), g) == 0))
      return std::nullopt;
  }
  return plain;
}

// Returns marks for an access with one index for each of `groups`: the iter of the product with that number. extents[i]
// is the extent of index i.
Range IndexBy(Program& p, const std::vector<int>& groups, const std::vector<int64_t>& extents) {
  std::vector<int32_t> marks;
  for (size_t i = 0; i < groups.size(); ++i)
    marks.push_back(p.AddMark(IndexSum::Of(Source::Iter(groups[i])), extents[i]));
  return p.AddList(marks);
}

// Returns the load with which the matrix product reads a factor. A load whose indices are unpadded iters of the product
// stays a load of the same buffer. For any other factor, adds a nest that computes the factor into a new buffer.
Id Product::Factor(Id factor, const std::vector<int>& groups, const char* suffix) {
  const Expr e = p_.exprs[factor];
  if (e.op == Op::kLoad) {
    if (const auto plain = Plain(e.AsLoad().index, groups); plain.has_value()) {
      const Range index = IndexBy(p_, *plain, Padded(*plain));
      return p_.AddExpr(Expr::Load(e.dtype, e.AsLoad().buffer, index));
    }
  }
  std::vector<Extent> shape;
  for (const int64_t extent : Padded(groups)) shape.push_back(extent);
  const Id source = p_.exprs[LoadOfFactor(p_, factor)].AsLoad().buffer;
  const std::string name = p_.FreshName(absl::StrCat(p_.Text(p_.buffers[source].name), ".", suffix));
  const Id buffer = p_.AddBuffer(name, e.dtype, shape, Role::kTemporary);
  const Id copy = AddCopyBlock(p_, name, buffer, buffer);
  const std::vector<int> position = Positions(groups);
  BodyRewriter rewriter(p_, nullptr, [&](int i) { return Digit(i, position); }, Padded(groups));
  Id value = rewriter.Expression(factor);
  std::vector<int32_t> bounds;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups_[groups[i]];
    p_.iters[p_.block(copy).iters.begin + static_cast<int>(i)].name = p_.AddName(group.name);
    if (group.padded > group.size)
      bounds.push_back(p_.AddMark(IndexSum::Of(Source::Iter(static_cast<int32_t>(i))), group.size));
  }
  p_.block(copy).provenance = {
      e.op == Op::kLoad ? Provenance::Kind::kCopy : Provenance::Kind::kPadding, source, {}};
  if (!bounds.empty()) {
    const Range list = p_.AddList(bounds);
    const Id zero = p_.List(p_.monoids[p_.AddMonoid(Monoid::Kind::kSum, e.dtype)].identity)[0];
    value = p_.AddExpr(Expr::Within(e.dtype, list, value, KILN_DEFECT("einsum.pad") ? value : zero));
    p_.block(copy).provenance.kind = Provenance::Kind::kPadding;
  }
  const Range values = p_.AddList({value});
  p_.block(copy).values = values;
  before_.push_back(NestOver(p_, copy, WholeRanges(p_, copy), tainted_));
  const Range index = IndexBy(p_, groups, Padded(groups));
  return p_.AddExpr(Expr::Load(e.dtype, buffer, index));
}

// Lets the product write a new buffer indexed by the batch, m and n, and adds a nest that copies it to the destination.
// If the destination already has such indices, without padding, the product writes it directly.
void Product::Crop() {
  const Access dest = p_.Accesses(old_.dests)[0];
  const std::vector<int> groups = With(kM, kN);
  p_.block(block_).dests = {static_cast<int32_t>(p_.accesses.size()), 1};
  if (const auto plain = Plain(dest.index, groups); plain.has_value()) {
    p_.accesses.push_back({dest.buffer, IndexBy(p_, *plain, Padded(*plain))});
    return;
  }
  std::vector<Extent> shape;
  for (const int64_t extent : Padded(groups)) shape.push_back(extent);
  const DType dtype = p_.buffers[dest.buffer].dtype;
  const Id buffer = p_.AddBuffer(p_.FreshName(absl::StrCat(p_.Text(p_.buffers[dest.buffer].name), ".mn")),
                                 dtype, shape, Role::kTemporary);
  p_.accesses.push_back({buffer, IndexBy(p_, groups, Padded(groups))});

  BlockNode copy;
  copy.name = p_.AddName(p_.FreshName(absl::StrCat(p_.Text(old_.name), ".crop")));
  std::vector<int> spatial, position(old_.iters.count, -1);
  for (int i = 0; i < old_.iters.count; ++i) {
    if (p_.iters[old_.iters.begin + i].kind != IterKind::kSpatial) continue;
    position[i] = static_cast<int>(spatial.size());
    spatial.push_back(i);
  }
  copy.iters = {static_cast<int32_t>(p_.iters.size()), static_cast<int32_t>(spatial.size())};
  for (const int i : spatial) {
    const Iter iter = p_.iters[old_.iters.begin + i];
    p_.iters.push_back({iter.name, iter.extent, IterKind::kSpatial, kNone});
  }
  std::vector<int32_t> from, to;
  for (const int g : groups) {
    IndexSum sum;
    int64_t lower = groups_[g].size;
    for (const int i : groups_[g].iters) {
      lower /= ExtentOf(i);
      sum = sum + IndexSum::Of(Source::Iter(position[i]), lower);
    }
    from.push_back(p_.AddMark(sum, groups_[g].padded));
  }
  for (int d = 0; d < dest.index.count; ++d) {
    const Id mark = p_.List(dest.index)[d];
    IndexSum sum = p_.SumOf(mark);
    for (IndexSplit& split : sum.splits) split.source = Source::Iter(position[split.source.id]);
    to.push_back(p_.AddMark(sum, p_.marks[mark].extent));
  }
  const Range read = p_.AddList(from), written = p_.AddList(to);
  copy.values = p_.AddList({p_.AddExpr(Expr::Load(dtype, buffer, read))});
  copy.dests = {static_cast<int32_t>(p_.accesses.size()), 1};
  p_.accesses.push_back({dest.buffer, written});
  copy.provenance = {Provenance::Kind::kCopy, buffer, {}};
  const Id node = p_.AddBlock(copy);
  after_.push_back(NestOver(p_, node, WholeRanges(p_, node), tainted_));
}

std::vector<Id> Product::Make() {
  const Id outermost = ChildTowards(p_, kRoot, block_);
  const Id a = Factor(c_.a, With(kM, kK), "mk"), b = Factor(c_.b, With(kK, kN), "kn");
  ExprCopier copier(p_, p_, {.replace = [&](Id value) {
                      return value == c_.a ? a : value == c_.b ? b : kNone;
                    }});
  const Range values = copier.Copy(old_.values);
  p_.block(block_).values = values;
  Crop();

  std::vector<int> all;
  for (size_t g = 0; g < groups_.size(); ++g) all.push_back(static_cast<int>(g));
  const std::vector<int> position = Positions(all);
  BodyRewriter rewriter(p_, nullptr, [&](int i) { return Digit(i, position); }, Padded(all));
  std::vector<int32_t> map;
  for (int i = 0; i < old_.provenance.map.count; ++i)
    map.push_back(rewriter.Index(p_.lists[old_.provenance.map.begin + i]));
  for (int i = 0; i < old_.iters.count && old_.provenance.map.count == 0; ++i)
    map.push_back(p_.AddMark(Digit(i, position), ExtentOf(i)));
  const Range map_list = p_.AddList(map);
  p_.block(block_).provenance.map = map_list;
  p_.block(block_).iters = {static_cast<int32_t>(p_.iters.size()), static_cast<int32_t>(groups_.size())};
  for (size_t g = 0; g < groups_.size(); ++g) {
    p_.iters.push_back({p_.AddName(groups_[g].name), Extent(groups_[g].padded),
                        g + 1 == groups_.size() ? IterKind::kReduction : IterKind::kSpatial, kNone});
  }
  const Id inner = p_.nodes[block_].parent;
  p_.Detach(block_);
  const Id nest = NestOver(p_, block_, WholeRanges(p_, block_), tainted_);
  p_.nodes[nest].prepare = p_.nodes[outermost].prepare;
  for (const Id copy : before_) p_.InsertBefore(outermost, copy);
  for (const Id copy : after_) p_.InsertAfter(outermost, copy);
  for (const std::vector<Id>* copies : {&before_, &after_}) {
    for (const Id copy : *copies) p_.nodes[copy].prepare = p_.nodes[outermost].prepare;
  }
  p_.InsertBefore(outermost, nest);
  for (Id at = inner; at != kRoot;) {
    const Id up = p_.nodes[at].parent;
    p_.Kill(at);
    at = up;
  }
  const std::vector<Id> loops = LoopsAround(p_, block_);
  return {loops.end() - 3, loops.end()};
}

absl::Status Einsum(Call& call) {
  Product product(call.program(), call.node(0));
  const absl::Status status = product.Plan(call.Ints(0));
  if (!status.ok()) return status;
  for (const Id loop : product.Make()) call.Return(loop);
  return absl::OkStatus();
}

const Primitive kEinsum{
    .name = "einsum",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"multiples", std::vector<int64_t>()}},
    .result = HandleKind::kLoop,
    .result_names = "m n k",
    .doc =
        "Turns a contraction into a matrix product. Its iters are fused to those of a batch and to m, n "
        "and k, and padded to multiples. Factors and results that do not have this form are copied.\n"
        "for i in 0..6: for j in 0..8: for r in 0..3: C[i, j] sum= A[i + r] * B[r, j]\n"
        "-> einsum multiples=[4 8 2]\n"
        "for m in 0..8: for k in 0..4: A.mk[m, k] = (m < 6, k < 3 ? A[m + k] : 0)\n"
        "for k in 0..4: for n in 0..8: B.kn[k, n] = (k < 3 ? B[k, n] : 0)\n"
        "for m in 0..8: for n in 0..8: for k in 0..4: C.mn[m, n] sum= A.mk[m, k] * B.kn[k, n]\n"
        "for i in 0..6: for j in 0..8: C[i, j] = C.mn[i, j]\n"
        "Does not apply to other blocks, to blocks that are already tiled, or if an iter occurs in only "
        "one factor and not in the result.",
    .apply = Einsum,
};
KILN_PRIMITIVE(kEinsum);

}  // namespace
}  // namespace kiln
