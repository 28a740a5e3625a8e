#include "backends/import/foreign/dialects.h"

#include "llvm/ADT/StringSwitch.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

namespace kiln {
namespace {

using mlir::OpAsmParser;
using mlir::OperationState;
using mlir::ParseResult;

// Parses the short form of stablehlo.while: while(%a = %x, ...) : TYPES [attributes {...}] cond {...} do {...}
ParseResult ParseWhile(OpAsmParser& parser, OperationState& result) {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;
  const llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseAssignmentList(arguments, operands)) return mlir::failure();
  if (!operands.empty() && parser.parseColonTypeList(types)) return mlir::failure();
  if (parser.resolveOperands(operands, types, at, result.operands)) return mlir::failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes)) return mlir::failure();
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i].type = types[i];
  for (const char* keyword : {"cond", "do"}) {
    if (parser.parseKeyword(keyword) || parser.parseRegion(*result.addRegion(), arguments))
      return mlir::failure();
  }
  result.addTypes(types);
  return mlir::success();
}

// Parses the short form of an operation that ends a region: return %a, ... : TYPES
ParseResult ParseReturn(OpAsmParser& parser, OperationState& result) {
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;
  const llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseOperandList(operands))
    return mlir::failure();
  if (operands.empty()) return mlir::success();
  return mlir::failure(parser.parseColonTypeList(types) ||
                       parser.resolveOperands(operands, types, at, result.operands));
}

// Parses the operands of a tm_tensor operation, (%a, ... : TYPES), after the keyword `ins` or `outs`. Sets `count` to
// their number.
ParseResult ParseOperands(OpAsmParser& parser, OperationState& result, int32_t* count) {
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;
  const llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
      parser.parseRParen())
    return mlir::failure();
  *count = static_cast<int32_t>(operands.size());
  return parser.resolveOperands(operands, types, at, result.operands);
}

// Parses the short form of a tm_tensor operation: {ATTRIBUTES} NAME(VALUE) ... ins(...) outs(...) {...} -> TYPES
ParseResult ParseTensorOp(OpAsmParser& parser, OperationState& result) {
  if (parser.parseOptionalAttrDict(result.attributes)) return mlir::failure();
  int32_t counts[2] = {0, 0};
  llvm::StringRef keyword;
  while (mlir::succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (keyword == "ins" || keyword == "outs") {
      if (ParseOperands(parser, result, &counts[keyword == "ins" ? 0 : 1])) return mlir::failure();
      continue;
    }
    mlir::Attribute value;
    const std::string name = keyword.str();
    if (parser.parseLParen() || parser.parseAttribute(value, name, result.attributes) || parser.parseRParen())
      return mlir::failure();
  }
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(counts));
  mlir::Region* region = result.addRegion();
  const mlir::OptionalParseResult body = parser.parseOptionalRegion(*region);
  if (body.has_value() && mlir::failed(*body)) return mlir::failure();
  if (mlir::failed(parser.parseOptionalArrow())) return mlir::success();
  return parser.parseTypeList(result.types);
}

class ForeignDialect : public mlir::Dialect {
 protected:
  ForeignDialect(llvm::StringRef name, mlir::MLIRContext* context, mlir::TypeID id)
      : mlir::Dialect(name, context, id) {
    allowUnknownOperations();
  }
};

class Stablehlo : public ForeignDialect {
 public:
  explicit Stablehlo(mlir::MLIRContext* context)
      : ForeignDialect(getDialectNamespace(), context, mlir::TypeID::get<Stablehlo>()) {}
  static constexpr llvm::StringLiteral getDialectNamespace() { return "stablehlo"; }
  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef op) const override {
    return llvm::StringSwitch<std::optional<ParseOpHook>>(op)
        .Case("stablehlo.while", ParseOpHook(ParseWhile))
        .Case("stablehlo.return", ParseOpHook(ParseReturn))
        .Default(std::nullopt);
  }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Stablehlo)
};

class TmTensor : public ForeignDialect {
 public:
  explicit TmTensor(mlir::MLIRContext* context)
      : ForeignDialect(getDialectNamespace(), context, mlir::TypeID::get<TmTensor>()) {}
  static constexpr llvm::StringLiteral getDialectNamespace() { return "tm_tensor"; }
  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef op) const override {
    if (op == "tm_tensor.yield") return ParseOpHook(ParseReturn);
    return ParseOpHook(ParseTensorOp);
  }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TmTensor)
};

}  // namespace

void AddForeignDialects(mlir::DialectRegistry& registry) { registry.insert<Stablehlo, TmTensor>(); }

}  // namespace kiln
