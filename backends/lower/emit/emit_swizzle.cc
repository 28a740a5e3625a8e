// Emits swizzled addresses, which permute bits: at ^ ((at >> from) % 2^bits << to).
#include <algorithm>

#include "backends/lower/emit/emit.h"
#include "lang/program/layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {
namespace {

constexpr int64_t kSwizzleKey = 100;  // differs from the keys of emit_index.cc

}  // namespace

IndexValue Emitter::Swizzle(Id buffer, const IndexValue& at) {
  const kiln::Swizzle s = p_.buffers[buffer].layout.swizzle;
  if (s.bits == 0) return at;
  if (at.terms.empty() && at.vectors.empty()) {
    IndexValue result = IndexValue::Constant(Swizzled(s, at.constant));
    for (const int64_t lane : at.lanes)
      result.lanes.push_back(Swizzled(s, at.constant + lane) - result.constant);
    return result;
  }
  const Interval range{0, plan_.buffers[buffer].elements - 1};
  const int64_t mask = (int64_t{1} << s.bits) - 1;
  const auto mix = [&](Value v, llvm::function_ref<Value(int64_t)> constant) -> Value {
    const Value high = mlir::arith::ShRUIOp::create(b_, loc_, v, constant(s.from));
    const Value bits = mlir::arith::AndIOp::create(b_, loc_, high, constant(mask));
    return mlir::arith::XOrIOp::create(b_, loc_, v,
                                       mlir::arith::ShLIOp::create(b_, loc_, bits, constant(s.to)));
  };
  if (!at.uniform()) {
    const Value vector = mix(Vector(at), [&](int64_t n) {
      return ConstantLanes(std::vector<int64_t>(lanes_, n), b_.getIndexType());
    });
    IndexValue result;
    result.vectors.push_back({vector, 1, range});
    return result;
  }
  int level = 0;
  for (const auto& [atom, coefficient] : at.terms) level = std::max(level, atoms_[atom].level);
  std::vector<int64_t> key{kSwizzleKey, s.from, s.to, s.bits};
  at.AppendKey(key);
  const Value base = Scalar(at);
  for (const int64_t n : {int64_t{s.from}, int64_t{s.to}, mask}) ConstantIndex(n);
  const Value mixed =
      Hoist(level, std::move(key), [&] { return mix(base, [&](int64_t n) { return ConstantIndex(n); }); });
  for (size_t i = 0; i < atoms_.size(); ++i) {
    if (atoms_[i].value == mixed) return IndexValue::OfAtom(static_cast<int>(i));
  }
  return IndexValue::OfAtom(AddAtom(mixed, level, range));
}

}  // namespace kiln
