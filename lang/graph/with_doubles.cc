#include "lang/graph/with_doubles.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lang/program/scalar.h"

namespace kiln {
namespace {

std::string Doubles(DType from, const std::string& bytes) {
  const int64_t size = SizeOf(from), count = static_cast<int64_t>(bytes.size()) / size;
  std::string doubles(count * sizeof(double), '\0');
  for (int64_t n = 0; n < count; ++n)
    StoreScalar(DType::kF64, LoadScalar(from, bytes.data() + n * size), &doubles[n * sizeof(double)]);
  return doubles;
}

}  // namespace

absl::StatusOr<Program> WithDoubles(const Program& program) {
  Program p = program;
  for (Expr& e : p.exprs) {
    const bool from_float = Arity(e.op) > 0 && IsFloat(program.exprs[e.operand(0)].dtype);
    if (e.op == Op::kBitcast && (IsFloat(e.dtype) || from_float))
      return absl::UnimplementedError("the program reads the bits of a float as those of another type");
    if (!IsFloat(e.dtype)) continue;
    e.dtype = DType::kF64;
    // Replaces a cast from float to float by max(value, value), which is the value itself.
    if (e.op == Op::kCast && from_float) e = Expr(Op::kMax, DType::kF64, e.operand(0), e.operand(0));
  }
  p.expr_index.Rebuild(p.exprs);
  std::vector<std::string> constants;
  if (p.constants != nullptr) constants = *p.constants;
  for (Buffer& buffer : p.buffers) {
    if (!IsFloat(buffer.dtype)) continue;
    if (buffer.data != kNone) constants[buffer.data] = Doubles(buffer.dtype, (*p.constants)[buffer.data]);
    buffer.dtype = DType::kF64;
  }
  if (p.constants != nullptr)
    p.constants = std::make_shared<const std::vector<std::string>>(std::move(constants));
  return p;
}

}  // namespace kiln
