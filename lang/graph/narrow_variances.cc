#include "lang/graph/narrow_variances.h"

#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/casts.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"
#include "lang/program/compact.h"
#include "lang/schedule/inline_block.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

constexpr DType kF32 = DType::kF32, kF64 = DType::kF64;

// Maps each dimension of a buffer that has more than one element to the iter of the block that indexes it.
using Walk = std::map<int, int>;
// Maps each dimension of a buffer that has more than one element to the dimension of another buffer with the same
// index.
using DimMap = std::map<int, int>;

class Narrower {
 public:
  explicit Narrower(Program& program) : p_(program) {}

  int Run() {
    int count = 0;
    for (const Id block : Blocks(p_)) {
      if (!p_.IsBlock(block) || !Find(block)) continue;
      Narrow();
      ++count;
    }
    if (count > 0) DropUnusedExprs(p_);  // some read f64 from what is f32 now
    return count;
  }

 private:
  // The blocks that compute a variance. `scale` is kNone if the sum of squares is rounded to f32 without a division.
  struct Variance {
    Id cast, sum, mean, deviation, square, squares, scale, result;
    std::vector<Id> wide() const {
      std::vector<Id> blocks = {cast, sum, mean, deviation, square, squares};
      if (scale != kNone) blocks.push_back(scale);
      return blocks;
    }
  };

  bool Find(Id result) {
    if (!IsStore(result)) return false;
    const Expr& rounded = p_.exprs[ValueOf(result)];
    if (rounded.op != Op::kCast || rounded.dtype != kF32) return false;
    Variance v{};
    v.result = result;
    v.scale = WriterOf(rounded.operand(0));
    if (v.scale == kNone) return false;
    v.squares = v.scale;
    if (IsScaled(v.scale)) {
      v.squares = WriterOf(p_.exprs[ValueOf(v.scale)].operand(0));
    } else {
      v.scale = kNone;
    }
    v.square = IsSum(v.squares) ? WriterOf(ValueOf(v.squares)) : kNone;
    const Id factor = SquareOf(v.square);
    v.deviation = factor == kNone ? kNone : WriterOf(factor);
    if (v.deviation == kNone || !IsStore(v.deviation)) return false;
    const Expr& difference = p_.exprs[ValueOf(v.deviation)];
    if (difference.op != Op::kSub) return false;
    v.cast = WriterOf(difference.operand(0));
    v.mean = WriterOf(difference.operand(1));
    if (!IsCast(v.cast) || !IsScaled(v.mean)) return false;
    v.sum = WriterOf(p_.exprs[ValueOf(v.mean)].operand(0));
    if (!IsSum(v.sum) || WriterOf(ValueOf(v.sum)) != v.cast) return false;
    found_ = v;
    return IsMean() && HaveSameRows() && NobodyElseReads();
  }

  Id ValueOf(Id block) const { return p_.List(p_.block(block).values)[0]; }
  Id ResultOf(Id block) const { return p_.Accesses(p_.block(block).dests)[0].buffer; }

  bool IsSingle(Id block) const {
    const BlockNode& b = p_.block(block);
    return b.domain.count == 0 && b.dests.count == 1 && b.values.count == 1 && b.initial.count == 0 &&
           !b.accumulates && p_.nodes[block].first == kNone;
  }
  bool IsStore(Id block) const {
    return block != kNone && IsSingle(block) && p_.block(block).monoid == kNone;
  }
  bool IsSum(Id block) const {
    return block != kNone && IsSingle(block) && p_.block(block).monoid != kNone &&
           p_.monoids[p_.block(block).monoid].kind == Monoid::Kind::kSum;
  }

  // Returns the only block that writes what the expression loads; kNone unless the expression loads a temporary of f64
  // and there is one such block.
  Id WriterOf(Id expr) const {
    const Expr& e = p_.exprs[expr];
    if (e.op != Op::kLoad || e.dtype != kF64 || p_.buffers[e.AsLoad().buffer].role != Role::kTemporary)
      return kNone;
    const std::vector<Id> writers = Writers(p_, e.AsLoad().buffer);
    return writers.size() == 1 ? writers[0] : kNone;
  }

  // True if the block stores a value divided by (or times) a number.
  bool IsScaled(Id block) const {
    if (!IsStore(block)) return false;
    const Expr& e = p_.exprs[ValueOf(block)];
    return (e.op == Op::kDiv || e.op == Op::kMul) && p_.exprs[e.operand(1)].op == Op::kConstant;
  }

  bool IsCast(Id block) const {
    if (!IsStore(block)) return false;
    const Expr& e = p_.exprs[ValueOf(block)];
    return e.op == Op::kCast && p_.exprs[e.operand(0)].op == Op::kLoad &&
           p_.exprs[e.operand(0)].dtype == kF32;
  }

  // Returns the load x of a store of x*x; kNone if the block stores something else.
  Id SquareOf(Id block) const {
    if (!IsStore(block)) return kNone;
    const Expr& e = p_.exprs[ValueOf(block)];
    if (e.op != Op::kMul || p_.exprs[e.operand(0)].op != Op::kLoad || p_.exprs[e.operand(1)].op != Op::kLoad)
      return kNone;
    const auto [a, index_a] = p_.exprs[e.operand(0)].AsLoad();
    const auto [b, index_b] = p_.exprs[e.operand(1)].AsLoad();
    const auto equal = [&](Id x, Id y) { return p_.SumOf(x) == p_.SumOf(y); };
    return a == b && absl::c_equal(p_.List(index_a), p_.List(index_b), equal) ? e.operand(0) : kNone;
  }

  // True if the mean is the sum divided by the number of its terms (or times the inverse of that number).
  bool IsMean() const {
    const Expr& e = p_.exprs[ValueOf(found_.mean)];
    double terms = 1;
    for (const Iter& iter : p_.Iters(p_.block(found_.sum).iters))
      if (iter.kind == IterKind::kReduction) terms *= static_cast<double>(iter.extent.UpperBound());
    const auto by = absl::bit_cast<double>(p_.exprs[e.operand(1)].Number());
    return e.op == Op::kDiv ? by == terms : by * terms == 1;
  }

  bool IsLong(Id buffer, int dim) const { return p_.Dims(p_.buffers[buffer].shape)[dim].UpperBound() != 1; }

  std::optional<Walk> WalkOf(Id block, Id buffer, Range index) const {
    Walk walk;
    const auto iters = p_.Iters(p_.block(block).iters);
    for (int d = 0; d < index.count; ++d) {
      if (!IsLong(buffer, d)) continue;
      const std::optional<SimpleIndex> simple = AsSimpleIndex(p_, p_.List(index)[d]);
      if (!simple.has_value() || simple->offset != 0 ||
          !(iters[simple->iter].extent == p_.Dims(p_.buffers[buffer].shape)[d]))
        return std::nullopt;
      for (const auto& [other, iter] : walk)
        if (iter == simple->iter) return std::nullopt;
      walk[d] = simple->iter;
    }
    return walk;
  }
  std::optional<Walk> Written(Id block) const {
    return WalkOf(block, ResultOf(block), p_.Accesses(p_.block(block).dests)[0].index);
  }
  // Returns, for each dimension of the result of `from`, the iter of `block` that indexes it where `block` reads the
  // result. Returns nullopt if an index is not one iter alone. Several loads of one block are equal here (SquareOf), so
  // it takes the first.
  std::optional<Walk> Read(Id block, Id from) const {
    const std::vector<Id> loads = LoadsOf(p_, block, ResultOf(from));
    return WalkOf(block, ResultOf(from), p_.exprs[loads[0]].AsLoad().index);
  }

  // Maps the dimensions of `a` to those of `b` that the same iter indexes; nullopt if a dimension of `a` has none.
  static std::optional<DimMap> Match(const std::optional<Walk>& a, const std::optional<Walk>& b) {
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    DimMap map;
    for (const auto& [dim, iter] : *a) {
      const auto same = absl::c_find_if(*b, [&](const auto& of) { return of.second == iter; });
      if (same == b->end()) return std::nullopt;
      map[dim] = same->first;
    }
    return map;
  }
  static std::optional<DimMap> Then(const std::optional<DimMap>& a, const std::optional<DimMap>& b) {
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    DimMap map;
    for (const auto& [dim, middle] : *a) {
      if (!b->contains(middle)) return std::nullopt;
      map[dim] = b->at(middle);
    }
    return map;
  }

  // True if the mean that is subtracted from an element is the mean of the same row in which the element's squared
  // deviation is summed.
  bool HaveSameRows() const {
    const Variance& v = found_;
    const auto mean_by_value = Match(Read(v.deviation, v.mean), Read(v.deviation, v.cast));
    const auto mean_by_sum = Match(Written(v.mean), Read(v.mean, v.sum));
    const auto sum_by_value = Match(Written(v.sum), Read(v.sum, v.cast));
    const auto summed = Then(mean_by_sum, sum_by_value);
    const auto squares_by_square = Match(Written(v.squares), Read(v.squares, v.square));
    const auto square_by_deviation = Match(Written(v.square), Read(v.square, v.deviation));
    const auto deviation_by_value = Match(Written(v.deviation), Read(v.deviation, v.cast));
    const auto rows = Then(Then(squares_by_square, square_by_deviation), deviation_by_value);
    if (!mean_by_value.has_value() || !rows.has_value() || summed != mean_by_value) return false;
    return Values(*rows) == Values(*mean_by_value);
  }
  static std::vector<int> Values(const DimMap& map) {
    std::vector<int> values;
    for (const auto& [from, to] : map) values.push_back(to);
    absl::c_sort(values);
    return values;
  }

  bool NobodyElseReads() const {
    std::vector<Id> readers = found_.wide();
    readers.push_back(found_.result);
    return absl::c_all_of(found_.wide(), [&](Id block) {
      return absl::c_all_of(Readers(p_, ResultOf(block)),
                            [&](Id reader) { return absl::c_linear_search(readers, reader); });
    });
  }

  // Returns the expression in f32, without casts.
  Id InF32(Id expr) {
    Expr e = p_.exprs[expr];
    if (e.op == Op::kCast) {
      const Id of = e.operand(0);
      return p_.exprs[of].dtype == kF32 ? of : InF32(of);
    }
    if (e.op == Op::kConstant) {
      const auto number = static_cast<float>(absl::bit_cast<double>(e.Number()));
      return p_.AddExpr(Expr::Constant(kF32, absl::bit_cast<int64_t>(static_cast<double>(number))));
    }
    if (e.op == Op::kLoad) return p_.AddExpr(Expr::Load(kF32, e.AsLoad().buffer, e.AsLoad().index));
    for (Id& operand : e.Operands()) operand = InF32(operand);
    e.dtype = kF32;
    return p_.AddExpr(e);
  }

  void Narrow() {
    std::vector<Id> blocks = found_.wide();
    for (const Id block : blocks) p_.buffers[ResultOf(block)].dtype = kF32;
    blocks.push_back(found_.result);
    for (const Id block : blocks) {
      const Range values = p_.AddList({InF32(ValueOf(block))});
      p_.block(block).values = values;
      if (p_.block(block).monoid == kNone) continue;
      const Id sum = p_.AddMonoid(Monoid::Kind::kSum, kF32);
      p_.block(block).monoid = sum;
    }
    if (KeepsOrder(p_, found_.cast)) InlineBlock(p_, found_.cast).IgnoreError();  // it is a copy now
  }

  Program& p_;
  Variance found_{};
};

}  // namespace

int NarrowVariances(Program& program) { return Narrower(program).Run(); }

}  // namespace kiln
