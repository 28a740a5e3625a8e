#include "lang/graph/channels_last.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/constant_exprs.h"
#include "lang/program/expr_copier.h"
#include "lang/schedule/rewrite.h"
#include "lang/schedule/select_dims.h"

namespace kiln {
namespace {

constexpr int64_t kLeastChannels = 4;  // as the shortest vector of f32 has lanes

// Calls `visit` for each dimension of the results and loads of a block, with the mark that indexes it.
void ForEachDim(const Program& p, Id block, absl::FunctionRef<void(Id buffer, int dim, Id mark)> visit) {
  const auto visit_all = [&](Id buffer, Range index) {
    for (int d = 0; d < index.count; ++d) visit(buffer, d, p.List(index)[d]);
  };
  for (const Access& dest : p.Accesses(p.block(block).dests)) visit_all(dest.buffer, dest.index);
  for (const Id load : Loads(p, block)) {
    const auto [buffer, index] = p.exprs[load].AsLoad();
    visit_all(buffer, index);
  }
}

bool IsReduction(const Program& p, Id block, int iter) {
  return p.Iters(p.block(block).iters)[iter].kind == IterKind::kReduction;
}

// Returns the iter that walks a dimension: the only one of its index, or the only spatial one, as h in h*2 + p.
// Otherwise, and if that iter is divided, returns -1.
int IterAlong(const Program& p, Id block, Id mark) {
  const IndexSum sum = p.SumOf(mark);
  int along = -1;
  for (const IndexSplit& split : sum.splits) {
    if (sum.splits.size() > 1 && IsReduction(p, block, split.source.id)) continue;
    if (along >= 0 || split.lower != 1 || split.extent != 0) return -1;
    along = split.source.id;
  }
  return along;
}

enum class Kind : uint8_t { kOther, kPosition, kChannel };  // sorted in this order

// Finds whether each dimension of each buffer is a position, a channel or neither. Dimensions that one iter walks form
// a class and are of one kind.
class DimKinds {
 public:
  DimKinds(const Program& program, const ConstantBuffers& constants) : p_(program), constants_(constants) {
    for (const Buffer& buffer : p_.buffers) {
      first_.push_back(static_cast<int>(parents_.size()));
      parents_.resize(parents_.size() + buffer.shape.count);
    }
    std::iota(parents_.begin(), parents_.end(), 0);
    kinds_.resize(parents_.size(), Kind::kOther);
    const std::vector<Id> blocks = Blocks(p_);
    for (const Id block : blocks) JoinAlongIters(block);
    for (const Id block : blocks) FindPositions(block);
    for (const Id block : blocks) FindChannels(block);
  }

  Kind Of(Id buffer, int dim) const { return kinds_[ClassOf(buffer, dim)]; }
  bool Has(Id buffer, Kind kind) const {
    for (int d = 0; d < p_.buffers[buffer].shape.count; ++d) {
      if (Of(buffer, d) == kind) return true;
    }
    return false;
  }

 private:
  int Root(int at) const {
    while (parents_[at] != at) at = parents_[at];
    return at;
  }
  int ClassOf(Id buffer, int dim) const { return Root(first_[buffer] + dim); }

  void JoinAlongIters(Id block) {
    std::vector<int> walked(p_.block(block).iters.count, -1);  // by iter: one of its dimensions
    ForEachDim(p_, block, [&](Id buffer, int dim, Id mark) {
      const int iter = IterAlong(p_, block, mark);
      if (iter < 0) return;
      const int own = ClassOf(buffer, dim);
      if (walked[iter] < 0) walked[iter] = own;
      parents_[own] = Root(walked[iter]);
    });
  }

  // Returns, by iter of the block, 1 if it indexes a constant.
  std::vector<char> ItersOfConstants(Id block) const {
    std::vector<char> found(p_.block(block).iters.count);
    ForEachDim(p_, block, [&](Id buffer, int, Id mark) {
      if (!constants_.IsConstant(buffer)) return;
      for (const IndexSplit& split : p_.SumOf(mark).splits) found[split.source.id] = 1;
    });
    return found;
  }

  void FindPositions(Id block) {
    const std::vector<char> of_constant = ItersOfConstants(block);
    std::vector<char> in_window(of_constant.size());
    ForEachDim(p_, block, [&](Id buffer, int dim, Id mark) {
      const IndexSum sum = p_.SumOf(mark);
      const auto is_window = [&](const IndexSplit& split) {
        return IsReduction(p_, block, split.source.id) && of_constant[split.source.id] != 0;
      };
      const auto moves = [&](const IndexSplit& split) {
        return !IsReduction(p_, block, split.source.id) && of_constant[split.source.id] == 0;
      };
      if (constants_.IsConstant(buffer) || !absl::c_any_of(sum.splits, is_window) ||
          !absl::c_any_of(sum.splits, moves))
        return;
      kinds_[ClassOf(buffer, dim)] = Kind::kPosition;
      for (const IndexSplit& split : sum.splits) {
        if (is_window(split)) in_window[split.source.id] = 1;
      }
    });
    ForEachDim(p_, block, [&](Id buffer, int dim, Id mark) {
      const int iter = IterAlong(p_, block, mark);
      if (iter >= 0 && in_window[iter] != 0) kinds_[ClassOf(buffer, dim)] = Kind::kPosition;
    });
  }

  void FindChannels(Id block) {
    bool at_positions = false;
    ForEachDim(p_, block, [&](Id buffer, int dim, Id) {
      at_positions = at_positions || Of(buffer, dim) == Kind::kPosition;
    });
    if (!at_positions) return;
    ForEachDim(p_, block, [&](Id buffer, int dim, Id mark) {
      if (!constants_.IsConstant(buffer) || IterAlong(p_, block, mark) < 0) return;
      Kind& kind = kinds_[ClassOf(buffer, dim)];
      if (kind != Kind::kPosition) kind = Kind::kChannel;
    });
  }

  const Program& p_;
  const ConstantBuffers& constants_;
  std::vector<int> first_;    // by buffer: the number of its first dimension
  std::vector<int> parents_;  // by dimension: another one of its class, or itself
  std::vector<Kind> kinds_;   // by class
};

// Finds the buffers whose dimensions must keep their order when others get channels last.
class KeptOrders {
 public:
  KeptOrders(const Program& program, const ConstantBuffers& constants, const DimKinds& kinds,
             const std::vector<char>& selectable)
      : p_(program), constants_(constants), kinds_(kinds), kept_(program.buffers.size()) {
    for (size_t b = 0; b < kept_.size(); ++b)
      kept_[b] = selectable[b] != 0 && p_.buffers[b].role == Role::kTemporary ? 0 : 1;
    std::vector<Id> blocks = Blocks(p_);
    for (const Id block : blocks) {
      KeepWhatIsWalkedAcross(block);
      KeepFewChannels(block);
    }
    Spread(blocks, ReadBuffers, WrittenBuffers);
    std::reverse(blocks.begin(), blocks.end());
    Spread(blocks, WrittenBuffers, ReadBuffers);
  }

  bool IsKept(Id buffer) const { return kept_[buffer] != 0; }

 private:
  using BuffersOf = std::vector<Id> (*)(const Program&, Id block);

  // Keeps the order of a buffer's dimensions if one iter indexes both a position and another dimension of it, as k does
  // in R[k/16, k/4%4, k%4] after an image was flattened.
  void KeepWhatIsWalkedAcross(Id block) {
    std::map<std::pair<Id, int>, std::pair<bool, bool>> walks;  // by buffer and iter: positions, others
    ForEachDim(p_, block, [&](Id buffer, int dim, Id mark) {
      const bool is_position = kinds_.Of(buffer, dim) == Kind::kPosition;
      for (const IndexSplit& split : p_.SumOf(mark).splits) {
        auto& [positions, others] = walks[{buffer, split.source.id}];
        positions = positions || is_position;
        others = others || !is_position;
      }
    });
    for (const auto& [walk, dims] : walks) {
      if (dims.first && dims.second) kept_[walk.first] = 1;
    }
  }

  bool HasFewChannels(Id buffer) const {
    const auto shape = p_.Dims(p_.buffers[buffer].shape);
    int64_t channels = 1;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      channels *= kinds_.Of(buffer, d) == Kind::kChannel ? shape[d].UpperBound() : 1;
    return kinds_.Has(buffer, Kind::kPosition) && channels < kLeastChannels;
  }

  // Keeps the order of what a block writes if a result has positions and fewer channels than the shortest vector has
  // lanes (kLeastChannels): lanes then lie along positions. If the block reduces and reads a constant, as a product
  // with weights, keeps the order of what it reads, too.
  void KeepFewChannels(Id block) {
    const std::vector<Id> read = ReadBuffers(p_, block), written = WrittenBuffers(p_, block);
    if (absl::c_none_of(written, [&](Id b) { return HasFewChannels(b); })) return;
    for (const Id b : written) kept_[b] = 1;
    if (p_.block(block).monoid == kNone ||
        absl::c_none_of(read, [&](Id b) { return constants_.IsConstant(b); }))
      return;
    for (const Id b : read) kept_[b] = 1;
  }

  // Keeps the order of a buffer b if all blocks that have b in `to` are stores that permute nothing, and all buffers
  // that these have in `from`, except constants, are kept (at least one). `from` and `to` return the buffers that a
  // block reads and writes, or the reverse. In `blocks`, those with a buffer in `to` come before those with it in
  // `from`.
  void Spread(const std::vector<Id>& blocks, BuffersOf from, BuffersOf to) {
    std::vector<char> connected(kept_.size()), others(kept_.size());
    const auto keeps = [&](Id b) { return kept_[b] != 0 || (connected[b] != 0 && others[b] == 0); };
    const auto is_constant = [&](Id b) { return constants_.IsConstant(b); };
    for (const Id block : blocks) {
      std::vector<Id> ends = from(p_, block);
      std::erase_if(ends, is_constant);
      const bool in_order = p_.block(block).monoid == kNone && KeepsOrder(p_, block);
      for (const Id b : to(p_, block)) {
        if (!ends.empty()) connected[b] = 1;
        if (!in_order || !absl::c_all_of(ends, keeps)) others[b] = 1;
      }
    }
    for (size_t b = 0; b < kept_.size(); ++b) {
      if (connected[b] != 0 && others[b] == 0) kept_[b] = 1;
    }
  }

  const Program& p_;
  const ConstantBuffers& constants_;
  const DimKinds& kinds_;
  std::vector<char> kept_;
};

class Permuting {
 public:
  explicit Permuting(Program& program)
      : p_(program),
        constants_(program),
        kinds_(program, constants_),
        selectable_(HaveSelectableDims(program)),
        orders_(program.buffers.size()) {}

  int Run() {
    const KeptOrders kept(p_, constants_, kinds_, selectable_);
    int count = 0;
    for (Id b = 0; b < static_cast<Id>(orders_.size()); ++b) {
      if (kept.IsKept(b) || constants_.IsConstant(b) || !kinds_.Has(b, Kind::kPosition) ||
          !kinds_.Has(b, Kind::kChannel))
        continue;
      std::vector<int> keys;
      for (int d = 0; d < p_.buffers[b].shape.count; ++d) keys.push_back(static_cast<int>(kinds_.Of(b, d)));
      orders_[b] = OrderBy(b, keys);
      count += orders_[b].empty() ? 0 : 1;
    }
    if (count == 0) return 0;
    for (const Id block : Blocks(p_)) PermuteConstants(block);
    orders_.resize(p_.buffers.size());
    SelectDims(p_, orders_);
    return count;
  }

 private:
  // Returns the dimensions of a buffer by ascending key; empty if those of more than one element have this order
  // already.
  std::vector<int> OrderBy(Id buffer, const std::vector<int>& keys) const {
    std::vector<int> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    absl::c_sort(order, [&](int a, int b) { return std::pair(keys[a], a) < std::pair(keys[b], b); });
    std::vector<int> walked = order;
    std::erase_if(walked, [&](int d) { return p_.Dims(p_.buffers[buffer].shape)[d].UpperBound() == 1; });
    return absl::c_is_sorted(walked) ? std::vector<int>() : order;
  }

  // If a temporary that the block uses gets another order of dimensions, puts the dimensions of the constants that the
  // block loads in the matching order. Constants of the caller are copied, prepared ones change in place, and constants
  // with bytes stay as they are.
  void PermuteConstants(Id block) {
    bool changes = false;
    ForEachDim(p_, block, [&](Id buffer, int, Id) {
      changes = changes || (!constants_.IsConstant(buffer) && !orders_[buffer].empty());
    });
    if (!changes) return;
    std::map<Id, Id> copies;
    for (const Id load : Loads(p_, block)) {
      const auto [constant, index] = p_.exprs[load].AsLoad();
      if (!constants_.IsGiven(constant) || selectable_[constant] == 0) continue;
      const std::vector<int> order = OrderOfConstant(block, constant, index);
      if (order.empty()) continue;
      if (p_.buffers[constant].role == Role::kTemporary) {
        orders_[constant] = order;
      } else {
        copies[constant] = CopyOf(constant, order, ChildTowards(p_, kRoot, block));
      }
    }
    ExprCopier exprs(p_, p_, {.buffer = [&](Id b) { return copies.contains(b) ? copies.at(b) : b; }});
    const Range values = exprs.Copy(p_.block(block).values);
    p_.block(block).values = values;
    const Range initial = exprs.Copy(p_.block(block).initial);
    p_.block(block).initial = initial;
  }

  // Returns the order of a constant's dimensions that files with channels last have: first the window, then the
  // channels that are summed over, then the channels of the result. Returns an empty list if they have this order
  // already.
  std::vector<int> OrderOfConstant(Id block, Id constant, Range index) const {
    std::vector<int> keys;
    for (int d = 0; d < index.count; ++d) {
      const Kind kind = kinds_.Of(constant, d);
      const int iter = IterAlong(p_, block, p_.List(index)[d]);
      const bool is_summed = iter >= 0 && IsReduction(p_, block, iter);
      keys.push_back(2 * static_cast<int>(kind) + (kind == Kind::kChannel && !is_summed ? 1 : 0));
    }
    return OrderBy(constant, keys);
  }

  // Returns a copy of a constant of the caller. Adds the block that makes the copy before the node `before`, once for
  // each constant; SelectDims then puts its dimensions in the given order.
  Id CopyOf(Id constant, const std::vector<int>& order, Id before) {
    if (const auto known = copies_.find(constant); known != copies_.end()) return known->second;
    const auto dims = p_.Dims(p_.buffers[constant].shape);
    const std::vector<Extent> shape(dims.begin(), dims.end());
    std::vector<IndexSum> index;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) index.push_back(IndexSum::Of(Source::Iter(d)));
    const std::string name = absl::StrCat(p_.Text(p_.buffers[constant].name), ".last");
    const Id copy = constants_.Add(name, p_.buffers[constant].dtype, shape, /*is_constant=*/true);
    constants_.AddCopy("channels_last", shape, constant, index, copy, index, before);
    orders_.resize(p_.buffers.size());
    orders_[copy] = order;
    return copies_[constant] = copy;
  }

  Program& p_;
  ConstantBuffers constants_;
  const DimKinds kinds_;
  const std::vector<char> selectable_;    // by buffer (HaveSelectableDims)
  std::vector<std::vector<int>> orders_;  // by buffer: its dimensions in their new order; empty: as they are
  std::map<Id, Id> copies_;               // by constant
};

}  // namespace

int ChannelsLast(Program& model) { return Permuting(model).Run(); }

}  // namespace kiln
