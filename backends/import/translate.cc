#include "backends/import/translate.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/import/constants.h"
#include "backends/import/decompose.h"
#include "backends/import/generic.h"
#include "backends/import/outline_foreign.h"
#include "backends/import/tensor_ops.h"
#include "backends/import/values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace kiln {
namespace {

std::string HintFor(mlir::Operation* op) {
  const llvm::StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "scf" || dialect == "cf")
    return "unroll the loop or branch when exporting, or tune its body as a function of its own";
  if (dialect == "func") return "have the called function in the file, without recursion";
  return "lower it to linalg on tensors when exporting, or express it as a linalg.generic";
}

constexpr int kMaxRounds = 4;

// Translates one normalized function to a Program. Arguments and results without elements do not become parameters.
class Translator {
 public:
  Translator(mlir::func::FuncOp function, absl::string_view name, const ImportOptions& options)
      : function_(function), options_(options), b_(name), values_(b_, refusal_) {
    if (options.large_constants >= 0) values_.least_detached = LeastDetached(function);
  }

  absl::StatusOr<Imported> Run() {
    if (mlir::failed(Arguments())) return Refused();
    for (mlir::Operation& op : function_.getBody().front().without_terminator()) {
      if (mlir::failed(TranslateOp(&op))) return Refused();
    }
    if (mlir::failed(Results())) return Refused();
    if (b_.program().blocks.empty()) {
      return absl::OutOfRangeError(absl::StrCat(Where(function_.getLoc()), ": nothing to do: the function \"",
                                                function_.getName().str(), "\" has no elements to compute"));
    }
    Imported imported{b_.Finish(), {}, std::move(boundaries_), std::move(between_), {}};
    for (const auto& [name, constant] : values_.detached) {
      const int64_t offset = lseek(options_.large_constants, 0, SEEK_END);
      const int64_t bytes = AppendLargeConstant(constant, options_.large_constants);
      if (offset < 0 || bytes < 0) return absl::UnavailableError("there is no memory for the constants");
      imported.large_constants.push_back({name, offset, bytes});
    }
    return imported;
  }

  // Returns the operations of the function that cannot be translated, and why. Those results of each that a buffer can
  // hold become inputs, so that the operations after it are tried too. Returns nothing if an argument cannot be
  // translated. The translator's program is unusable afterwards.
  std::vector<RefusedOp> RefusedOps() {
    std::vector<RefusedOp> refused;
    if (mlir::failed(Arguments())) return refused;
    for (mlir::Operation& op : function_.getBody().front().without_terminator()) {
      if (mlir::succeeded(TranslateOp(&op))) continue;
      refused.push_back({&op, refusal_});
      for (const mlir::Value result : op.getResults()) {
        std::vector<int64_t> shape;
        Why why;
        if (const auto dtype = ToDType(result.getType())) {
          values_.SetScalar(result, b_.Input(values_.UniqueName("scalar"), *dtype, {}));
        } else if (ShapeOf(result.getType(), &shape, &why)) {
          values_.SetBuffer(result,
                            b_.Input(values_.UniqueName("result"), ElementOf(result), Extents(shape)));
        }
      }
    }
    return refused;
  }

 private:
  absl::Status Refused() const { return absl::InvalidArgumentError(ToString(refusal_)); }

  bool IsConstantArgument(int position) {
    const auto& list = options_.constant_arguments;
    return function_.getArgAttr(position, "kiln.constant") ||
           std::find(list.begin(), list.end(), position) != list.end();
  }

  mlir::LogicalResult Arguments() {
    if (!function_.getBody().hasOneBlock())
      return values_.Refuse(function_, "it has branches", "export straight-line code");
    for (mlir::BlockArgument arg : function_.getArguments()) {
      const int position = static_cast<int>(arg.getArgNumber());
      const std::string name = absl::StrCat("arg", position);
      if (const auto dtype = ToDType(arg.getType())) {
        values_.SetScalar(arg, b_.Scalar(name, *dtype));
        continue;
      }
      if (HasNoElements(arg)) continue;
      std::vector<int64_t> shape;
      Why why;
      if (!ShapeOf(arg.getType(), &shape, &why)) {
        const auto refused =
            values_.Refuse(function_, absl::StrCat("argument ", position, ": ", why.reason), why.hint);
        refusal_.location = Where(arg.getLoc());
        return refused;
      }
      const DType dtype = ElementOf(arg);
      values_.SetBuffer(arg, IsConstantArgument(position) ? b_.Constant(name, dtype, Extents(shape))
                             : shape.empty()              ? b_.Scalar(name, dtype)
                                                          : b_.Input(name, dtype, Extents(shape)));
    }
    return mlir::success();
  }

  mlir::LogicalResult TranslateOp(mlir::Operation* op) {
    if (auto generic = llvm::dyn_cast<mlir::linalg::GenericOp>(op)) return TranslateGeneric(generic, values_);
    if (op->getName().getStringRef() == kForeignOp) return TranslateForeign(op);
    if (llvm::isa<mlir::tensor::EmptyOp>(op) && HasNoElements(op->getResult(0))) return mlir::success();
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op))
      return TranslateConstant(constant, values_);
    if (llvm::isa_and_present<mlir::tensor::TensorDialect>(op->getDialect()))
      return TranslateTensorOp(op, values_);
    if (auto assertion = llvm::dyn_cast<mlir::cf::AssertOp>(op)) return TranslateAssertion(assertion);
    const bool scalar =
        llvm::isa_and_present<mlir::arith::ArithDialect, mlir::math::MathDialect>(op->getDialect()) &&
        llvm::all_of(op->getResultTypes(), [](mlir::Type type) { return ToDType(type).has_value(); });
    if (scalar) return mlir::success();  // translated where it is used
    return values_.Refuse(op, "Kiln imports linalg on tensors", HintFor(op));
  }

  mlir::LogicalResult TranslateAssertion(mlir::cf::AssertOp op) {
    const auto holds = values_.Outside(op).Translate(op.getArg());
    if (mlir::failed(holds)) return mlir::failure();
    const Id none = b_.Integer(DType::kI32, 0), one = b_.Integer(DType::kI32, 1);
    values_.AddAssertion({}, b_.Make(Op::kSelect, DType::kI32, *holds, none, one));
    return mlir::success();
  }

  mlir::LogicalResult TranslateForeign(mlir::Operation* op) {
    const auto text = [&](const char* name) { return op->getAttrOfType<mlir::StringAttr>(name).str(); };
    Boundary boundary{.location = Where(op->getLoc()),
                      .op = text(kForeignOperation),
                      .reason = text(kForeignReason),
                      .hint = text(kForeignHint),
                      .code = text(kForeignCode),
                      .results = {},
                      .operands = {}};
    for (const mlir::Value operand : op->getOperands()) {
      if (!IsMemory(operand, boundary.operands) && mlir::failed(values_.Materialize(operand, op)))
        return mlir::failure();
      const Id buffer = values_.at(operand).buffer;
      boundary.operands.push_back(NameOf(buffer));
      left_.push_back(buffer);
    }
    for (const mlir::Value result : op->getResults()) {
      const std::string name = values_.UniqueName(boundary.op.substr(boundary.op.find('.') + 1) + "_result");
      values_.SetBuffer(result, b_.Input(name, ElementOf(result), Extents(ShapeOf(result))));
      boundary.results.push_back(name);
      between_.push_back(name);
    }
    boundaries_.push_back(std::move(boundary));
    return mlir::success();
  }

  // True if the value is exactly the elements of a buffer that is not a constant with bytes, and `taken` does not name
  // the buffer. So a foreign call can read it without a copy.
  bool IsMemory(mlir::Value value, const std::vector<std::string>& taken) const {
    if (!values_.IsWholeBuffer(value)) return false;
    const Id buffer = values_.at(value).buffer;
    return b_.program().buffers[buffer].data == kNone &&
           std::find(taken.begin(), taken.end(), NameOf(buffer)) == taken.end();
  }

  std::string NameOf(Id buffer) const {
    return std::string(b_.program().Text(b_.program().buffers[buffer].name));
  }

  // Makes the buffer of `value` the next output of the program. Copies the value to a new buffer first unless it is all
  // elements of a temporary, in order. So it copies other views, arguments, constants, fills, and outputs.
  mlir::LogicalResult Output(mlir::Value value, mlir::Operation* user) {
    const bool own = values_.IsWholeBuffer(value) && values_.RoleOf(value) == Role::kTemporary;
    if (!own && mlir::failed(values_.Materialize(value, user))) return mlir::failure();
    b_.MakeOutput(values_.at(value).buffer);
    return mlir::success();
  }

  mlir::LogicalResult Results() {
    mlir::Operation* end = function_.getBody().front().getTerminator();
    if (end->getNumOperands() == 0)
      return values_.Refuse(function_, "it returns nothing", "return the results as tensors");
    for (const mlir::Value value : end->getOperands()) {
      if (HasNoElements(value)) continue;
      if (mlir::failed(Output(value, end))) return mlir::failure();
    }
    for (const Id buffer : left_) {
      if (b_.program().buffers[buffer].role != Role::kTemporary) continue;
      b_.MakeOutput(buffer);
      between_.push_back(NameOf(buffer));
    }
    values_.SetStatus();
    return mlir::success();
  }

  mlir::func::FuncOp function_;
  const ImportOptions& options_;
  Builder b_;
  Refusal refusal_;
  Values values_;
  std::vector<Boundary> boundaries_;
  std::vector<Id> left_;              // buffers that boundaries read
  std::vector<std::string> between_;  // Imported::between
};

}  // namespace

absl::StatusOr<Imported> Translate(mlir::func::FuncOp function, absl::string_view name,
                                   const ImportOptions& options) {
  const int64_t least_detached =
      options.large_constants >= 0 ? LeastDetached(function) : std::numeric_limits<int64_t>::max();
  // Cuts out the operations that cannot be translated, for models. Repeats this up to kMaxRounds times, since a cut may
  // leave new operations that cannot be translated, such as a tensor of a computed scalar.
  for (int round = 0; options.allow_boundaries && round < kMaxRounds; ++round) {
    const std::vector<RefusedOp> refused = Translator(function, name, options).RefusedOps();
    if (refused.empty()) break;
    OutlineForeign(function, refused, least_detached);
  }
  return Translator(function, name, options).Run();
}

}  // namespace kiln
