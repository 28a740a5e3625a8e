#include "lang/graph/fold_before.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"
#include "lang/graph/constant_exprs.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

class Folder {
 public:
  explicit Folder(Program& program) : p_(program), constants_(program) {}

  int Run() {
    int count = 0;
    for (const Id block : Blocks(p_)) {
      if (!Find(block)) continue;
      for (const Product& product : products_) Fold(product);
      const Range values = p_.AddList({rest_});
      p_.block(block).values = values;
      count += static_cast<int>(products_.size());
    }
    return count;
  }

 private:
  // A value as rest * scale + shift, where scale and shift read constants alone. A scale of kNone means 1, a shift of
  // kNone means 0.
  struct Affine {
    Id rest, scale = kNone, shift = kNone;
  };
  // A product that reads the result of a store, and whose weights are a given constant. For each iter of the store on
  // which scale or shift depends, `iters` has the iter of the product, and `dims` the dimension of the weights.
  struct Product {
    Id block, weights;  // the weights: a load
    std::map<int, int> iters, dims;
  };

  Id Make(Op op, Id a, Id b) { return p_.AddExpr({op, p_.exprs[a].dtype, a, b}); }
  Id Times(Id a, Id b) { return a == kNone ? b : Make(Op::kMul, a, b); }

  Affine AffineOf(Id expr) {
    const Expr e = p_.exprs[expr];
    if (e.op != Op::kAdd && e.op != Op::kSub && e.op != Op::kMul) return {expr};
    for (const int i : {0, 1}) {
      const Id by = e.operand(1 - i);
      if (!constants_.ReadsOnlyConstants(by) || (e.op == Op::kSub && i == 1)) continue;
      const auto [rest, scale, shift] = AffineOf(e.operand(i));
      if (e.op == Op::kMul)
        return {rest, Times(scale, by), shift == kNone ? kNone : Make(Op::kMul, shift, by)};
      if (shift != kNone) return {rest, scale, Make(e.op, shift, by)};
      return {rest, scale, e.op == Op::kAdd ? by : p_.AddExpr({Op::kNeg, e.dtype, by})};
    }
    return {expr};
  }

  bool IsSingle(const BlockNode& b, Id block) const {
    return b.domain.count == 0 && b.dests.count == 1 && b.values.count == 1 && p_.nodes[block].first == kNone;
  }

  // Returns true if the block is a store of rest * scale + shift, with or without a shift, to a temporary that only
  // products with given constants read. Then sets products_, rest_, scale_ and shift_.
  bool Find(Id block) {
    const BlockNode b = p_.block(block);
    if (b.monoid != kNone || !IsSingle(b, block)) return false;
    const Access dest = p_.Accesses(b.dests)[0];
    const Id value = p_.List(b.values)[0];
    if (p_.buffers[dest.buffer].role != Role::kTemporary || Writers(p_, dest.buffer).size() != 1 ||
        !IsFloat(p_.exprs[value].dtype) || constants_.ReadsOnlyConstants(value))
      return false;
    const auto [rest, scale, shift] = AffineOf(value);
    if (scale == kNone) return false;
    rest_ = rest;
    scale_ = scale;
    shift_ = shift;
    products_.clear();
    for (const Id reader : Readers(p_, dest.buffer)) {
      const std::optional<Product> product = AsProduct(reader, dest);
      if (!product.has_value()) return false;
      products_.push_back(*product);
    }
    return !products_.empty();
  }

  std::optional<Product> AsProduct(Id reader, const Access& dest) {
    const BlockNode& b = p_.block(reader);
    if (b.monoid == kNone || p_.monoids[b.monoid].kind != Monoid::Kind::kSum || b.accumulates ||
        !IsSingle(b, reader))
      return std::nullopt;
    if (b.initial.count != 0 && !constants_.ReadsOnlyConstants(p_.List(b.initial)[0])) return std::nullopt;
    const Expr& value = p_.exprs[p_.List(b.values)[0]];
    if (value.op != Op::kMul) return std::nullopt;
    for (const int i : {0, 1}) {
      const Expr &read = p_.exprs[value.operand(i)], &weights = p_.exprs[value.operand(1 - i)];
      if (read.op != Op::kLoad || read.AsLoad().buffer != dest.buffer || weights.op != Op::kLoad ||
          !constants_.IsGiven(weights.AsLoad().buffer))
        continue;
      Product product{.block = reader, .weights = value.operand(1 - i), .iters = {}, .dims = {}};
      if (MapIters(dest, read.AsLoad().index, weights, product)) return product;
    }
    return std::nullopt;
  }

  // Returns, for each iter that alone indexes all of a dimension of the access, that dimension. Other iters have no
  // entry.
  std::map<int, int> Walked(Id block, Id buffer, Range index) const {
    std::map<int, int> dims;
    const std::vector<int64_t> extents = IterExtents(p_, block);
    for (int d = 0; d < index.count; ++d) {
      const std::optional<SimpleIndex> simple = AsSimpleIndex(p_, p_.List(index)[d]);
      if (simple.has_value() && simple->offset == 0 &&
          p_.Dims(p_.buffers[buffer].shape)[d].Known() == extents[simple->iter])
        dims[simple->iter] = d;
    }
    return dims;
  }

  bool MapIters(const Access& dest, Range read, const Expr& weights, Product& product) const {
    const std::map<int, int> written = Walked(Writers(p_, dest.buffer)[0], dest.buffer, dest.index);
    const std::map<int, int> of_read = Walked(product.block, dest.buffer, read);
    const std::map<int, int> of_weights =
        Walked(product.block, weights.AsLoad().buffer, weights.AsLoad().index);
    std::vector<int> needed = ItersOf(p_, scale_);
    if (shift_ != kNone) absl::c_copy(ItersOf(p_, shift_), std::back_inserter(needed));
    for (const int iter : needed) {
      const auto dim = written.find(iter);
      if (dim == written.end()) return false;
      const auto same = absl::c_find_if(of_read, [&](const auto& w) { return w.second == dim->second; });
      if (same == of_read.end() || !of_weights.contains(same->first)) return false;
      product.iters[iter] = same->first;
      product.dims[iter] = of_weights.at(same->first);
    }
    const std::vector<int> used = ItersOf(p_, product.weights);
    const auto iters = p_.Iters(p_.block(product.block).iters);
    for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
      if (iters[i].kind == IterKind::kReduction && !absl::c_linear_search(used, i)) return false;
    }
    return true;
  }

  void Fold(const Product& product) {
    const Id nest = ChildTowards(p_, kRoot, product.block);
    if (shift_ != kNone) AddStart(product, nest);
    const auto [weights, index] = p_.exprs[product.weights].AsLoad();
    const auto dim = [&](int i) { return IndexSum::Of(Source::Iter(product.dims.at(i))); };
    const Id scaled = constants_.Scaled(weights, dim, scale_, nest);
    const Id load = p_.AddExpr(Expr::Load(p_.exprs[product.weights].dtype, scaled, index));
    ExprCopier copier(p_, p_, {.replace = [&](Id expr) { return expr == product.weights ? load : kNone; }});
    const Range values = copier.Copy(p_.block(product.block).values);
    p_.block(product.block).values = values;
  }

  // Adds a block that sums shift * weights when constants are prepared, and lets the product start from this sum, plus
  // its own start value if it has one.
  void AddStart(const Product& product, Id nest) {
    const BlockNode b = p_.block(product.block);
    std::vector<Iter> iters;
    std::vector<int64_t> extents;
    std::vector<Extent> shape;
    std::vector<IndexSum> index;
    std::map<int, int> position;
    std::vector<int32_t> marks;  // of the product's read of the sum
    const std::vector<int> used = ItersOf(p_, product.weights);
    for (const IterKind kind : {IterKind::kSpatial, IterKind::kReduction}) {
      for (const int i : used) {
        const Iter iter = p_.Iters(b.iters)[i];
        if (iter.kind != kind) continue;
        position[i] = static_cast<int>(iters.size());
        if (kind == IterKind::kSpatial) {
          shape.push_back(iter.extent);
          index.push_back(IndexSum::Of(Source::Iter(position[i])));
          marks.push_back(p_.AddMark(IndexSum::Of(Source::Iter(i)), iter.extent));
        }
        iters.push_back(iter);
        extents.push_back(iter.extent.Known());
      }
    }
    const auto at_product = [&](int i) { return IndexSum::Of(Source::Iter(position.at(i))); };
    const auto at_store = [&](int i) { return at_product(product.iters.at(i)); };
    const Id shift = BodyRewriter(p_, nullptr, at_store, extents).Expression(shift_);
    const Id weights = BodyRewriter(p_, nullptr, at_product, extents).Expression(product.weights);
    const Id buffer = p_.exprs[product.weights].AsLoad().buffer;
    const DType dtype = p_.exprs[shift].dtype;
    const Id sum = constants_.Add(absl::StrCat(p_.Text(p_.buffers[buffer].name), ".sum"), dtype, shape,
                                  /*is_constant=*/true);
    constants_.AddReduction("sum", iters, sum, index, Make(Op::kMul, shift, weights), nest, b.monoid);
    const Range list = p_.AddList(marks);
    Id start = p_.AddExpr(Expr::Load(dtype, sum, list));
    if (b.initial.count != 0) start = Make(Op::kAdd, p_.List(b.initial)[0], start);
    const Range initial = p_.AddList({start});
    p_.block(product.block).initial = initial;
  }

  Program& p_;
  ConstantBuffers constants_;
  Id rest_ = kNone, scale_ = kNone, shift_ = kNone;
  std::vector<Product> products_;
};

}  // namespace

int FoldBefore(Program& program) { return Folder(program).Run(); }

}  // namespace kiln
