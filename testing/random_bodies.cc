#include "testing/random_bodies.h"

#include <iterator>

namespace kiln {
namespace {

class Maker {
 public:
  Maker(Builder& b, Dice& dice, DType type, std::vector<Id> values, absl::FunctionRef<Id()> input)
      : b_(b), dice_(dice), type_(type), values_(std::move(values)), input_(input) {}

  Id Make() {
    for (int64_t steps = 1 + dice_.Below(4); steps > 0; --steps)
      values_.push_back(IsFloat(type_) || dice_.Flip(0.4) ? Step() : IntegerStep());
    return values_.back();
  }

 private:
  Id Any() {
    return dice_.Flip(0.5) ? values_[dice_.Below(static_cast<int64_t>(values_.size()))] : values_.back();
  }
  Id Number(int64_t value) {
    if (!IsFloat(type_)) return b_.Integer(type_, type_ == DType::kU8 ? value & 255 : value);
    return b_.Float(type_, value == 0 && dice_.Flip(0.5) ? -0.0 : static_cast<double>(value));
  }
  Id Apply(Op op, Id a, Id b = kNone) { return b_.Make(op, type_, a, b); }
  Op OneOf(std::initializer_list<Op> ops) {
    return std::data(ops)[dice_.Below(static_cast<int64_t>(ops.size()))];
  }

  Id Step() {
    const Id x = Any();
    switch (dice_.Below(7)) {
      case 0:
        return b_.Add(b_.Mul(x, Number(dice_.Below(4) - 1)), x);
      case 1:
        return Apply(OneOf({Op::kAdd, Op::kSub}), x, Any());
      case 2:
        return Apply(OneOf({Op::kMax, Op::kMin}), x, Any());
      case 3:
        return Apply(OneOf({Op::kNeg, Op::kAbs}), x);
      case 4:
        return b_.Mul(x, Number(dice_.Below(4) - 1));
      case 5:
        return b_.Add(x, Number(dice_.Below(3)));
      default: {
        const Op order = OneOf({Op::kCmpLt, Op::kCmpGe, Op::kCmpEq, Op::kCmpULt});
        return b_.Make(Op::kSelect, type_, b_.Make(order, DType::kI1, x, Any()), Any(), Any());
      }
    }
  }

  Id IntegerStep() {
    const Id x = Any();
    switch (dice_.Below(6)) {
      case 0:
        return Apply(OneOf({Op::kDiv, Op::kRem, Op::kFloorDiv, Op::kCeilDiv}), x, Divisor());
      case 1:
        return Apply(OneOf({Op::kDivU, Op::kRemU}), x, Divisor());
      case 2:
        return Apply(OneOf({Op::kShl, Op::kShr, Op::kShrU}), x, Amount());
      case 3:
        return Apply(OneOf({Op::kAnd, Op::kOr, Op::kXor}), x, Any());
      case 4:
        return Apply(OneOf({Op::kNot, Op::kCtpop, Op::kCtlz, Op::kCttz}), x);
      default: {
        constexpr DType kOthers[] = {DType::kI16, DType::kI8, DType::kU8, DType::kI32, DType::kI64};
        const DType other = kOthers[dice_.Below(std::size(kOthers))];
        return Apply(OneOf({Op::kCast, Op::kCastUnsigned}),
                     b_.Make(OneOf({Op::kCast, Op::kCastUnsigned}), other, x));
      }
    }
  }

  Id Divisor() {
    constexpr int64_t kNumbers[] = {1, 2, 3, 5, 8, -2, -1};
    switch (dice_.Below(4)) {
      case 0:
        return Number(kNumbers[dice_.Below(std::size(kNumbers))]);
      case 1:
        return input_();
      case 2:
        return Apply(Op::kOr, Any(), Number(1));
      default:
        return Apply(Op::kMax, Any(), Number(1));
    }
  }
  Id Amount() {
    switch (dice_.Below(3)) {
      case 0:
        return Number(dice_.Below(8 * SizeOf(type_)));
      case 1:
        return input_();
      default:
        return Apply(Op::kAnd, Any(), Number(7));
    }
  }

  Builder& b_;
  Dice& dice_;
  const DType type_;
  std::vector<Id> values_;
  const absl::FunctionRef<Id()> input_;
};

}  // namespace

Id RandomBody(Builder& b, Dice& dice, DType type, std::vector<Id> values, absl::FunctionRef<Id()> input) {
  return Maker(b, dice, type, std::move(values), input).Make();
}

}  // namespace kiln
