#include <algorithm>
#include <cmath>
#include <cstring>

#include "lang/analysis/dataflow.h"
#include "validator/numeric/tolerance.h"

namespace kiln {
namespace {

constexpr double kSafety = 8;

double Epsilon(DType type) {
  switch (type) {
    case DType::kF64:
      return std::ldexp(1, -53);
    case DType::kF32:
      return std::ldexp(1, -24);
    case DType::kF16:
      return std::ldexp(1, -11);
    case DType::kBF16:
      return std::ldexp(1, -8);
    default:
      return 0;
  }
}

// An estimate of a value: its typical magnitude, its error, and whether it is never negative.
struct Guess {
  double magnitude = 0, error = 0;
  bool positive = false;
  double Relative() const { return magnitude > 0 ? error / magnitude : 0; }
};

struct Carried {
  Guess guess;
  int64_t chain = 0;
  double epsilon = 0;  // the coarsest rounding unit on the way to this buffer
};

class Estimator {
 public:
  explicit Estimator(const Program& program)
      : p_(program), buffers_(program.buffers.size()), known_(program.exprs.size()) {
    for (size_t b = 0; b < buffers_.size(); ++b) {
      if (IsGiven(p_.buffers[b].role)) buffers_[b].guess.magnitude = 1;
    }
  }

  std::vector<OutputTolerance> Run() {
    for (const Id block : Blocks(p_)) {
      if (p_.nodes[block].first == kNone) Carry(block);
    }
    std::vector<OutputTolerance> result;
    for (const Id id : p_.parameters) {
      if (p_.buffers[id].role != Role::kOutput) continue;
      OutputTolerance tolerance;
      tolerance.buffer = id;
      const Carried& c = buffers_[id];
      tolerance.longest_reduction = c.chain;
      if (IsFloat(p_.buffers[id].dtype)) {
        tolerance.absolute = kSafety * c.guess.error;
        tolerance.relative = kSafety * c.epsilon * (1 + std::sqrt(static_cast<double>(c.chain)));
      }
      result.push_back(tolerance);
    }
    return result;
  }

 private:
  void Carry(Id block) {
    const BlockNode& b = p_.block(block);
    int64_t terms = 1;
    for (const Iter& iter : p_.Iters(b.iters)) {
      if (iter.kind == IterKind::kReduction) terms *= iter.extent.UpperBound();
    }
    chain_ = 0;
    epsilon_ = 0;
    std::fill(known_.begin(), known_.end(), false);
    values_.resize(p_.exprs.size());
    const auto dests = p_.Accesses(b.dests);
    const auto values = p_.List(b.values), initial = p_.List(b.initial);
    for (size_t r = 0; r < dests.size(); ++r) {
      Guess guess = Of(values[r]);
      if (b.monoid != kNone)
        guess = Reduced(p_.monoids[b.monoid].kind, guess, static_cast<double>(terms),
                        Epsilon(p_.exprs[values[r]].dtype));
      if (!initial.empty()) guess = Sum(guess, Of(initial[r]), Epsilon(p_.exprs[values[r]].dtype));
      Carried& dest = buffers_[dests[r].buffer];
      // Merges the estimate into that of earlier writers of the buffer: the initialization and the accumulation of a
      // reduction both write it.
      dest.guess.positive = guess.positive && (dest.guess.positive || dest.guess.magnitude == 0);
      dest.guess.magnitude = std::max(dest.guess.magnitude, guess.magnitude);
      dest.guess.error = std::max(dest.guess.error, guess.error);
      dest.chain = std::max(dest.chain, chain_ + (b.monoid != kNone ? terms : 0));
      dest.epsilon = std::max({dest.epsilon, epsilon_, Epsilon(p_.buffers[dests[r].buffer].dtype)});
    }
  }

  static Guess Reduced(Monoid::Kind kind, Guess term, double n, double epsilon) {
    if (kind == Monoid::Kind::kProduct)
      return {term.magnitude, n * (term.error + epsilon * term.magnitude), term.positive};
    if (kind != Monoid::Kind::kSum && kind != Monoid::Kind::kCustom) return term;
    const double root = std::sqrt(n), rounding = epsilon * term.magnitude * n;
    if (!term.positive) return {term.magnitude * root, term.error * root + rounding, false};
    // Adds the error of terms that are small compared to the running sum: they lose their last digits, all in one
    // direction.
    const double lost = epsilon * n * n / 256;
    return {term.magnitude * n, term.error * n + rounding * (1 + root / 4 + lost), true};
  }

  static Guess Sum(const Guess& a, const Guess& b, double epsilon) {
    const double magnitude = a.magnitude + b.magnitude;
    return {magnitude, a.error + b.error + epsilon * magnitude, a.positive && b.positive};
  }

  // True if both are one expression, or load the same element, as the two factors of a square do. False does not mean
  // that they differ.
  bool Same(Id x, Id y) const {
    const Expr &a = p_.exprs[x], &b = p_.exprs[y];
    if (x == y) return true;
    if (a.op != Op::kLoad || b.op != Op::kLoad || a.AsLoad().buffer != b.AsLoad().buffer) return false;
    const auto at = p_.List(a.AsLoad().index), other = p_.List(b.AsLoad().index);
    return std::equal(at.begin(), at.end(), other.begin(), other.end(), [&](Id m, Id n) {
      return p_.marks[m].offset == p_.marks[n].offset &&
             p_.Splits(p_.marks[m].splits) == p_.Splits(p_.marks[n].splits);
    });
  }

  Guess Of(Id id) {
    if (known_[id]) return values_[id];
    const Guess guess = Make(p_.exprs[id]);
    known_[id] = true;
    return values_[id] = guess;
  }

  Guess Make(const Expr& e) {
    if (BufferRead(e) != kNone) {
      const Carried& from = buffers_[BufferRead(e)];
      chain_ = std::max(chain_, from.chain);
      epsilon_ = std::max(epsilon_, from.epsilon);
      return from.guess;
    }
    if (e.op == Op::kConstant) {
      const double value =
          IsFloat(e.dtype) ? absl::bit_cast<double>(e.Number()) : static_cast<double>(e.Number());
      return {std::isfinite(value) ? std::abs(value) : 0, 0, !(value < 0)};
    }
    if (Arity(e.op) == 0) return {1, 0, true};
    const double epsilon = Epsilon(e.dtype);
    Guess guesses[3];
    for (size_t i = 0; i < e.Operands().size(); ++i) guesses[i] = Of(e.Operands()[i]);
    const auto& [a, b, c] = guesses;
    const auto rounded = [&](double magnitude, double error, bool positive) {
      return Guess{magnitude, error + epsilon * magnitude, positive};
    };
    const auto product = [&] {
      return rounded(a.magnitude * b.magnitude, a.magnitude * b.error + b.magnitude * a.error,
                     Same(e.operand(0), e.operand(1)) || (a.positive && b.positive));
    };
    const auto either = [](const Guess& x, const Guess& y, bool positive) {
      return Guess{std::max(x.magnitude, y.magnitude), std::max(x.error, y.error), positive};
    };
    switch (e.op) {
      case Op::kAdd:
        return Sum(a, b, epsilon);
      case Op::kSub: {
        Guess difference = Sum(a, b, epsilon);
        difference.positive = false;
        return difference;
      }
      case Op::kMul:
        return product();
      case Op::kFma:
        return Sum(product(), c, epsilon);
      case Op::kDiv: {
        const double magnitude = b.magnitude > 0 ? a.magnitude / b.magnitude : a.magnitude;
        return rounded(magnitude, magnitude * (a.Relative() + b.Relative()), a.positive && b.positive);
      }
      case Op::kSelect:
        return either(b, c, b.positive && c.positive);
      case Op::kWithin:
      case Op::kMin:
      case Op::kMinNum:
        return either(a, b, a.positive && b.positive);
      case Op::kMax:
      case Op::kMaxNum:
        return either(a, b, a.positive || b.positive);
      case Op::kExp:
      case Op::kExp2: {
        const double magnitude = std::exp(std::min(a.magnitude, 3.0));
        return rounded(magnitude, magnitude * (a.error + 2 * epsilon), true);
      }
      case Op::kSinh:
      case Op::kCosh: {
        const double magnitude = std::exp(std::min(a.magnitude, 3.0));
        return rounded(magnitude, magnitude * (a.error + 2 * epsilon), e.op == Op::kCosh);
      }
      case Op::kAsin:  // these functions are steep at the ends of their domain
      case Op::kAcos:
      case Op::kAcosh:
      case Op::kAtanh:
        return rounded(std::max(2.0, a.magnitude), std::sqrt(a.error) + 2 * epsilon, false);
      case Op::kErfc:
        return rounded(2, 2 * a.error + 2 * epsilon, true);
      case Op::kSqrt:
      case Op::kRsqrt:
      case Op::kCbrt:
      case Op::kPow: {
        const double magnitude = e.op == Op::kRsqrt ? 1 / std::sqrt(std::max(a.magnitude, 1e-3))
                                                    : std::max(1.0, std::sqrt(a.magnitude));
        return rounded(magnitude, magnitude * (2 * a.Relative() + 2 * epsilon), true);
      }
      case Op::kAbs:
        return {a.magnitude, a.error, true};
      case Op::kTanh:
      case Op::kErf:
      case Op::kSin:
      case Op::kCos:
      case Op::kAtan:
      case Op::kAsinh:
        return rounded(std::min(1.0, a.magnitude), a.error + 2 * epsilon, false);
      default:
        // Estimates casts and all other operations by their largest operand: the same magnitude, and twice the largest
        // error plus a rounding.
        return rounded(std::max({a.magnitude, b.magnitude, c.magnitude}),
                       2 * std::max({a.error, b.error, c.error}), a.positive);
    }
  }

  const Program& p_;
  std::vector<Carried> buffers_;
  std::vector<bool> known_;
  std::vector<Guess> values_;
  int64_t chain_ = 0;
  double epsilon_ = 0;
};

}  // namespace

std::vector<OutputTolerance> ToleranceFor(const Program& original) { return Estimator(original).Run(); }

}  // namespace kiln
