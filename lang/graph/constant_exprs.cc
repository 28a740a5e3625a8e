#include "lang/graph/constant_exprs.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/outline.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

void FindIters(const Program& p, Id expr, std::set<int>& iters) {
  const Expr& e = p.exprs[expr];
  if (e.op == Op::kLoad) {
    for (const Id mark : p.List(e.AsLoad().index)) {
      for (const IndexSplit& split : p.SumOf(mark).splits) iters.insert(split.source.id);
    }
  }
  for (const Id operand : e.Operands()) FindIters(p, operand, iters);
}

// Moves the nests that read only constants and results of such nests, and write only temporaries, before all others.
// Their order stays.
void MoveConstantsFirst(Program& p) {
  std::vector<char> varies(
      p.buffers.size());  // by buffer: 1 if something computes it from more than constants
  for (size_t b = 0; b < p.buffers.size(); ++b) varies[b] = p.buffers[b].role == Role::kConstant ? 0 : 1;
  for (const Id block : Blocks(p)) {
    for (const Id b : WrittenBuffers(p, block)) varies[b] = p.buffers[b].role == Role::kTemporary ? 0 : 1;
  }
  std::vector<Id> nests;
  for (Id nest = p.nodes[kRoot].first; nest != kNone; nest = p.nodes[nest].next) nests.push_back(nest);
  Id first = kNone;  // the first nest that varies
  for (const Id nest : nests) {
    bool constant = true;
    for (const Id block : BlocksOf(p, nest)) {
      for (const Id b : ReadBuffers(p, block)) constant = constant && varies[b] == 0;
      for (const Id b : WrittenBuffers(p, block)) constant = constant && varies[b] == 0;
    }
    for (const Id block : BlocksOf(p, nest)) {
      if (constant) continue;
      for (const Id b : WrittenBuffers(p, block)) varies[b] = 1;
    }
    if (!constant && first == kNone) first = nest;
    if (!constant || first == kNone) continue;
    p.Detach(nest);
    p.InsertBefore(first, nest);
  }
}

}  // namespace

std::vector<int> ItersOf(const Program& program, Id expr) {
  std::set<int> iters;
  FindIters(program, expr, iters);
  return {iters.begin(), iters.end()};
}

ConstantBuffers::ConstantBuffers(Program& program) : p_(program), prepared_(PreparedBuffers(program)) {
  MoveConstantsFirst(p_);
}

bool ConstantBuffers::IsConstant(Id buffer) const {
  return p_.buffers[buffer].role == Role::kConstant || prepared_[buffer] != 0;
}

bool ConstantBuffers::IsGiven(Id buffer) const {
  return IsConstant(buffer) && p_.buffers[buffer].data == kNone;
}

bool ConstantBuffers::ReadsOnlyConstants(Id expr) const {
  const Expr& e = p_.exprs[expr];
  if (e.op == Op::kLoad) return IsConstant(e.AsLoad().buffer);
  if (e.op == Op::kConstant) return true;
  return e.op > Op::kWithin && absl::c_all_of(e.Operands(), [&](Id o) { return ReadsOnlyConstants(o); });
}

int64_t ConstantBuffers::LargestGiven(Id expr) const {
  const Expr& e = p_.exprs[expr];
  if (e.op == Op::kLoad) return IsGiven(e.AsLoad().buffer) ? ElementsOf(p_, e.AsLoad().buffer) : 0;
  int64_t most = 0;
  for (const Id operand : e.Operands()) most = std::max(most, LargestGiven(operand));
  return most;
}

Id ConstantBuffers::Add(const std::string& buffer, DType dtype, const std::vector<Extent>& shape,
                        bool is_constant) {
  prepared_.push_back(is_constant ? 1 : 0);
  return p_.AddBuffer(p_.FreshName(buffer), dtype, shape, Role::kTemporary);
}

void ConstantBuffers::AddReduction(absl::string_view name, const std::vector<Iter>& iters, Id dest,
                                   const std::vector<IndexSum>& index, Id value, Id before, Id monoid) {
  const auto shape = p_.Dims(p_.buffers[dest].shape);
  std::vector<int32_t> marks;
  for (size_t d = 0; d < index.size(); ++d) marks.push_back(p_.AddMark(index[d], shape[d]));
  BlockNode block;
  block.name = p_.AddName(p_.FreshName(name));
  block.monoid = monoid;
  block.iters = {static_cast<int32_t>(p_.iters.size()), static_cast<int32_t>(iters.size())};
  p_.iters.insert(p_.iters.end(), iters.begin(), iters.end());
  block.values = p_.AddList({value});
  const Range list = p_.AddList(marks);
  block.dests = {static_cast<int32_t>(p_.accesses.size()), 1};
  p_.accesses.push_back({dest, list});
  const Id node = p_.AddBlock(block);
  p_.block(node).provenance = {Provenance::Kind::kCompute, node, {}};
  p_.InsertBefore(before, NestOver(p_, node, WholeRanges(p_, node), false));
}

void ConstantBuffers::AddStore(absl::string_view name, const std::vector<Iter>& iters, Id dest,
                               const std::vector<IndexSum>& index, Id value, Id before) {
  std::vector<Iter> spatial = iters;
  for (Iter& iter : spatial) iter.kind = IterKind::kSpatial;
  AddReduction(name, spatial, dest, index, value, before, /*monoid=*/kNone);
}

void ConstantBuffers::AddCopy(absl::string_view name, const std::vector<Extent>& shape, Id from,
                              const std::vector<IndexSum>& read, Id to, const std::vector<IndexSum>& written,
                              Id before) {
  const auto dims = p_.Dims(p_.buffers[from].shape);
  std::vector<int32_t> marks;
  for (size_t d = 0; d < read.size(); ++d) marks.push_back(p_.AddMark(read[d], dims[d]));
  std::vector<Iter> iters;
  for (size_t d = 0; d < shape.size(); ++d)
    iters.push_back({p_.Intern(absl::StrCat("d", d)), shape[d], IterKind::kSpatial, kNone});
  const Range index = p_.AddList(marks);
  const Id value = p_.AddExpr(Expr::Load(p_.buffers[from].dtype, from, index));
  AddStore(name, iters, to, written, value, before);
}

Id ConstantBuffers::Scaled(Id weights, const BodyRewriter::IterRule& dim, Id scale, Id before) {
  std::vector<Iter> iters;
  std::vector<int64_t> extents;
  std::vector<int32_t> index;
  const auto dims = p_.Dims(p_.buffers[weights].shape);
  const std::vector<Extent> shape(dims.begin(), dims.end());
  for (size_t d = 0; d < shape.size(); ++d) {
    iters.push_back({p_.Intern(absl::StrCat("d", d)), shape[d], IterKind::kSpatial, kNone});
    extents.push_back(shape[d].Known());
    index.push_back(p_.AddMark(IndexSum::Of(Source::Iter(static_cast<int32_t>(d))), shape[d]));
  }
  const Id by = BodyRewriter(p_, nullptr, dim, extents).Expression(scale);
  const Range list = p_.AddList(index);
  const Id load = p_.AddExpr(Expr::Load(p_.buffers[weights].dtype, weights, list));
  const Id product = p_.AddExpr({Op::kMul, p_.buffers[weights].dtype, load, by});
  return Compute(absl::StrCat(p_.Text(p_.buffers[weights].name), ".scaled"), "scale", iters, product, before);
}

Id ConstantBuffers::Compute(const std::string& buffer, absl::string_view block,
                            const std::vector<Iter>& iters, Id value, Id before) {
  std::vector<Extent> shape;
  std::vector<IndexSum> index;
  for (size_t i = 0; i < iters.size(); ++i) {
    shape.push_back(iters[i].extent);
    index.push_back(IndexSum::Of(Source::Iter(static_cast<int32_t>(i))));
  }
  const Id result = Add(buffer, p_.exprs[value].dtype, shape, /*is_constant=*/true);
  AddStore(block, iters, result, index, value, before);
  return result;
}

}  // namespace kiln
