// Divisions and shifts by tensors: trial data lie where the program is defined, and every schedule computes
// the same.
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/analysis/trial_data.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// %y is computed of %a and %b.
std::string Text(const std::string& type, int size, const std::string& body) {
  constexpr absl::string_view kText = R"(
#m = affine_map<(i) -> (i)>
func.func @main(%x: tensor<SIZExTYPE>, %z: tensor<SIZExTYPE>) -> tensor<SIZExTYPE> {
  %e = tensor.empty() : tensor<SIZExTYPE>
  %r = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
      ins(%x, %z : tensor<SIZExTYPE>, tensor<SIZExTYPE>) outs(%e : tensor<SIZExTYPE>) {
  ^bb0(%a: TYPE, %b: TYPE, %o: TYPE):
    %one = arith.constant 1 : TYPE
    %three = arith.constant 3 : TYPE
    BODY
    linalg.yield %y : TYPE
  } -> tensor<SIZExTYPE>
  return %r : tensor<SIZExTYPE>
})";
  return absl::StrReplaceAll(absl::StrReplaceAll(kText, {{"BODY", body}}),
                             {{"SIZE", absl::StrCat(size)}, {"TYPE", type}});
}

std::optional<ValueRange> RangeOfDivisor(const std::string& type, const std::string& body) {
  const Program p = ImportLinalg(Text(type, 7, body), "t")->program;
  return TrialRanges(p).value()[1];
}

TEST(FieldDivision, DataOfADivisorAreNotZeroAndThoseOfAnAmountBelowTheWidth) {
  const std::optional<ValueRange> divisor = RangeOfDivisor("i8", "%y = arith.divsi %a, %b : TYPE");
  ASSERT_TRUE(divisor.has_value());
  EXPECT_TRUE(divisor->Within(-8, 7));
  EXPECT_FALSE(divisor->MayBe(0));
  EXPECT_TRUE(divisor->MayBe(-1));
  EXPECT_TRUE(RangeOfDivisor("i8", "%y = arith.shli %a, %b : TYPE")->Within(0, 7));
  // Amounts from 0 to 7 are below the width, and a number with its last bit set is not zero.
  EXPECT_FALSE(RangeOfDivisor("i32", "%y = arith.shrui %a, %b : TYPE").has_value());
  EXPECT_FALSE(
      RangeOfDivisor("i32", "%d = arith.ori %b, %one : TYPE\n%y = arith.remsi %a, %d : TYPE").has_value());
  EXPECT_FALSE(
      RangeOfDivisor("i32", "%d = arith.muli %b, %three : TYPE\n%y = arith.divui %a, %d : TYPE")->MayBe(0));
}

TEST(FieldDivision, AProgramThatIsDefinedNowhereIsNamed) {
  const Program p =
      ImportLinalg(Text("i32", 7, "%d = arith.subi %b, %b : TYPE\n%y = arith.divsi %a, %d : TYPE"), "t")
          ->program;
  const auto ranges = TrialRanges(p);
  EXPECT_EQ(ranges.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(ranges.status().message()),
              HasSubstr("no trial data are known for which it is defined"));
}

TEST(FieldDivision, RangesAreThoseOfTheDrawnData) {
  for (const DType type : {DType::kI1, DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64}) {
    const ValueRange any = UnrestrictedTrialData(type);
    for (int i = 0; i < 1000; ++i) {
      const auto value = static_cast<int64_t>(InputValue(3, 0, std::string(ToString(type)), i));
      EXPECT_TRUE(any.MayBe(value)) << ToString(type) << " " << value;
    }
  }
}

TEST(FieldDivision, OneHundredProgramsComputeWhatTheirFilesSay) {
  std::mt19937 random(13);
  const auto pick = [&](const std::vector<std::string>& list) { return list[random() % list.size()]; };
  for (int n = 0; n < 100; ++n) {
    const std::string type = pick({"i8", "i32", "i64"});
    const bool shifts = n % 3 == 0;
    const std::string op = shifts ? pick({"shli", "shrsi", "shrui"})
                                  : pick({"divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui"});
    const std::string operand =
        shifts ? pick({"%d = arith.andi %b, %three : TYPE", "%d = arith.maxsi %b, %one : TYPE"})
               : pick({"%d = arith.muli %b, %three : TYPE", "%d = arith.ori %b, %one : TYPE",
                       "%d = arith.maxsi %b, %three : TYPE",
                       "%d = arith.xori %b, %b : TYPE\n%f = arith.addi %d, %one : TYPE"});
    const std::string divisor = random() % 2 == 0 ? "%b" : absl::StrContains(operand, "%f") ? "%f" : "%d";
    const std::string body = absl::StrCat(operand, "\n%q = arith.addi %a, %three : TYPE\n%y = arith.", op,
                                          " %q, ", divisor, " : TYPE");
    const int size = std::vector<int>{1, 7, 16, 211}[random() % 4];
    ExpectRight(Text(type, size, body),
                {.name = absl::StrCat("division ", n), .seed = static_cast<uint64_t>(n), .traces = 1});
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace kiln
