#include "backends/import/values.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/program/product.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

namespace kiln {

bool ShapeOf(mlir::Type type, std::vector<int64_t>* shape, Why* why) {
  constexpr char kFixed[] =
      "export with fixed shapes: every size a number (of an ONNX file, python -m "
      "onnxruntime.tools.make_dynamic_shape_fixed sets them)";
  const std::string text = Print(type);
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor) {
    *why = {absl::StrCat("a value of type ", text), llvm::isa<mlir::UnrankedTensorType>(type) ? kFixed
                                                    : llvm::isa<mlir::BaseMemRefType>(type)   ? kMemrefHint
                                                                                              : kTypesHint};
  } else if (!tensor.hasStaticShape()) {
    *why = {absl::StrCat("the dynamic shape of ", text), kFixed};
  } else if (tensor.getEncoding()) {
    *why = {absl::StrCat("the encoding of ", text), "export it dense, without an encoding"};
  } else if (!ToDType(tensor.getElementType())) {
    *why = {absl::StrCat("the element type of ", text), kTypesHint};
  } else if (llvm::is_contained(tensor.getShape(), 0)) {
    *why = {absl::StrCat(text, " has no elements"),
            "leave it out when exporting, or give every size at least 1"};
  } else if (std::vector<int64_t> sizes(tensor.getShape().begin(), tensor.getShape().end());
             sizes.push_back(SizeOf(*ToDType(tensor.getElementType()))), !Product(sizes)) {
    *why = {absl::StrCat(text, " has more bytes than an int64 can count"), kSplitHint};
  } else {
    shape->assign(tensor.getShape().begin(), tensor.getShape().end());
    return true;
  }
  return false;
}

std::vector<int64_t> ShapeOf(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getShape().vec();
}

DType ElementOf(mlir::Value tensor) {
  return *ToDType(llvm::cast<mlir::RankedTensorType>(tensor.getType()).getElementType());
}

std::vector<Extent> Extents(const std::vector<int64_t>& shape) { return {shape.begin(), shape.end()}; }

std::vector<Builder::IterSpec> ItersOf(const std::vector<int64_t>& domain) {
  static constexpr absl::string_view kLetters = "ijklmnop";
  std::vector<Builder::IterSpec> iters;
  for (size_t d = 0; d < domain.size(); ++d) {
    iters.push_back(
        {domain.size() <= kLetters.size() ? std::string(1, kLetters[d]) : absl::StrCat("d", d), domain[d]});
  }
  return iters;
}

std::vector<IndexSum> IdentityOf(size_t rank) {
  std::vector<IndexSum> sums;
  for (size_t d = 0; d < rank; ++d) sums.push_back(Builder::Iter(static_cast<int>(d)));
  return sums;
}

namespace {

// Returns an index that is a sum of loops and constants, and multiples of them, as an IndexSum; nullopt for other
// values.
std::optional<IndexSum> AffineIndex(mlir::Value value, Values::IterOf iter_of) {
  using namespace mlir::arith;  // NOLINT: the operations of one dialect
  llvm::APInt constant;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
    return IndexSum::Constant(constant.getSExtValue());
  mlir::Operation* op = value.getDefiningOp();
  if (auto index = llvm::dyn_cast_or_null<mlir::linalg::IndexOp>(op)) return iter_of(index);
  const bool wide = value.getType().isIndex() || value.getType().isInteger(64);
  if (!wide || !llvm::isa_and_present<AddIOp, SubIOp, MulIOp, IndexCastOp>(op)) return std::nullopt;
  const auto left = AffineIndex(op->getOperand(0), iter_of);
  if (!left || llvm::isa<IndexCastOp>(op)) return left;
  const auto right = AffineIndex(op->getOperand(1), iter_of);
  if (!right) return std::nullopt;
  if (llvm::isa<AddIOp>(op)) return *left + *right;
  if (llvm::isa<SubIOp>(op)) return *left + *right * -1;
  if (right->IsConstant()) return *left * right->offset;
  if (left->IsConstant()) return *right * left->offset;
  return std::nullopt;
}

}  // namespace

void Values::SetSplat(mlir::Value tensor, mlir::TypedAttr constant, mlir::Value scalar) {
  Tensor splat;
  splat.kind = Tensor::Kind::kSplat;
  splat.constant = constant;
  splat.scalar = scalar;
  tensors_[tensor] = splat;
}

void Values::SetBuffer(mlir::Value tensor, Id buffer) {
  Tensor view;
  view.kind = Tensor::Kind::kView;
  view.buffer = buffer;
  view.map = IndexMap::Identity(ShapeOf(tensor));
  tensors_[tensor] = std::move(view);
}

bool Values::IsWholeBuffer(mlir::Value tensor) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end() || found->second.kind != Tensor::Kind::kView) return false;
  const IndexMap& map = found->second.map;
  const auto dims = b_.program().Dims(b_.program().buffers[found->second.buffer].shape);
  return map == IndexMap::Identity(map.domain) &&
         std::equal(dims.begin(), dims.end(), map.domain.begin(), map.domain.end(),
                    [](const Extent& extent, int64_t size) { return extent.Known() == size; });
}

Role Values::RoleOf(mlir::Value tensor) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end() || found->second.kind != Tensor::Kind::kView) return Role::kInput;
  return b_.program().buffers[found->second.buffer].role;
}

mlir::LogicalResult Values::Check(mlir::Value tensor, mlir::Operation* user) {
  if (Has(tensor)) return mlir::success();
  std::vector<int64_t> shape;
  Why why;
  if (ShapeOf(tensor.getType(), &shape, &why)) {
    why = {"it uses a value that Kiln does not compute",
           "lower the operation that the value comes from to linalg on tensors"};
  }
  return Refuse(user, why);
}

mlir::LogicalResult Values::SetView(mlir::Value tensor, mlir::Value source,
                                    const std::vector<IndexSum>& index, mlir::Operation* op) {
  if (mlir::failed(Check(source, op))) return mlir::failure();
  const IndexMap inner{ShapeOf(tensor), index};
  Tensor made = at(source);
  if (made.kind == Tensor::Kind::kView) {
    auto map = Compose(made.map, inner);
    if (!map) {
      if (mlir::failed(Materialize(source, op))) return mlir::failure();
      made = at(source);
      map = inner;
    }
    made.map = *std::move(map);
  }
  tensors_[tensor] = std::move(made);
  return mlir::success();
}

mlir::FailureOr<Id> Values::Read(mlir::Value tensor, const std::vector<IndexSum>& index,
                                 const std::vector<int64_t>& domain, Scalars& scalars, mlir::Operation* user,
                                 bool guarded) {
  if (mlir::failed(Check(tensor, user))) return mlir::failure();
  const Tensor& from = at(tensor);
  if (from.kind == Tensor::Kind::kEmpty) {
    return Refuse(user, "it reads a tensor that nothing has written", "fill the tensor first (linalg.fill)");
  }
  if (from.kind == Tensor::Kind::kSplat) {
    return from.scalar ? scalars.Translate(from.scalar) : scalars.Constant(from.constant, user);
  }
  if (IsWholeBuffer(tensor)) return b_.Load(from.buffer, index);
  bool divides = false;
  for (const IndexSum& sum : from.map.results) {
    for (const IndexSplit& split : sum.splits) divides |= split.lower != 1 || split.extent != 0;
  }
  if (!guarded || !divides) {
    if (const auto map = Compose(from.map, IndexMap{domain, index}))
      return b_.Load(from.buffer, map->results);
  }
  if (mlir::failed(Materialize(tensor, user))) return mlir::failure();
  return b_.Load(at(tensor).buffer, index);
}

mlir::FailureOr<Id> Values::Leaf(mlir::Value scalar, mlir::Operation* user) {
  const auto buffer = scalars_.find(scalar);
  if (buffer != scalars_.end()) return b_.Load(buffer->second, {});
  mlir::Operation* op = scalar.getDefiningOp();
  auto extract = llvm::dyn_cast_or_null<mlir::tensor::ExtractOp>(op);
  if (!extract) {
    return op ? Refuse(op, "Kiln imports arith and math on scalars", "express it in arith and math")
              : Refuse(user, absl::StrCat("it uses a scalar of type ", Print(scalar.getType())),
                       "pass it as a tensor");
  }
  Scalars scalars = Outside(op);
  return Extract(extract, {}, scalars, [](mlir::linalg::IndexOp) { return IndexSum(); });
}

mlir::FailureOr<Id> Values::Extract(mlir::tensor::ExtractOp op, const std::vector<int64_t>& domain,
                                    Scalars& scalars, IterOf iter_of) {
  const mlir::Value tensor = op.getTensor();
  std::vector<int64_t> shape;
  Why why;
  if (!ShapeOf(tensor.getType(), &shape, &why)) return Refuse(op, why);
  const auto extent_of = [&](Source source) { return domain[source.id]; };
  std::vector<std::optional<IndexSum>> sums;
  bool plain = true;
  for (size_t d = 0; d < shape.size(); ++d) {
    std::optional<IndexSum> sum = AffineIndex(op.getIndices()[d], iter_of);
    if (sum) sum = Simplify(*sum, extent_of);
    const Interval bounds = sum ? Bounds(*sum, extent_of) : Interval();
    plain = plain && sum && bounds.min >= 0 && bounds.max < shape[d];
    sums.push_back(std::move(sum));
  }
  if (plain) {
    std::vector<IndexSum> index;
    for (std::optional<IndexSum>& sum : sums) index.push_back(*std::move(sum));
    return Read(tensor, index, domain, scalars, op);
  }
  if (mlir::failed(Check(tensor, op))) return mlir::failure();
  if (at(tensor).kind != Tensor::Kind::kView) return Read(tensor, {}, domain, scalars, op);
  if (!IsWholeBuffer(tensor) && mlir::failed(Materialize(tensor, op))) return mlir::failure();
  std::vector<Id> index;
  for (size_t d = 0; d < shape.size(); ++d) {
    const mlir::FailureOr<Id> computed =
        sums[d] ? mlir::FailureOr<Id>(b_.Index(*sums[d])) : scalars.Translate(op.getIndices()[d]);
    if (mlir::failed(computed)) return mlir::failure();
    index.push_back(*computed);
  }
  return b_.Gather(at(tensor).buffer, index);
}

void Values::AddAssertion(const std::vector<int64_t>& domain, Id fails) {
  const std::string name = UniqueName("assert");
  const Id buffer = b_.Temporary(absl::StrCat(name, "_out"), DType::kI32, {});
  std::vector<Builder::IterSpec> iters = ItersOf(domain);
  for (Builder::IterSpec& iter : iters) iter.kind = IterKind::kReduction;
  if (iters.empty()) {
    b_.Compute(name, iters, {buffer, {}}, fails);
  } else {
    b_.Reduce(name, iters, Monoid::Kind::kOr, {buffer, {}}, fails);
  }
  assertions_.push_back(buffer);
}

void Values::SetStatus() {
  if (assertions_.empty()) return;
  if (assertions_.size() == 1) return b_.MakeStatus(assertions_[0]);
  Id any = b_.Load(assertions_[0], {});
  for (size_t i = 1; i < assertions_.size(); ++i)
    any = b_.Make(Op::kOr, DType::kI32, any, b_.Load(assertions_[i], {}));
  const std::string name = UniqueName("status");
  const Id buffer = b_.Temporary(absl::StrCat(name, "_out"), DType::kI32, {});
  b_.Compute(name, {}, {buffer, {}}, any);
  b_.MakeStatus(buffer);
}

Scalars Values::Outside(mlir::Operation* user) {
  return Scalars(b_, refusal_, [this, user](mlir::Value scalar) { return Leaf(scalar, user); });
}

mlir::LogicalResult Values::Materialize(mlir::Value tensor, mlir::Operation* user) {
  if (mlir::failed(Check(tensor, user))) return mlir::failure();
  const std::vector<int64_t> domain = ShapeOf(tensor);
  const bool view = at(tensor).kind == Tensor::Kind::kView;
  Scalars scalars = Outside(user);
  const mlir::FailureOr<Id> element =
      view ? mlir::FailureOr<Id>(b_.Load(at(tensor).buffer, at(tensor).map.results))
           : Read(tensor, IdentityOf(domain.size()), domain, scalars, user);
  if (mlir::failed(element)) return mlir::failure();
  Compute(view ? "copy" : "fill", tensor, *element);
  return mlir::success();
}

void Values::Compute(const std::string& wanted, mlir::Value tensor, Id value) {
  const std::vector<int64_t> domain = ShapeOf(tensor);
  const std::string name = UniqueName(wanted);
  const Id buffer = Temporary(name, tensor);
  b_.Compute(name, ItersOf(domain), {buffer, IdentityOf(domain.size())}, value);
  SetBuffer(tensor, buffer);
}

std::string Values::UniqueName(const std::string& wanted) {
  const int count = counts_[wanted]++;
  return b_.program().FreshName(count == 0 ? wanted : absl::StrCat(wanted, ".", count));
}

Id Values::Temporary(const std::string& block, mlir::Value tensor) {
  return b_.Temporary(absl::StrCat(block, "_out"), ElementOf(tensor), Extents(ShapeOf(tensor)));
}

}  // namespace kiln
