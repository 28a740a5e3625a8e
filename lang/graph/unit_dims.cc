#include "lang/graph/unit_dims.h"

#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/compact.h"
#include "lang/program/expr_copier.h"

namespace kiln {
namespace {

class UnitDims {
 public:
  UnitDims(Program& program, bool of_parameters) : p_(program), kept_(program.buffers.size()) {
    std::set<Id> gathered;
    for (const Id block : Blocks(p_)) {
      for (const Id gather : Gathers(p_, block)) gathered.insert(BufferRead(p_.exprs[gather]));
    }
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
      if (p_.buffers[b].layout.axes.count != 0 || gathered.contains(b)) continue;
      if (of_parameters || p_.buffers[b].role == Role::kTemporary) Shrink(b);
    }
  }

  void Drop() {
    if (absl::c_all_of(kept_, [](const std::vector<int>& kept) { return kept.empty(); })) return;
    for (const Id block : Blocks(p_)) Rewrite(block);
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
      if (kept_[b].empty()) continue;
      std::vector<Extent> shape;
      for (const int d : kept_[b]) shape.push_back(p_.Dims(p_.buffers[b].shape)[d]);
      p_.buffers[b].shape = p_.AddDims(shape);
    }
    DropUnusedExprs(p_);  // some read at dimensions that are gone
  }

 private:
  void Shrink(Id b) {
    const auto dims = p_.Dims(p_.buffers[b].shape);
    std::vector<int> kept;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].UpperBound() != 1) kept.push_back(static_cast<int>(d));
    }
    if (kept.empty() && !dims.empty()) kept = {0};
    if (kept.size() < dims.size()) kept_[b] = kept;
  }

  Range IndexOf(Id buffer, Range index) {
    if (kept_[buffer].empty()) return index;
    std::vector<int32_t> marks;
    for (const int d : kept_[buffer]) marks.push_back(p_.lists[index.begin + d]);
    return p_.AddList(marks);
  }

  void Rewrite(Id block) {
    ExprCopier exprs(p_, p_, {.index = [&](Id buffer, Range index) { return IndexOf(buffer, index); }});
    const Range values = exprs.Copy(p_.block(block).values);
    p_.block(block).values = values;
    const Range initial = exprs.Copy(p_.block(block).initial);
    p_.block(block).initial = initial;
    const Range dests = p_.block(block).dests;
    for (int32_t at = dests.begin; at < dests.begin + dests.count; ++at) {
      const Range index = IndexOf(p_.accesses[at].buffer, p_.accesses[at].index);
      p_.accesses[at].index = index;
    }
  }

  Program& p_;
  std::vector<std::vector<int>> kept_;  // by buffer: the dimensions that stay; empty: all
};

}  // namespace

void DropUnitDims(Program& program, bool of_parameters) { UnitDims(program, of_parameters).Drop(); }

}  // namespace kiln
