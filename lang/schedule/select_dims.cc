#include "lang/schedule/select_dims.h"

#include "absl/algorithm/container.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/compact.h"
#include "lang/program/expr_copier.h"

namespace kiln {
namespace {

class Selecting {
 public:
  Selecting(Program& program, const std::vector<std::vector<int>>& dims) : p_(program), dims_(dims) {}

  void Run() {
    for (const Id block : Blocks(p_)) Rewrite(block);
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
      if (dims_[b].empty()) continue;
      std::vector<Extent> shape;
      for (const int d : dims_[b]) shape.push_back(p_.Dims(p_.buffers[b].shape)[d]);
      p_.buffers[b].shape = p_.AddDims(shape);
    }
    DropUnusedExprs(p_);  // loads with the old dimensions, which nothing uses any more
  }

 private:
  Range IndexOf(Id buffer, Range index) {
    if (dims_[buffer].empty()) return index;
    std::vector<int32_t> marks;
    for (const int d : dims_[buffer]) marks.push_back(p_.lists[index.begin + d]);
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
  const std::vector<std::vector<int>>& dims_;
};

// Returns the dimensions of the buffer with more than one element, or the first dimension if all have one. Returns an
// empty list if this leaves out no dimension.
std::vector<int> DimsWithoutUnits(const Program& p, Id buffer) {
  const auto dims = p.Dims(p.buffers[buffer].shape);
  std::vector<int> kept;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].UpperBound() != 1) kept.push_back(static_cast<int>(d));
  }
  if (kept.empty() && !dims.empty()) kept = {0};
  return kept.size() < dims.size() ? kept : std::vector<int>();
}

}  // namespace

std::vector<char> HaveSelectableDims(const Program& p) {
  std::vector<char> selectable;
  for (const Buffer& buffer : p.buffers) selectable.push_back(buffer.layout.axes.count == 0 ? 1 : 0);
  for (const Id block : Blocks(p)) {
    for (const Id gather : Gathers(p, block)) selectable[BufferRead(p.exprs[gather])] = 0;
  }
  return selectable;
}

void SelectDims(Program& program, const std::vector<std::vector<int>>& dims) {
  if (absl::c_all_of(dims, [](const std::vector<int>& of_buffer) { return of_buffer.empty(); })) return;
  Selecting(program, dims).Run();
}

void DropUnitDims(Program& program, bool of_parameters) {
  const std::vector<char> selectable = HaveSelectableDims(program);
  std::vector<std::vector<int>> dims(program.buffers.size());
  for (Id b = 0; b < static_cast<Id>(dims.size()); ++b) {
    if (selectable[b] != 0 && (of_parameters || program.buffers[b].role == Role::kTemporary))
      dims[b] = DimsWithoutUnits(program, b);
  }
  SelectDims(program, dims);
}

}  // namespace kiln
