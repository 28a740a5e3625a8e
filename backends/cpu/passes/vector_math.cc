#include "backends/cpu/passes/vector_math.h"

#include <cmath>

#include "backends/cpu/passes/lanes.h"
#include "backends/cpu/passes/power_tables.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

constexpr double kLn2 = 0.693147180559945309, kPi = 3.14159265358979323846;
constexpr float kLn2High = 0.693147182f, kLn2Low = -1.90465421e-09f;
constexpr float kHalfPi[] = {1.57079637f, -4.37113883e-08f, -1.71512451e-15f};
constexpr float kMaxReduced = 1e5;
constexpr double kMaxDivisor = 0x1p100;  // reciprocals of divisors from 1 / this to this
// Coefficients of a polynomial for e^r, |r| <= ln(2)/2, with a relative error of 3 * 10^-9
constexpr double kExp[] = {1, 1, 0.49999994, 0.16666521, 0.041668266, 0.008368675, 0.0013820662};
// Coefficients for (e^r - 1) / r, |r| <= ln(2)/32, with an absolute error of at most 1.6 * 10^-9 in e^r
constexpr double kShortExp[] = {1, 0.500016212, 0.1666722};
// Coefficients for (ln(1 + f) - f) / f^2, |f| <= 1/3
constexpr double kLog[] = {-0.5,         0.333333343, -0.25,         0.199998528, -0.166665301, 0.142961785,
                           -0.125097394, 0.108532876, -0.0976008996, 0.11612165,  -0.106783174};
// Coefficients for (sin r - r) / r^3 and (cos r - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4
constexpr double kSin[] = {-0.166666642, 0.00833272468, -0.00019582831};
constexpr double kCos[] = {0.0416666642, -0.00138882792, 2.4542871e-05};
// Coefficients of two polynomials for 2^f, |f| <= 1/2, with relative errors of 10^-14 (kExp2) and 4 * 10^-11
// (kShortExp2)
constexpr double kExp2[] = {1.0000000000000135,    0.69314718055994617,    0.24022650695640341,
                            0.05550410866465167,   0.0096181291939343126,  0.0013333558200794592,
                            0.0001540343375125101, 1.5252672924850737e-05, 1.3259645244887111e-06,
                            1.0205905413765595e-07};
constexpr double kShortExp2[] = {0.99999999995956179,    0.69314718055683244,   0.24022651213498092,
                                 0.055504109063258665,   0.009618025613318034,  0.0013333478473685416,
                                 0.00015469729214118296, 1.5303700711365693e-05};
// Coefficients for log2((1 + z) / (1 - z)) / z in z^2, |z| <= 0.1716, with a relative error of 5 * 10^-12
constexpr double kLog2[] = {2.8853900817906308, 0.96179667257934898, 0.57708374316282618, 0.41166257659583899,
                            0.34092833327090954};

// Coefficients for erf(x) / x = P(x^2) / Q(x^2), up to where erf rounds to 1, with a relative error of 2 * 10^-8
constexpr double kErfP[] = {1.1283791, 0.19037746, 0.05274557, 0.003764551, 0.00028489035, 2.0507348e-06};
constexpr double kErfQ[] = {1, 0.50205034, 0.11409774, 0.014967067, 0.0011623352, 3.80988e-05};
constexpr double kErfIsOne = 3.9192059;

class Functions : public Lanes {
 public:
  using Lanes::Lanes;

  // Emits e^x = 2^n e^r. n is a whole number; with tables, a multiple of a step of 1/16. Scalars take the slow path,
  // ExpAnywhere, which is right for every x. So does a vector with a lane whose result may be denormal or infinite, or
  // with NaN. Otherwise, multiplying by 2^n only adds n to the exponent. To round x / ln(2), the code adds
  // Scaled(steps), so that the low bits of `shifted` hold kScale + n in units of a step; a shift moves them to the
  // exponent. For n from -kScale to kScale - 1, only these bits and the first bit of the exponent are set. For any
  // other n, and for NaN, other bits are set, so one `or` over all lanes finds vectors for the slow path. `fast`
  // ignores the rounding error of ln(2) in f32.
  Value Exp(Value x, bool tables, bool fast) {
    if (!is_vector()) return ExpAnywhere(x);
    const int steps = tables ? PowerTables::kSteps : 1;
    const Value shifted = Fma(x, F(steps * kUnit / kLn2), F(Scaled(steps)));
    const int32_t usual = std::bit_cast<int32_t>(2.f) | (2 * kScale * steps - 1);
    return IfSeldom(
        AnySet(Bits(shifted), ~usual), [&] { return ExpAnywhere(x); },
        [&] {
          const Value n = Sub(shifted, F(Scaled(steps)));
          const Value r = fast ? Fma(n, F(-kLn2High / (steps * kUnit)), x) : Reduced(x, n, steps * kUnit);
          return tables ? ExpByTables(r, Bits(shifted), fast) : ExpOfUsual(r, Bits(shifted));
        });
  }

  Value Log(Value x) {
    if (!is_vector()) return LogAnywhere(x);
    return IfUsual(x, [&] { return LogOfUsual(x, Value()); }, [&] { return LogAnywhere(x); });
  }

  // Emits 1 / sqrt(x). A subtraction on the bits of x, which halves and negates the exponent, gives a first guess
  // (error at most 3.4%). Three Newton steps each square the error. If a lane is not finite or below 2^-125, divides by
  // the square root instead.
  Value Rsqrt(Value x) {
    return IfUsual(
        x,
        [&] {
          const Value half = Mul(x, F(0.5));
          Value y = FromBits(SubI(I(0x5f3759df), arith::ShRUIOp::create(b_, Bits(x), I(1))));
          for (int step = 0; step < 2; ++step) y = Mul(y, Fma(Mul(half, Mul(y, y)), F(-1), F(1.5)));
          const Value error = Fma(Mul(half, y), arith::NegFOp::create(b_, y), F(0.5));
          return Fma(y, error, y);
        },
        [&] { return Div(F(1), math::SqrtOp::create(b_, x)); });
  }

  // Computes tanh(x): in f64 as 1 - 2 / (e^2x + 1) for abs(x), limited to 10, with the sign of x. Below 2^-15, the
  // result is x itself.
  Value Tanh(Value x) {
    const Value size = math::AbsFOp::create(b_, x);
    const Value wide = Clamp(Wide(size), 0, 10);
    const Value power = Exp2(Mul(wide, D(2 / kLn2)), kExp2);
    const Value result = Narrow(Sub(D(1), Div(D(2), Add(power, D(1)))));
    return Select(Less(size, F(0x1p-15)), x, math::CopySignOp::create(b_, result, x));
  }

  // Computes erf(x). The quotient of two polynomials may be approximate (afn). GPUs then multiply by a reciprocal, with
  // an error of at most 2 ULP (PTX, div.approx.f32), in place of about 10 instructions and a branch. CPUs divide.
  Value Erf(Value x) {
    const Value square = Least(Mul(x, x), kErfIsOne * kErfIsOne), fourth = Mul(square, square);
    const Value p = InPairs(square, fourth, kErfP), q = InPairs(square, fourth, kErfQ);
    return Clamp(arith::DivFOp::create(b_, Mul(x, p), q, arith::FastMathFlags::afn), -1, 1);
  }

  // Emits sin(x + quadrant * pi/2): the sine for quadrant 0, the cosine for quadrant 1.
  Value Sine(Value x, int quadrant) {
    const Value shifted = Fma(x, F(2 / kPi), F(kRound32));
    const Value n = Sub(shifted, F(kRound32));
    Value r = x;
    for (const float part : kHalfPi) r = Fma(n, F(-part), r);
    const Value square = Mul(r, r);
    const Value turn = AddI(Bits(shifted), I(quadrant));
    const Value odd = arith::CmpIOp::create(b_, arith::CmpIPredicate::ne, And(turn, I(1)), I(0));
    // Evaluates r + r * r^2 P(r^2) for even quadrants and (1 - r^2/2) + r^2 * r^2 Q(r^2) for odd ones, with one
    // polynomial whose coefficients are selected for each lane.
    llvm::SmallVector<Value> chosen;
    for (size_t i = 0; i < std::size(kSin); ++i) chosen.push_back(Select(odd, F(kCos[i]), F(kSin[i])));
    const Value lead = Select(odd, Fma(square, F(-0.5), F(1)), r);
    const Value result = Fma(Mul(Select(odd, square, r), square), Polynomial(square, chosen), lead);
    const Value sign = ShiftLeft(And(turn, I(2)), 30);
    return FromBits(arith::XOrIOp::create(b_, Bits(result), sign));
  }

  // Computes x^y for positive x, in f64 as 2^(y * log2 x).
  Value Power(Value x, Value y) {
    const Value bits = Bits(Wide(x));
    const Value one = I64(int64_t{1023} << 52);
    const Value above = AddI(SubI(bits, I64(0x3fe6a09e667f3bcd)), one);  // of sqrt(1/2)
    const Value exponent = And(above, I64(static_cast<int64_t>(0xfff0000000000000)));
    const Value m = FromBits(AddI(SubI(bits, exponent), one));
    const Value counted = Or(arith::ShRUIOp::create(b_, above, I64(52)), I64(int64_t{0x433} << 52));
    const Value n = Sub(FromBits(counted), D(0x1p52 + 1023));
    const Value z = Div(Sub(m, D(1)), Add(m, D(1)));
    const Value log2 = Fma(z, Polynomial(Mul(z, z), kLog2), n);
    return Narrow(Exp2(Clamp(Mul(Wide(y), log2), -300, 300), kShortExp2));
  }

  // Emits x^y in f32 with tables. 2^23 log2(x) = high + low, where `low` contains rounding errors and small terms. y *
  // (high + low) = 2^19 k + f with a whole number k, so that x^y = 2^(k/16) 2^(f / 2^23). Calls `otherwise` for vectors
  // with a lane whose base is not in [2^-125, 2^127], or whose result may be denormal or infinite.
  Value PowerByTables(Value x, Value y, llvm::function_ref<Value()> otherwise) {
    const PowerTables& tables = PowerTables::Get();
    const Value above = SubI(Bits(x), I(PowerTables::kMin));
    const Value exponent = And(above, I(static_cast<int32_t>(0xff800000)));
    const Value interval = arith::ShRUIOp::create(b_, above, I(18));
    const Value z = FromBits(SubI(Bits(x), exponent));
    const Value n = arith::SIToFPOp::create(b_, shape_, exponent);  // times 2^23
    const Value r = Fma(z, Entry(tables.inverse, interval), F(-1));
    const Value whole = Add(n, Entry(tables.log_high, interval));

    // Computes kFirst + kSecond r as a rounded sum, `factor`, and its rounding error, which is part of `lost`. With the
    // higher terms, the polynomial times r is 2^23 log2(1 + r).
    const Value first = F(PowerTables::kFirst), second = F(PowerTables::kSecond);
    const Value factor = Fma(r, second, first);
    const Value lost = Add(Fma(r, second, Sub(first, factor)), F(PowerTables::kFirstLow));
    const Value rest = Fma(Mul(r, r), Polynomial(r, PowerTables::kLog2), lost);
    const Value whole_low = Entry(tables.log_low, interval);
    const Value high = Fma(r, factor, Add(whole, whole_low));
    const Value low = Fma(r, rest, Add(Fma(r, factor, Sub(whole, high)), whole_low));

    const Value round = F(PowerTables::kRound), shifted = Fma(y, high, round);
    const Value f = Fma(y, low, Fma(y, high, Sub(round, shifted)));
    const Value k = Bits(shifted);  // k is in the low bits; the higher bits do not matter
    const Value power = FromBits(AddI(Bits(Entry(tables.power, k)), ShiftLeft(k, 19)));
    const Value more = Fma(f, Polynomial(f, PowerTables::kExp2), Entry(tables.power_low, k));

    const Value far = SubI(k, I(std::bit_cast<int32_t>(PowerTables::kRound) - 126 * 16));
    const Value special = Or(Above(above, (253 << 23) - 1), Above(far, (126 + 128) * 16 - 1));
    return IfSeldom(Any(special), otherwise, [&] { return Fma(power, more, power); });
  }

  // Computes x / divisor for a scalar that all lanes share. The code multiplies by the reciprocal; it branches to
  // a division if the divisor turns out to be tiny, huge or NaN.
  Value Quotient(Value x, Value divisor) {
    const auto number = [&](double value) {
      return arith::ConstantOp::create(b_, b_.getFloatAttr(divisor.getType(), value)).getResult();
    };
    const Value size = math::AbsFOp::create(b_, divisor);
    const Value unusual = Or(Compare(arith::CmpFPredicate::ULT, size, number(1 / kMaxDivisor)),
                             Compare(arith::CmpFPredicate::UGT, size, number(kMaxDivisor)));
    const Value inverse = Div(number(1), divisor);
    const auto lanes = [&](Value scalar) {
      return mlir::vector::BroadcastOp::create(b_, shape_, scalar).getResult();
    };
    return IfSeldom(unusual, [&] { return Div(x, lanes(divisor)); }, [&] { return Mul(x, lanes(inverse)); });
  }

  Value Quotient(Value x, double divisor) {  // null if the divisor is not usual
    const double size = std::fabs(divisor);
    return size >= 1 / kMaxDivisor && size <= kMaxDivisor ? Mul(x, F(1 / divisor)) : Value();
  }

  // Computes exact(lane) for each lane if `special` holds for some lane; otherwise `usual`.
  Value Unless(Value special, llvm::function_ref<Value()> usual, llvm::function_ref<Value(int64_t)> exact) {
    return IfSeldom(
        Any(special),
        [&] {
          llvm::SmallVector<Value> lanes;
          for (int64_t lane = 0; lane < count(); ++lane) lanes.push_back(exact(lane));
          return mlir::vector::FromElementsOp::create(b_, shape_, lanes).getResult();
        },
        usual);
  }

  Value Beyond(Value x, float limit) {
    return Above(And(Bits(x), I(0x7fffffff)), std::bit_cast<int32_t>(limit));
  }
  Value NotFinite(Value x) {
    return Compare(arith::CmpFPredicate::UEQ, math::AbsFOp::create(b_, x), F(HUGE_VAL));
  }
  Value NotPositive(Value x) { return Compare(arith::CmpFPredicate::ULE, x, F(0)); }

 private:
  // Computes e^x = 2^n e^r from the reduced argument r, if the result is neither denormal nor infinite. Evaluates
  // 2^-kScale e^r by a polynomial and adds kScale + n, the low bits of `shifted`, to the exponent.
  Value ExpOfUsual(Value r, Value shifted) {
    llvm::SmallVector<double> scaled;
    for (const double c : kExp) scaled.push_back(std::ldexp(static_cast<float>(c), -kScale));
    return FromBits(AddI(Bits(Polynomial(r, scaled)), ShiftLeft(shifted, 23)));
  }

  Value ExpByTables(Value r, Value shifted, bool fast) {
    const PowerTables& tables = PowerTables::Get();
    auto scaled = tables.power;
    for (int32_t& bits : scaled) bits -= kScale << 23;
    const Value power = FromBits(AddI(Bits(Entry(scaled, shifted)), ShiftLeft(shifted, 19)));
    const Value rest = Polynomial(r, kShortExp);
    const Value more = fast ? Mul(r, rest) : Fma(r, rest, Entry(tables.power_low, shifted));
    return Fma(power, more, power);
  }

  // Computes the log of positive numbers that are neither denormal nor infinite. If `twos` is not null, returns log(2^n
  // x) for n = 2^-23 * twos.
  Value LogOfUsual(Value x, Value twos) {
    const Value bits = Bits(x);
    const Value exponent = And(SubI(bits, I(0x3f2aaaab)), I(static_cast<int32_t>(0xff800000)));
    const Value f = Sub(FromBits(SubI(bits, exponent)), F(1));
    Value n = arith::SIToFPOp::create(b_, f.getType(), exponent);  // times 2^23
    if (twos) n = Add(n, twos);
    const Value tail = Fma(Mul(f, f), Polynomial(f, kLog), Mul(n, F(0x1p-23 * kLn2Low)));
    return Fma(n, F(0x1p-23 * kLn2High), Add(f, tail));
  }

  // Computes the log of any number. +infinity and NaN are their own result, 0 gives -infinity, and negative numbers
  // give NaN.
  Value LogAnywhere(Value x) {
    const Value denormal = Less(x, F(0x1p-126));
    const Value scaled = Select(denormal, Mul(x, F(0x1p23)), x);
    const Value result = LogOfUsual(scaled, Select(denormal, F(-23 * 0x1p23), F(0)));
    const Value positive = Select(Less(x, F(HUGE_VAL)), result, x);
    const Value zero = Compare(arith::CmpFPredicate::OEQ, x, F(0));
    return Select(Less(x, F(0)), F(NAN), Select(zero, F(-HUGE_VAL), positive));
  }

  // Computes `usual` if all lanes are finite and at least 2^-125, so that half of x is not denormal;
  // otherwise `anywhere`.
  Value IfUsual(Value x, llvm::function_ref<Value()> usual, llvm::function_ref<Value()> anywhere) {
    return IfSeldom(Any(Above(SubI(Bits(x), I(0x01000000)), 0x7e7fffff)), anywhere, usual);
  }

  // Computes e^x = 2^n e^r for any x. 2^n is split into two factors, so that results from denormal to infinite are
  // right. Adding kHalves to x / ln(2) rounds to n, and leaves n plus twice the exponent's bias in the low bits of the
  // sum.
  Value ExpAnywhere(Value x) {
    x = Clamp(x, -104, 89);
    const Value shifted = Fma(x, F(1 / kLn2), F(kHalves));
    const Value p = Polynomial(Reduced(x, Sub(shifted, F(kHalves))), kExp);
    const Value power = Bits(shifted);
    const Value half = arith::ShRUIOp::create(b_, power, I(1));
    return Mul(Mul(p, Exponent(half)), Exponent(SubI(power, half)));
  }

  // Reduces the argument of exp: x - (n / unit) ln(2), with ln(2) in two parts.
  Value Reduced(Value x, Value n, double unit = 1) {
    return Fma(n, F(-kLn2Low / unit), Fma(n, F(-kLn2High / unit), x));
  }

  static constexpr int kScale = 64;
  static constexpr double kUnit = 0x1p-22;                           // the last place of numbers from 2 to 4
  static constexpr double kRound32 = 0x1.8p23, kRound64 = 0x1.8p52;  // adding it rounds to a whole number
  static constexpr double kHalves = kRound32 + 2 * 127;
  static constexpr double Scaled(int steps) { return 2 + kScale * steps * kUnit; }

  Value Exp2(Value x, Coefficients coefficients) {
    const Value shifted = Add(x, D(kRound64));
    const Value f = Sub(x, Sub(shifted, D(kRound64)));
    const Value scale = arith::ShLIOp::create(b_, AddI(Bits(shifted), I64(1023)), I64(52));
    return Mul(Polynomial(f, coefficients), FromBits(scale));
  }
  Value Exponent(Value biased) { return FromBits(ShiftLeft(biased, 23)); }
};

template <typename Op>
Value SineOrLibm(Op op, Functions& lanes, int quadrant) {
  const Value x = op.getOperand();
  if (IsFast(op)) return lanes.Sine(x, quadrant);
  return lanes.Unless(
      lanes.Beyond(x, kMaxReduced), [&] { return lanes.Sine(x, quadrant); },
      [&](int64_t lane) { return Op::create(lanes.builder(), lanes.Lane(x, lane)).getResult(); });
}

// Returns the value of a constant scalar, or of a constant vector with the same value in all lanes; null for other
// operands.
mlir::FloatAttr SplatOf(Value x) {
  auto constant = x.getDefiningOp<arith::ConstantOp>();
  if (!constant) return {};
  auto dense = mlir::dyn_cast<mlir::SplatElementsAttr>(constant.getValue());
  return dense ? dense.getSplatValue<mlir::FloatAttr>()
               : mlir::dyn_cast<mlir::FloatAttr>(constant.getValue());
}

// Emits x^y. Exponents 2 and 3 become products. Otherwise emits vector code: by tables if `tables`, as exp(y log(x))
// with `fastmath<afn>`, and else in f64, with a call of libm for each lane if a base is not positive or an operand is
// not finite. Returns null for a scalar with another exponent.
Value PowerOrLibm(math::PowFOp op, Functions& lanes, bool vector, bool tables) {
  const Value x = op.getLhs(), y = op.getRhs();
  const mlir::FloatAttr exponent = SplatOf(y);
  const double n = exponent ? exponent.getValueAsDouble() : 0;
  if (n == 2) return lanes.Mul(x, x);
  if (n == 3) return lanes.Mul(lanes.Mul(x, x), x);
  if (!vector) return {};
  const auto anywhere = [&] {
    const Value special = lanes.Or(lanes.Or(lanes.NotPositive(x), lanes.NotFinite(x)), lanes.NotFinite(y));
    return lanes.Unless(
        special, [&] { return lanes.Power(x, y); },
        [&](int64_t lane) {
          return math::PowFOp::create(lanes.builder(), lanes.Lane(x, lane), lanes.Lane(y, lane)).getResult();
        });
  };
  if (tables) return lanes.PowerByTables(x, y, anywhere);
  return IsFast(op) ? lanes.Exp(lanes.Mul(y, lanes.Log(x)), false, false) : anywhere();
}

// Emits x / y for a vector whose lanes have the same divisor. Returns null if they may differ, if a constant divisor is
// tiny or huge, and for scalars.
Value QuotientByOne(arith::DivFOp op, Functions& lanes) {
  if (const auto constant = SplatOf(op.getRhs()); constant && mlir::isa<mlir::VectorType>(op.getType()))
    return lanes.Quotient(op.getLhs(), constant.getValueAsDouble());
  auto divisor = op.getRhs().getDefiningOp<mlir::vector::BroadcastOp>();
  const bool one = divisor && mlir::isa<mlir::FloatType>(divisor.getSource().getType());
  return one ? lanes.Quotient(op.getLhs(), divisor.getSource()) : Value();
}

}  // namespace

bool IsFast(mlir::Operation* op) {
  auto flags = mlir::dyn_cast<arith::ArithFastMathInterface>(op);
  return flags && bitEnumContainsAny(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
}

bool ExpandVectorMath(mlir::Operation* op, bool tables) {
  if (op->getNumResults() != 1 || !mlir::getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return false;
  auto vector = mlir::dyn_cast<mlir::VectorType>(op->getResult(0).getType());
  const bool reads_tables = tables && vector && vector.getNumElements() >= 8;
  Functions lanes(op);
  const Value result =
      llvm::TypeSwitch<mlir::Operation*, Value>(op)
          .Case([&](math::ExpOp e) { return lanes.Exp(e.getOperand(), reads_tables, IsFast(e)); })
          .Case([&](math::LogOp e) { return lanes.Log(e.getOperand()); })
          .Case([&](math::RsqrtOp e) { return vector ? lanes.Rsqrt(e.getOperand()) : Value(); })
          .Case([&](math::TanhOp e) { return IsFast(e) ? Value() : lanes.Tanh(e.getOperand()); })
          .Case([&](math::ErfOp e) { return lanes.Erf(e.getOperand()); })
          .Case([&](math::SinOp e) { return vector ? SineOrLibm(e, lanes, 0) : Value(); })
          .Case([&](math::CosOp e) { return vector ? SineOrLibm(e, lanes, 1) : Value(); })
          .Case(
              [&](math::PowFOp e) { return PowerOrLibm(e, lanes, static_cast<bool>(vector), reads_tables); })
          .Case([&](arith::DivFOp e) { return QuotientByOne(e, lanes); })
          .Default(Value());
  if (!result) return false;
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

}  // namespace kiln
