#include "lang/program/builder.h"

#include "absl/base/casts.h"
#include "lang/base/check.h"

namespace kiln {

Builder::Builder(absl::string_view name) { program_.name = std::string(name); }

Id Builder::Input(absl::string_view name, DType dtype, const std::vector<Extent>& shape) {
  return program_.AddBuffer(program_.FreshName(name), dtype, shape, Role::kInput);
}

Id Builder::Output(absl::string_view name, DType dtype, const std::vector<Extent>& shape) {
  return program_.AddBuffer(program_.FreshName(name), dtype, shape, Role::kOutput);
}

Id Builder::Temporary(absl::string_view name, DType dtype, const std::vector<Extent>& shape) {
  return program_.AddBuffer(program_.FreshName(name), dtype, shape, Role::kTemporary);
}

Id Builder::Constant(absl::string_view name, DType dtype, const std::vector<Extent>& shape,
                     std::string bytes) {
  const Id id = program_.AddBuffer(program_.FreshName(name), dtype, shape, Role::kConstant);
  if (bytes.empty()) return id;
  // Removes the constant from the parameters: the program holds its bytes, so the caller does not pass them.
  program_.parameters.pop_back();
  program_.buffers[id].data = static_cast<Id>(constants_.size());
  constants_.push_back(std::move(bytes));
  return id;
}

void Builder::MakeOutput(Id buffer) {
  KILN_CHECK(program_.buffers[buffer].role == Role::kTemporary);
  program_.buffers[buffer].role = Role::kOutput;
  program_.parameters.push_back(buffer);
}

void Builder::MakeStatus(Id buffer) {
  KILN_CHECK(program_.buffers[buffer].role == Role::kTemporary);
  program_.buffers[buffer].role = Role::kStatus;
}

Id Builder::Scalar(absl::string_view name, DType dtype) {
  return program_.AddBuffer(program_.FreshName(name), dtype, {}, Role::kScalar);
}

Id Builder::Float(DType dtype, double value) {
  KILN_CHECK(IsFloat(dtype));
  return program_.AddExpr(Expr::Constant(dtype, absl::bit_cast<int64_t>(value)));
}

Id Builder::Integer(DType dtype, int64_t value) {
  KILN_CHECK(!IsFloat(dtype));
  return program_.AddExpr(Expr::Constant(dtype, value));
}

Id Builder::Index(const IndexSum& value) {
  return program_.AddExpr(Expr::Index(program_.AddMark(value, INT64_MAX)));
}

Id Builder::Load(Id buffer, const std::vector<IndexSum>& index) {
  const auto shape = program_.Dims(program_.buffers[buffer].shape);
  KILN_CHECK(shape.size() == index.size(), "rank of ", program_.Text(program_.buffers[buffer].name));
  std::vector<int32_t> marks;
  for (size_t d = 0; d < index.size(); ++d) marks.push_back(program_.AddMark(index[d], shape[d]));
  const Range range = program_.AddList(marks);
  return program_.AddExpr(Expr::Load(program_.buffers[buffer].dtype, buffer, range));
}

Id Builder::Gather(Id buffer, const std::vector<Id>& index) {
  KILN_CHECK(static_cast<int32_t>(index.size()) == program_.buffers[buffer].shape.count && !index.empty(),
             "rank of ", program_.Text(program_.buffers[buffer].name));
  Id all = index[0];
  for (size_t d = 1; d < index.size(); ++d) all = Make(Op::kTuple, DType::kIndex, all, index[d]);
  return program_.AddExpr(Expr::Gather(program_.buffers[buffer].dtype, buffer, all));
}

Id Builder::Make(Op op, DType dtype, Id a, Id b, Id c) {
  KILN_CHECK(Arity(op) == (a != kNone) + (b != kNone) + (c != kNone), ToString(op));
  return program_.AddExpr({op, dtype, a, b, c});
}

Id Builder::Within(const std::vector<Bound>& bounds, Id inside, Id outside) {
  std::vector<int32_t> marks;
  for (const Bound& bound : bounds) marks.push_back(program_.AddMark(bound.value, bound.extent));
  const Range range = program_.AddList(marks);
  return program_.AddExpr(Expr::Within(program_.exprs[inside].dtype, range, inside, outside));
}

Id Builder::Compute(absl::string_view name, const std::vector<IterSpec>& iters, const Place& dest, Id value) {
  return AddBlock(name, iters, kNone, {dest}, {value}, {});
}

Id Builder::Reduce(absl::string_view name, const std::vector<IterSpec>& iters, Monoid::Kind monoid,
                   const Place& dest, Id lift, Id initial) {
  const std::vector<Id> start = initial == kNone ? std::vector<Id>{} : std::vector<Id>{initial};
  return Reduce(name, iters, program_.AddMonoid(monoid, program_.buffers[dest.buffer].dtype), {dest}, {lift},
                start);
}

Id Builder::Reduce(absl::string_view name, const std::vector<IterSpec>& iters, Id monoid,
                   const std::vector<Place>& dests, const std::vector<Id>& lifts,
                   const std::vector<Id>& initial) {
  return AddBlock(name, iters, monoid, dests, lifts, initial);
}

Id Builder::AddBlock(absl::string_view name, const std::vector<IterSpec>& iters, Id monoid,
                     const std::vector<Place>& dests, const std::vector<Id>& values,
                     const std::vector<Id>& initial) {
  Program& p = program_;
  Id parent = kRoot;
  std::vector<kiln::Iter> list;
  for (const IterSpec& spec : iters) {
    const Id loop = p.AddLoop(spec.name, spec.extent);
    p.Append(parent, loop);
    parent = loop;
    list.push_back({p.AddName(spec.name), spec.extent, spec.kind,
                    p.AddMark(IndexSum::Of(Source::Loop(loop)), spec.extent)});
  }
  BlockNode block;
  block.name = p.AddName(p.FreshName(name));
  block.iters = {static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(list.size())};
  p.iters.insert(p.iters.end(), list.begin(), list.end());
  block.monoid = monoid;
  block.dests = {static_cast<int32_t>(p.accesses.size()), static_cast<int32_t>(dests.size())};
  for (size_t r = 0; r < dests.size(); ++r) {
    const Buffer& buffer = p.buffers[dests[r].buffer];
    KILN_CHECK(p.exprs[values[r]].dtype == buffer.dtype, "block ", name, ": dtype of value and destination");
    const auto shape = p.Dims(buffer.shape);
    KILN_CHECK(shape.size() == dests[r].index.size(), "block ", name, ": rank of the destination");
    std::vector<int32_t> marks;
    for (size_t d = 0; d < shape.size(); ++d) marks.push_back(p.AddMark(dests[r].index[d], shape[d]));
    p.accesses.push_back({dests[r].buffer, p.AddList(marks)});
  }
  block.values = p.AddList(values);
  block.initial = p.AddList(initial);
  const Id node = p.AddBlock(block);
  p.block(node).provenance.origin = node;
  p.Append(parent, node);
  return node;
}

Program Builder::Finish() {
  if (!constants_.empty())
    program_.constants = std::make_shared<const std::vector<std::string>>(std::move(constants_));
  const absl::Status status = Verify(program_);
  KILN_CHECK(status.ok(), status.ToString());
  return std::move(program_);
}

}  // namespace kiln
