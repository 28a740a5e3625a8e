#include "backends/import/refusal.h"

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr llvm::StringLiteral kTag = "kiln.op:";

}  // namespace

mlir::LogicalResult Refuse(Refusal& refusal, mlir::Operation* op, std::string reason, std::string hint) {
  refusal = {Where(op->getLoc()), op->getName().getStringRef().str(), std::move(reason), std::move(hint)};
  return mlir::failure();
}

std::string Where(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location inner) {
    const auto file = llvm::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!file) return mlir::WalkResult::advance();
    found = file;
    return mlir::WalkResult::interrupt();
  });
  if (!found) return "unknown location";
  return absl::StrCat(found.getFilename().str(), ":", found.getLine(), ":", found.getColumn());
}

std::string ToString(const Refusal& refusal) {
  return absl::StrCat(refusal.location, ": ", refusal.op, " is not supported (", refusal.reason,
                      ")\n  hint: ", refusal.hint);
}

std::string OriginalName(mlir::Operation* op) {
  std::string name;
  op->getLoc()->walk([&](mlir::Location inner) {
    const auto named = llvm::dyn_cast<mlir::NameLoc>(inner);
    if (!named || !named.getName().getValue().starts_with(kTag)) return mlir::WalkResult::advance();
    name = named.getName().getValue().drop_front(kTag.size()).str();
    return mlir::WalkResult::interrupt();
  });
  return name;
}

void SetOriginalName(mlir::Operation* op, llvm::StringRef name) {
  const auto tag = mlir::StringAttr::get(op->getContext(), kTag + name);
  op->setLoc(mlir::NameLoc::get(tag, op->getLoc()));
}

}  // namespace kiln
