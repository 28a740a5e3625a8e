// Tests the table in docs/operations.md: each operation on each element type is interpreted, compiled and exported, and
// results are compared with values computed in C++. Each operation must be right in all three ways, or import must
// refuse it with a hint.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/export/export.h"
#include "lang/program/scalar.h"
#include "tests/backends/field_check.h"
#include "tests/backends/workers.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

constexpr int kCount = 64, kRows = 8;  // elements of each input, and rows of a reduction
constexpr char kHeader[] =
    "# Operations\n\n"
    "What each scalar operation and each reduction gives on each type of element, by\n"
    "tests/backends/operations_table_test.cc, which writes this page (`--update-goldens`).\n\n"
    "- **right**: interpreted, compiled and exported, it gives the values that the test computes by itself.\n"
    "- **refused**: import refuses it; the reason and the cure stand below.\n"
    "- **none**: MLIR has no such operation on this type, and its parser says so.\n\n"
    "Signed and unsigned types (`si8`, `ui32`) are taken as signless ones of the same bits; headers of "
    "exports say signed or\n"
    "unsigned where the operations do (docs/reference/cli.md). Arguments and results without elements are no "
    "parameters of the\n"
    "exported function.\n\n"
    "Functions of f64, and those that backends/cpu/passes/vector_math.h does not list, are libm's: at most 3 units "
    "of the last\n"
    "place for sinh, cosh, asin, acos, asinh, acosh, atanh, erfc and expm1 "
    "(tests/backends/math_table_test.cc). f16 and bf16\n"
    "are computed in f32 and rounded once. 0 to a negative power (`math.ipowi`), which MLIR leaves "
    "undefined, is 0.\n";
constexpr DType kTypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64,
                            DType::kI32, DType::kI16, DType::kI8,  DType::kI1};

using Real = long double;
using Wide = __int128;

// An integer of `width` bits: its value with sign (s) and without (u).
struct Number {
  int width;
  Wide s, u;
};

struct Row {
  std::string op;  // with its predicate, if it has one: "arith.cmpi slt,"
  int operands;    // 1 or 2; 3: two, and the second is a shift amount; 4: one, which is positive
  std::function<Real(Real, Real)> real = {};  // null: the operation does not exist for floats
  std::function<Wide(Number, Number)> integer = {};
  std::string to = "";  // the type of the result, if it differs from that of the operands
  // What the functions `real` and `integer` compute: an element (kScalar), the next accumulator of a reduction from the
  // accumulator and a value (kFold) or its square (kFoldOfSquares), or whether an argmax takes the new value and its
  // index (kChoice: nonzero).
  enum class Kind { kScalar, kFold, kFoldOfSquares, kChoice } kind = Kind::kScalar;
  double start = 0;
};

Wide Bits(const Number& n, auto test) {
  Wide count = 0;
  for (int i = 0; i < n.width; ++i) count += test(i) ? 1 : 0;
  return count;
}
bool Bit(const Number& n, int i) { return (n.u >> i & 1) != 0; }
int First(const Number& n, bool from_top) {
  int i = 0;
  while (i < n.width && !Bit(n, from_top ? n.width - 1 - i : i)) ++i;
  return i;
}
// Returns the power of an integer modulo 2^64. For a negative exponent, returns 0 unless the base is 1 or -1.
Wide Power(const Number& base, const Number& exponent) {
  if (base.s != 1 && base.s != -1 && exponent.s < 0) return 0;
  uint64_t power = 1, square = static_cast<uint64_t>(base.u);
  for (Wide left = exponent.u; left != 0; left >>= 1, square *= square)
    if (left % 2 != 0) power *= square;
  return power;
}
Wide Floor(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

#define REAL(body) []([[maybe_unused]] Real x, [[maybe_unused]] Real y) -> Real { return body; }
#define INT(body) [](Number x, [[maybe_unused]] Number y) -> Wide { return body; }
std::vector<Row> OfFloats() {
  return {
      {"arith.addf", 2, REAL(x + y)},
      {"arith.subf", 2, REAL(x - y)},
      {"arith.mulf", 2, REAL(x * y)},
      {"arith.divf", 2, REAL(x / y)},
      {"arith.remf", 2, REAL(std::fmod(x, y))},
      {"arith.negf", 1, REAL(-x)},
      {"arith.maximumf", 2, REAL(std::fmax(x, y))},
      {"arith.minimumf", 2, REAL(std::fmin(x, y))},
      {"arith.maxnumf", 2, REAL(std::fmax(x, y))},
      {"arith.minnumf", 2, REAL(std::fmin(x, y))},
      {"math.absf", 1, REAL(std::fabs(x))},
      {"math.ceil", 1, REAL(std::ceil(x))},
      {"math.floor", 1, REAL(std::floor(x))},
      {"math.round", 1, REAL(std::round(x))},
      {"math.roundeven", 1, REAL(std::nearbyint(x))},
      {"math.trunc", 1, REAL(std::trunc(x))},
      {"math.sqrt", 1, REAL(std::sqrt(x))},
      {"math.rsqrt", 1, REAL(1 / std::sqrt(x))},
      {"math.cbrt", 1, REAL(std::cbrt(x))},
      {"math.exp", 1, REAL(std::exp(x))},
      {"math.exp2", 1, REAL(std::exp2(x))},
      {"math.expm1", 1, REAL(std::expm1(x))},
      {"math.log", 1, REAL(std::log(x))},
      {"math.log2", 1, REAL(std::log2(x))},
      {"math.log10", 1, REAL(std::log10(x))},
      {"math.log1p", 1, REAL(std::log1p(x))},
      {"math.sin", 1, REAL(std::sin(x))},
      {"math.cos", 1, REAL(std::cos(x))},
      {"math.tan", 1, REAL(std::tan(x))},
      {"math.asin", 1, REAL(std::asin(x))},
      {"math.acos", 1, REAL(std::acos(x))},
      {"math.atan", 1, REAL(std::atan(x))},
      {"math.sinh", 1, REAL(std::sinh(x))},
      {"math.cosh", 1, REAL(std::cosh(x))},
      {"math.tanh", 1, REAL(std::tanh(x))},
      {"math.asinh", 1, REAL(std::asinh(x))},
      {"math.acosh", 1, REAL(std::acosh(x))},
      {"math.atanh", 1, REAL(std::atanh(x))},
      {"math.erf", 1, REAL(std::erf(x))},
      {"math.erfc", 1, REAL(std::erfc(x))},
      {"math.powf", 2, REAL(std::pow(x, y))},
      {"math.atan2", 2, REAL(std::atan2(x, y))},
      {"math.copysign", 2, REAL(std::copysign(x, y))},
  };
}

std::vector<Row> OfIntegers() {
  return {
      {"arith.addi", 2, {}, INT(x.s + y.s)},
      {"arith.subi", 2, {}, INT(x.s - y.s)},
      {"arith.muli", 2, {}, INT(x.s * y.s)},
      {"arith.divsi", 2, {}, INT(x.s / y.s)},
      {"arith.divui", 2, {}, INT(x.u / y.u)},
      {"arith.remsi", 2, {}, INT(x.s % y.s)},
      {"arith.remui", 2, {}, INT(x.u % y.u)},
      {"arith.floordivsi", 2, {}, INT(Floor(x.s, y.s))},
      {"arith.ceildivsi", 2, {}, INT(-Floor(-x.s, y.s))},
      {"arith.ceildivui", 2, {}, INT((x.u + y.u - 1) / y.u)},
      {"arith.maxsi", 2, {}, INT(std::max(x.s, y.s))},
      {"arith.minsi", 2, {}, INT(std::min(x.s, y.s))},
      {"arith.maxui", 2, {}, INT(std::max(x.u, y.u))},
      {"arith.minui", 2, {}, INT(std::min(x.u, y.u))},
      {"arith.andi", 2, {}, INT(x.s & y.s)},
      {"arith.ori", 2, {}, INT(x.s | y.s)},
      {"arith.xori", 2, {}, INT(x.s ^ y.s)},
      {"arith.shli", 3, {}, INT(x.s << y.u)},
      {"arith.shrsi", 3, {}, INT(x.s >> y.u)},
      {"arith.shrui", 3, {}, INT(x.u >> y.u)},
      {"math.ipowi", 2, {}, INT(Power(x, y))},
      {"math.absi", 1, {}, INT(x.s < 0 ? -x.s : x.s)},
      {"math.ctpop", 1, {}, INT(Bits(x, [&](int i) { return Bit(x, i); }))},
      {"math.ctlz", 1, {}, INT(First(x, true))},
      {"math.cttz", 1, {}, INT(First(x, false))},
  };
}

std::vector<Row> OfAnotherType() {
  return {
      {"arith.sitofp", 1, {}, INT(x.s), "f32"},
      {"arith.uitofp", 1, {}, INT(x.u), "f64"},
      {"arith.extsi", 1, {}, INT(x.s), "i64"},
      {"arith.extui", 1, {}, INT(x.u), "i64"},
      {"arith.trunci", 1, {}, INT(x.s), "i8"},
      {"arith.fptosi", 1, REAL(std::trunc(x)), {}, "i16"},
      {"arith.fptoui", 4, REAL(std::trunc(y)), {}, "i64"},
      {"arith.extf", 1, REAL(x), {}, "f64"},
      {"arith.truncf", 1, REAL(x), {}, "bf16"},
      {"arith.cmpf olt,", 2, REAL(x < y), {}, "i1"},
      {"arith.cmpf ule,", 2, REAL(x <= y), {}, "i1"},
      {"arith.cmpf one,", 2, REAL(x != y), {}, "i1"},
      {"arith.cmpf uno,", 2, REAL(0 * x * y), {}, "i1"},
      {"arith.cmpi eq,", 2, {}, INT(x.s == y.s), "i1"},
      {"arith.cmpi ne,", 2, {}, INT(x.s != y.s), "i1"},
      {"arith.cmpi slt,", 2, {}, INT(x.s < y.s), "i1"},
      {"arith.cmpi sle,", 2, {}, INT(x.s <= y.s), "i1"},
      {"arith.cmpi sgt,", 2, {}, INT(x.s > y.s), "i1"},
      {"arith.cmpi sge,", 2, {}, INT(x.s >= y.s), "i1"},
      {"arith.cmpi ult,", 2, {}, INT(x.u < y.u), "i1"},
      {"arith.cmpi ule,", 2, {}, INT(x.u <= y.u), "i1"},
      {"arith.cmpi ugt,", 2, {}, INT(x.u > y.u), "i1"},
      {"arith.cmpi uge,", 2, {}, INT(x.u >= y.u), "i1"},
  };
}

std::vector<Row> Reductions() {
  std::vector<Row> rows;
  const auto reduction = [&](Row::Kind kind, const std::string& op, double start, auto real, auto integer) {
    rows.push_back({op, 2, real, integer, kind == Row::Kind::kChoice ? "i64" : "", kind, start});
  };
  using enum Row::Kind;
  const std::function<Real(Real, Real)> no_real;
  const std::function<Wide(Number, Number)> no_integer;
  reduction(kFold, "arith.addf", 1, REAL(x + y), no_integer);
  reduction(kFoldOfSquares, "math.fma", 1, REAL(x + y), no_integer);
  reduction(kFold, "arith.mulf", 1, REAL(x * y), no_integer);
  reduction(kFold, "arith.maximumf", -4, REAL(std::fmax(x, y)), no_integer);
  reduction(kFold, "arith.minimumf", 4, REAL(std::fmin(x, y)), no_integer);
  reduction(kFold, "arith.maxnumf", -4, REAL(std::fmax(x, y)), no_integer);
  reduction(kFold, "arith.minnumf", 4, REAL(std::fmin(x, y)), no_integer);
  reduction(kFold, "arith.addi", 1, no_real, INT(x.s + y.s));
  reduction(kFold, "arith.muli", 1, no_real, INT(x.s * y.s));
  reduction(kFold, "arith.maxsi", -1, no_real, INT(std::max(x.s, y.s)));
  reduction(kFold, "arith.minsi", 0, no_real, INT(std::min(x.s, y.s)));
  reduction(kFold, "arith.maxui", 0, no_real, INT(std::max(x.u, y.u)));
  reduction(kFold, "arith.minui", -1, no_real, INT(std::min(x.u, y.u)));
  reduction(kFold, "arith.andi", -1, no_real, INT(x.s & y.s));
  reduction(kFold, "arith.ori", 0, no_real, INT(x.s | y.s));
  reduction(kFold, "arith.xori", 1, no_real, INT(x.s ^ y.s));
  reduction(kChoice, "arith.cmpf ogt,", -4, REAL(y > x), no_integer);
  reduction(kChoice, "arith.cmpf olt,", 4, REAL(y < x), no_integer);
  reduction(kChoice, "arith.cmpi sgt,", -1, no_real, INT(y.s > x.s));
  reduction(kChoice, "arith.cmpi slt,", 0, no_real, INT(y.s < x.s));
  reduction(kChoice, "arith.cmpi ugt,", 0, no_real, INT(y.u > x.u));
  reduction(kChoice, "arith.cmpi ult,", -1, no_real, INT(y.u < x.u));
  return rows;
}
#undef REAL
#undef INT

std::vector<Row> Rows() {
  std::vector<Row> rows;
  for (const auto& part : {OfFloats(), OfIntegers(), OfAnotherType(), Reductions()})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

std::string NameOf(const Row& row) {
  const std::string op = absl::StrCat("`", absl::StrReplaceAll(row.op, {{",", ""}}), "`");
  switch (row.kind) {
    case Row::Kind::kScalar:
      return row.to.empty() || row.to == "i1" ? op : absl::StrCat(op, " to ", row.to);
    case Row::Kind::kChoice:
      return absl::StrCat(absl::StrContains(op, "gt") ? "argmax by " : "argmin by ", op);
    default:
      return absl::StrCat("reduction by ", op);
  }
}

std::string TensorOf(absl::string_view type) { return absl::StrCat("tensor<", kCount, "x", type, ">"); }

// Returns MLIR text that reduces each row of the tensor %xs by the operation of this row of the table. The result is
// named `result`.
std::string ReductionOf(const Row& row, DType dtype, absl::string_view result) {
  constexpr absl::string_view kFold = R"(
  %r = linalg.generic {indexing_maps = [#e, #i], iterator_types = ["parallel", "reduction"]}
      ins(%xs : tensor<E>) outs(%rf : tensor<R>) {
  ^bb0(%a: T, %o: T):
    %v = OP : T
    linalg.yield %v : T
  } -> tensor<R>
)";
  constexpr absl::string_view kChoice = R"(
  %re = tensor.empty() : tensor<I>
  %rz = linalg.fill ins(%none : i64) outs(%re : tensor<I>) -> tensor<I>
  %rb:2 = linalg.generic {indexing_maps = [#e, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%xs : tensor<E>) outs(%rf, %rz : tensor<R>, tensor<I>) {
  ^bb0(%a: T, %o: T, %n: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %p = OP %a, %o : T
    %v = arith.select %p, %a, %o : T
    %w = arith.select %p, %k, %n : i64
    linalg.yield %v, %w : T, i64
  } -> (tensor<R>, tensor<I>)
  %r = tensor.cast %rb#1 : tensor<I> to tensor<I>
)";
  constexpr absl::string_view kStart = R"(
  %rc = arith.constant START : T
  %ri = tensor.empty() : tensor<R>
  %rf = linalg.fill ins(%rc : T) outs(%ri : tensor<R>) -> tensor<R>)";
  const bool choice = row.kind == Row::Kind::kChoice, squares = row.kind == Row::Kind::kFoldOfSquares;
  const std::string type(ToString(dtype)), rows = absl::StrCat(kRows);
  return absl::StrReplaceAll(absl::StrCat(kStart, choice ? kChoice : kFold),
                             {{"%r", result},
                              {"OP", choice    ? row.op
                                     : squares ? row.op + " %a, %a, %o"
                                               : row.op + " %o, %a"},
                              {"START", absl::StrCat(row.start, IsFloat(dtype) ? ".0" : "")},
                              {"<E>", absl::StrCat("<", rows, "x", kCount / kRows, "x", type, ">")},
                              {"<R>", absl::StrCat("<", rows, "x", type, ">")},
                              {"<I>", absl::StrCat("<", rows, "xi64>")},
                              {": T", absl::StrCat(": ", type)}});
}

// Returns MLIR text of a function of three tensors with a result for each operation (row) of the table, on this element
// type.
std::string FileOf(const std::vector<Row>& rows, DType dtype) {
  const std::string type(ToString(dtype)), tensor = TensorOf(type);
  std::string body;
  std::vector<std::string> names, types;
  for (size_t r = 0; r < rows.size(); ++r) {
    const Row& row = rows[r];
    if (row.kind != Row::Kind::kScalar) {
      names.push_back(absl::StrCat("%r", r));
      types.push_back(absl::StrCat("tensor<", kRows, "x", row.to.empty() ? type : row.to, ">"));
      body += ReductionOf(row, dtype, names.back());
      continue;
    }
    const std::string to = row.to.empty() ? type : row.to, out = TensorOf(to);
    const std::string operands = row.operands == 1   ? "%a"
                                 : row.operands == 4 ? "%b"
                                 : row.operands == 2 ? "%a, %b"
                                                     : "%a, %c";
    const bool converts = !row.to.empty() && !absl::StrContains(row.op, "cmp");
    absl::StrAppend(&body, "  %e", r, " = tensor.empty() : ", out, "\n  %r", r,
                    " = linalg.generic {indexing_maps = [#m, #m, #m, #m], iterator_types = [\"parallel\"]} "
                    "ins(%x, %y, %z : ",
                    tensor, ", ", tensor, ", ", tensor, ") outs(%e", r, " : ", out, ") {\n  ^bb0(%a: ", type,
                    ", %b: ", type, ", %c: ", type, ", %o: ", to, "):\n    %v = ", row.op, " ", operands,
                    " : ", type, converts ? absl::StrCat(" to ", to) : "", "\n    linalg.yield %v : ", to,
                    "\n  } -> ", out, "\n");
    names.push_back(absl::StrCat("%r", r));
    types.push_back(out);
  }
  const std::string matrix = absl::StrCat("tensor<", kRows, "x", kCount / kRows, "x", type, ">");
  body = absl::StrCat("  %xs = tensor.expand_shape %x [[0, 1]] output_shape [", kRows, ", ", kCount / kRows,
                      "] : ", tensor, " into ", matrix, "\n", body);
  return absl::StrCat(
      "#m = affine_map<(i) -> (i)>\n#e = affine_map<(i, j) -> (i, j)>\n#i = affine_map<(i, j) -> (i)>\n"
      "func.func @f(%x: ",
      tensor, ", %y: ", tensor, ", %z: ", tensor, ") -> (", absl::StrJoin(types, ", "),
      ") {\n  %none = arith.constant -1 : i64\n", body, "  return ", absl::StrJoin(names, ", "), " : ",
      absl::StrJoin(types, ", "), "\n}\n");
}

int WidthOf(DType type) { return type == DType::kI1 ? 1 : static_cast<int>(SizeOf(type)) * 8; }

Number Element(DType type, Scalar value) {
  const int width = WidthOf(type);
  const Wide u = static_cast<Wide>(static_cast<uint64_t>(value.i)) & ((Wide(1) << width) - 1);
  return {width, u >> (width - 1) != 0 ? u - (Wide(1) << width) : u, u};
}

std::string Stored(DType type, Real real, Wide integer, bool is_real) {
  std::string bytes(SizeOf(type), '\0');
  Scalar value;
  if (IsFloat(type)) {
    value.f = is_real ? static_cast<double>(real) : static_cast<double>(static_cast<float>(integer));
    if (!is_real && type == DType::kF64) value.f = static_cast<double>(integer);
  } else {
    value.i = is_real ? static_cast<int64_t>(real) : static_cast<int64_t>(integer);
  }
  StoreScalar(type, RoundScalar(type, value), bytes.data());
  return bytes;
}

// Returns random bytes for three tensors of this type. For integers: any values; divisors, which are neither 0 nor -1;
// and shift amounts below the width. For i1, divisors are 1. For floats: numbers from -4 to 4, from 0.5 to 8.5, and
// from -4 to 4.
std::vector<std::string> InputsOf(DType type) {
  std::mt19937_64 random(5);
  std::vector<std::string> inputs(3);
  for (int i = 0; i < kCount; ++i) {
    if (IsFloat(type)) {
      const auto draw = [&] { return static_cast<Real>(random() >> 11) * 0x1p-50L - 4; };
      inputs[0] += Stored(type, draw(), 0, true);
      inputs[1] += Stored(type, draw() + 4.5L, 0, true);
      inputs[2] += Stored(type, draw(), 0, true);
      continue;
    }
    Wide divisor = static_cast<int64_t>(random()) >> (random() % 64);
    const Number low = Element(type, {.i = static_cast<int64_t>(divisor)});
    if (type != DType::kI1 && (low.s == 0 || low.s == -1)) divisor = 3;
    inputs[0] += Stored(type, 0, i == 0 ? 0 : static_cast<int64_t>(random()), false);
    inputs[1] += Stored(type, 0, type == DType::kI1 ? 1 : divisor, false);
    inputs[2] += Stored(type, 0, static_cast<int64_t>(random() % WidthOf(type)), false);
  }
  return inputs;
}

std::string WantedOf(const Row& row, DType type, const std::vector<std::string>& inputs) {
  const DType to = row.to.empty() ? type : *ParseDType(row.to);
  std::string wanted;
  const int64_t size = SizeOf(type);
  for (int i = 0; i < kRows && row.kind != Row::Kind::kScalar; ++i) {
    std::string found = Stored(type, row.start, static_cast<Wide>(row.start), IsFloat(type)), place;
    place = Stored(DType::kI64, 0, -1, false);
    for (int j = 0; j < kCount / kRows; ++j) {
      const int64_t at = (i * kCount / kRows + j) * size;
      const Scalar so_far = LoadScalar(type, found.data());
      Scalar next = LoadScalar(type, inputs[0].data() + at);
      if (row.kind == Row::Kind::kFoldOfSquares) next.f *= next.f;
      const Real real = row.real ? row.real(so_far.f, next.f) : 0;
      const Wide integer = row.integer ? row.integer(Element(type, so_far), Element(type, next)) : 0;
      if (row.kind != Row::Kind::kChoice) {
        found = Stored(type, real, integer, IsFloat(type));
      } else if (real != 0 || integer != 0) {
        found = inputs[0].substr(at, size);
        place = Stored(DType::kI64, 0, j, false);
      }
    }
    wanted += row.kind == Row::Kind::kChoice ? place : found;
  }
  if (row.kind != Row::Kind::kScalar) return wanted;
  for (int i = 0; i < kCount; ++i) {
    const Scalar x = LoadScalar(type, inputs[0].data() + i * SizeOf(type)),
                 y = LoadScalar(type, inputs[row.operands == 3 ? 2 : 1].data() + i * SizeOf(type));
    wanted += row.real ? Stored(to, row.real(x.f, y.f), 0, true)
                       : Stored(to, 0, row.integer(Element(type, x), Element(type, y)), false);
  }
  return wanted;
}

void ExpectExportedRight(const std::string& text, const RightOptions& options) {
  SCOPED_TRACE(options.name);
  static auto* const builders = StartBuilders().release();
  std::string folder = testing::TempDir() + "kiln-operations-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const Program program = ImportLinalg(text, "f")->program;
  const auto exported = Export(program, program.name, folder, *builders);
  ASSERT_TRUE(exported.ok()) << exported.status();
  std::ifstream file(absl::StrCat(folder, "/lib", exported->name, ".so"), std::ios::binary);
  const auto loaded = Loaded::FromBytes({std::istreambuf_iterator<char>(file), {}});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::vector<std::string> memory = options.inputs;
  for (const std::string& wanted : options.wanted) memory.emplace_back(wanted.size(), '\xA5');
  std::vector<void*> arguments;
  for (std::string& bytes : memory) arguments.push_back(bytes.data());
  EXPECT_EQ(CallProgram(*loaded, program, arguments, {}, 1), 0);
  ExpectOutputs(program, {memory.begin() + static_cast<int64_t>(options.inputs.size()), memory.end()},
                options.wanted, "exported");
  std::filesystem::remove_all(folder);
}

TEST(Operations, AreRightOnEachTypeOrRefusedWithWhatToDo) {
  const std::vector<Row> rows = Rows();
  std::vector<std::vector<std::string>> cells(rows.size());
  std::vector<std::string> refusals;
  for (const DType type : kTypes) {
    const std::vector<std::string> inputs = InputsOf(type);
    std::vector<Row> group;
    const auto check = [&] {
      if (group.empty()) return;
      RightOptions options;
      options.name = absl::StrCat(ToString(type), " ", group[0].op, " ...");
      options.inputs = inputs;
      options.stock = false;
      for (const Row& row : group) options.wanted.push_back(WantedOf(row, type, inputs));
      ExpectRight(FileOf(group, type), options);
      ExpectExportedRight(FileOf(group, type), options);
      group.clear();
    };
    for (size_t r = 0; r < rows.size(); ++r) {
      const bool fits = IsFloat(type) ? static_cast<bool>(rows[r].real) : static_cast<bool>(rows[r].integer);
      const auto imported = ImportLinalg(FileOf({rows[r]}, type), "f");
      if (!fits || (!imported.ok() && !absl::StrContains(imported.status().message(), "is not supported"))) {
        cells[r].push_back("none");  // MLIR has no such operation
        EXPECT_FALSE(imported.ok()) << rows[r].op;
        continue;
      }
      if (!imported.ok()) {
        EXPECT_TRUE(absl::StrContains(imported.status().message(), "hint: "));
        const std::string message(imported.status().message());
        const std::string refusal = message.substr(message.find(": ") + 2);  // without FILE:LINE:COL
        const auto at = std::find(refusals.begin(), refusals.end(), refusal);
        cells[r].push_back(absl::StrCat("refused ", at - refusals.begin() + 1));
        if (at == refusals.end()) refusals.push_back(refusal);
        continue;
      }
      cells[r].push_back("right");
      group.push_back(rows[r]);
      if (group.size() == 9) check();
    }
    check();
  }
  std::string table = kHeader;
  for (size_t r = 0; r < rows.size(); ++r) {
    const bool scalar = rows[r].kind == Row::Kind::kScalar;
    if (r == 0 || scalar != (rows[r - 1].kind == Row::Kind::kScalar)) {
      absl::StrAppend(
          &table, "\n| ", scalar ? "operation" : "reduction", " | ",
          absl::StrJoin(kTypes, " | ",
                        [](std::string* out, DType type) { absl::StrAppend(out, ToString(type)); }),
          " |\n|---|");
      for (size_t i = 0; i < std::size(kTypes); ++i) table += "---|";
      table += "\n";
    }
    absl::StrAppend(&table, "| ", NameOf(rows[r]), " | ", absl::StrJoin(cells[r], " | "), " |\n");
  }
  for (size_t i = 0; i < refusals.size(); ++i) absl::StrAppend(&table, "\n", i + 1, ". ", refusals[i], "\n");
  ExpectGolden("../../docs/operations.md", table);
}

}  // namespace
}  // namespace kiln
