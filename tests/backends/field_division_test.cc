// Tests programs with divisions, shifts and gathers by values of tensors: Kiln draws trial data for which the program
// is defined (no division by zero), and every schedule computes the same.
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/reference/trial_data.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Returns MLIR text of a program on two tensors of this size and type. `body` computes the element %y of the result
// from their elements %a and %b.
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
  // Two programs whose trial data need no limits: the second operand is drawn from 0 to 7, which are valid shift
  // amounts, and a divisor with its last bit set is never zero. In the third program, the divisor is limited to values
  // that are not zero.
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

// Returns MLIR text of a program on five tensors of 64 elements. `body` computes the element %y of the result from
// their elements %a0 to %a4.
std::string OfFive(const std::string& type, const std::string& body) {
  constexpr absl::string_view kText = R"(
#m = affine_map<(i) -> (i)>
func.func @main(%0: tensor<64xTYPE>, %1: tensor<64xTYPE>, %2: tensor<64xTYPE>, %3: tensor<64xTYPE>,
                %4: tensor<64xTYPE>) -> tensor<64xTYPE> {
  %e = tensor.empty() : tensor<64xTYPE>
  %r = linalg.generic {indexing_maps = [#m, #m, #m, #m, #m, #m], iterator_types = ["parallel"]}
      ins(%0, %1, %2, %3, %4 : tensor<64xTYPE>, tensor<64xTYPE>, tensor<64xTYPE>, tensor<64xTYPE>,
          tensor<64xTYPE>) outs(%e : tensor<64xTYPE>) {
  ^bb0(%a0: TYPE, %a1: TYPE, %a2: TYPE, %a3: TYPE, %a4: TYPE, %o: TYPE):
    %one = arith.constant 1 : TYPE
    %two = arith.constant 2 : TYPE
    %three = arith.constant 3 : TYPE
    BODY
    linalg.yield %y : TYPE
  } -> tensor<64xTYPE>
  return %r : tensor<64xTYPE>
})";
  return absl::StrReplaceAll(absl::StrReplaceAll(kText, {{"BODY", body}}), {{"TYPE", type}});
}

// Imports the MLIR text, draws trial data, and expects that the program is defined for them: it divides by no zero,
// gathers within bounds, and its assertions hold.
void ExpectDefined(const std::string& text, uint64_t seed) {
  const auto imported = ImportLinalg(text, "t");
  ASSERT_TRUE(imported.ok()) << imported.status() << text;
  const Program& p = imported->program;
  const auto outputs = Run(p, DrawInputs(p, seed), {.only_defined = true, .only_within = true});
  EXPECT_TRUE(outputs.ok()) << outputs.status() << text;
}

TEST(FieldDivision, ConditionsOverThreeInputsAndMoreAreMetTogether) {
  const char* const kBodies[] = {
      // Bodies in which three inputs occur in one divisor, or in two divisors.
      "%d = arith.subi %a1, %a2 : TYPE\n%c = arith.subi %d, %a3 : TYPE\n%y = arith.divsi %a0, %c : TYPE",
      "%d = arith.muli %a1, %a2 : TYPE\n%c = arith.muli %d, %a3 : TYPE\n%y = arith.remui %a0, %c : TYPE",
      "%d = arith.subi %a1, %a2 : TYPE\n%c = arith.subi %a2, %a3 : TYPE\n"
      "%q = arith.divsi %a0, %d : TYPE\n%y = arith.remsi %q, %c : TYPE",
      // A body in which a divisor and a shift amount depend on the same input.
      "%d = arith.subi %a1, %a2 : TYPE\n%q = arith.divui %a0, %d : TYPE\n%y = arith.shli %q, %a1 : TYPE",
      // A body in which four inputs are divisors.
      "%p = arith.divsi %a0, %a1 : TYPE\n%q = arith.divsi %p, %a2 : TYPE\n%s = arith.remsi %q, %a3 : TYPE\n"
      "%y = arith.divsi %s, %a4 : TYPE",
      // Bodies with divisors of which interval arithmetic cannot tell whether they may be zero.
      "%d = arith.xori %a1, %a2 : TYPE\n%c = arith.xori %d, %a3 : TYPE\n%y = arith.divsi %a0, %c : TYPE",
      "%d = arith.muli %a1, %two : TYPE\n%c = arith.subi %d, %three : TYPE\n%y = arith.divsi %a0, %c : TYPE",
      "%d = arith.muli %a1, %a1 : TYPE\n%c = arith.addi %d, %one : TYPE\n%f = arith.subi %c, %a2 : TYPE\n"
      "%g = arith.subi %f, %a3 : TYPE\n%y = arith.divsi %a0, %g : TYPE"};
  for (const char* body : kBodies)
    for (const char* type : {"i8", "i32", "i64"}) ExpectDefined(OfFive(type, body), 1);
}

// MLIR text of a gather from a table with TABLE elements. BODY computes the index %c of each of 64 results from the
// elements %a and %b of two i32 tensors.
constexpr absl::string_view kGather = R"(
#m = affine_map<(i) -> (i)>
func.func @main(%table: tensor<TABLExf32>, %i: tensor<64xi32>, %k: tensor<64xi32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
      ins(%i, %k : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    BODY
    %at = arith.index_cast %c : i32 to index
    %v = tensor.extract %table[%at] : tensor<TABLExf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
})";

TEST(FieldDivision, IndicesOfGathersAreWithinBounds) {
  const char* const kBodies[] = {"%c = arith.addi %a, %b : i32", "%c = arith.subi %a, %b : i32",
                                 "%d = arith.shli %b, %a : i32\n%c = arith.divui %d, %a : i32"};
  for (const char* table : {"3", "5", "30"}) {
    for (const char* body : kBodies)
      ExpectRight(absl::StrReplaceAll(kGather, {{"BODY", body}, {"TABLE", table}}), {.name = body});
  }
}

TEST(FieldDivision, IndicesThatTheProgramClampsRestrictNothing) {
  const std::string clamped =
      absl::StrReplaceAll(kGather, {{"BODY",
                                     "%zero = arith.constant 0 : i32\n%two = arith.constant 2 : i32\n"
                                     "%s = arith.subi %a, %b : i32\n%d = arith.maxsi %s, %zero : i32\n"
                                     "%c = arith.minsi %d, %two : i32"},
                                    {"TABLE", "3"}});
  const TrialData ranges = TrialRanges(ImportLinalg(clamped, "t")->program).value();
  for (const auto& range : ranges) EXPECT_FALSE(range.has_value());
}

TEST(FieldDivision, AssertionsHoldForTheData) {
  const char* const kBodies[] = {
      "%c = arith.cmpi slt, %a1, %three : TYPE\ncf.assert %c, \"small\"\n%y = arith.addi %a0, %a1 : TYPE",
      "%c = arith.cmpi sgt, %a1, %a2 : TYPE\ncf.assert %c, \"order\"\n%d = arith.cmpi sgt, %a2, %a3 : TYPE\n"
      "cf.assert %d, \"order\"\n%y = arith.subi %a0, %a1 : TYPE",
      "%d = arith.remui %a1, %two : TYPE\n%c = arith.cmpi eq, %d, %one : TYPE\ncf.assert %c, \"odd\"\n"
      "%y = arith.addi %a0, %d : TYPE"};
  for (const char* body : kBodies)
    for (const char* type : {"i8", "i32"}) ExpectDefined(OfFive(type, body), 3);
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
