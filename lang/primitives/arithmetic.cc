// multiply, add, divide, subtract, minimum, part: arithmetic on sampled values and numbers. Each is a step of the
// trace, so replay computes its result again for new draws.
#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;

absl::Status TooLarge(const Call& call) {
  return absl::FailedPreconditionError(
      absl::StrCat("the numbers ", absl::StrJoin(call.numbers(0), " "), " give more than 2^40"));
}

absl::Status Multiply(Call& call) {
  int64_t product = 1;
  for (const int64_t number : call.numbers(0)) {
    if (number < 0) return absl::FailedPreconditionError(absl::StrCat(number, " is negative"));
    if (number > 0 && product > kLargest / number) return TooLarge(call);
    product *= number;
  }
  call.Return(Decision{product});
  return absl::OkStatus();
}

absl::Status Add(Call& call) {
  int64_t sum = 0;
  for (const int64_t number : call.numbers(0)) {
    if (number < 0) return absl::FailedPreconditionError(absl::StrCat(number, " is negative"));
    if (number > kLargest - sum) return TooLarge(call);
    sum += number;
  }
  call.Return(Decision{sum});
  return absl::OkStatus();
}

// Returns the two numbers of a step. kFailedPrecondition, with `what` as its name, unless it has two numbers of at
// least 0.
absl::StatusOr<std::pair<int64_t, int64_t>> TwoNumbers(const Call& call, absl::string_view what) {
  const auto numbers = call.numbers(0);
  if (numbers.size() == 2 && numbers[0] >= 0 && numbers[1] >= 0) return std::pair(numbers[0], numbers[1]);
  return absl::FailedPreconditionError(
      absl::StrCat(what, " takes two numbers of at least 0, not ", absl::StrJoin(numbers, " ")));
}

absl::Status Divide(Call& call) {
  const auto numbers = TwoNumbers(call, "divide");
  if (!numbers.ok()) return numbers.status();
  if (numbers->second == 0) return absl::FailedPreconditionError(absl::StrCat(numbers->first, " / 0"));
  call.Return(Decision{numbers->first / numbers->second});
  return absl::OkStatus();
}

absl::Status Subtract(Call& call) {
  const auto numbers = TwoNumbers(call, "subtract");
  if (!numbers.ok()) return numbers.status();
  call.Return(Decision{std::max<int64_t>(0, numbers->first - numbers->second)});
  return absl::OkStatus();
}

absl::Status Minimum(Call& call) {
  const auto numbers = call.numbers(0);
  if (numbers.empty()) return absl::FailedPreconditionError("minimum takes at least one number");
  call.Return(Decision{*std::min_element(numbers.begin(), numbers.end())});
  return absl::OkStatus();
}

absl::Status Part(Call& call) {
  const auto numbers = call.numbers(0);
  const int64_t size = static_cast<int64_t>(numbers.size()),
                at = call.Int(0) < 0 ? call.Int(0) + size : call.Int(0);
  if (at < 0 || at >= size) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no number ", call.Int(0), " of ", absl::StrJoin(numbers, " ")));
  }
  call.Return(Decision{numbers[at]});
  return absl::OkStatus();
}

const Primitive kMultiply{
    .name = "multiply",
    .operands = {{"numbers", OperandKind::kFactor, true}},
    .attributes = {},
    .result = HandleKind::kValue,
    .result_names = "product",
    .reads_only = true,
    .doc =
        "Returns the product of the numbers and of all numbers of the sampled values. Does not apply "
        "beyond 2^40.",
    .apply = Multiply,
};
KILN_PRIMITIVE(kMultiply);

const Primitive kAdd{
    .name = "add",
    .operands = {{"numbers", OperandKind::kFactor, true}},
    .attributes = {},
    .result = HandleKind::kValue,
    .result_names = "sum",
    .reads_only = true,
    .doc =
        "Returns the sum of the numbers and of all numbers of the sampled values. Does not apply beyond "
        "2^40.",
    .apply = Add,
};
KILN_PRIMITIVE(kAdd);

const Primitive kDivide{
    .name = "divide",
    .operands = {{"numbers", OperandKind::kFactor, true}},
    .attributes = {},
    .result = HandleKind::kValue,
    .result_names = "quotient",
    .reads_only = true,
    .doc =
        "Returns the first of two numbers divided by the second, rounded down. Does not apply to 0 as divisor.",
    .apply = Divide,
};
KILN_PRIMITIVE(kDivide);

const Primitive kSubtract{
    .name = "subtract",
    .operands = {{"numbers", OperandKind::kFactor, true}},
    .attributes = {},
    .result = HandleKind::kValue,
    .result_names = "difference",
    .reads_only = true,
    .doc = "Returns the first of two numbers less the second, or 0 if that is negative.",
    .apply = Subtract,
};
KILN_PRIMITIVE(kSubtract);

const Primitive kMinimum{
    .name = "minimum",
    .operands = {{"numbers", OperandKind::kFactor, true}},
    .attributes = {},
    .result = HandleKind::kValue,
    .result_names = "least",
    .reads_only = true,
    .doc = "Returns the least of the numbers and of all numbers of the sampled values.",
    .apply = Minimum,
};
KILN_PRIMITIVE(kMinimum);

const Primitive kPart{
    .name = "part",
    .operands = {{"value", OperandKind::kFactor}},
    .attributes = {{"index", int64_t{0}}},
    .result = HandleKind::kValue,
    .result_names = "number",
    .reads_only = true,
    .doc =
        "Returns one number of a sampled tile by its position; -1 is the last. Does not apply beyond the "
        "end of the tile.",
    .apply = Part,
};
KILN_PRIMITIVE(kPart);

}  // namespace
}  // namespace kiln
