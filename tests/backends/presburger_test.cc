// Tests PresburgerProver, which decides questions about integer relations with MLIR's Presburger library: on random
// questions, it agrees with brute force and with the library isl.
#include "backends/prove/presburger.h"

#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/set.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/support/random_points.h"
#include "validator/proof/enumerate.h"

namespace kiln::proof {
namespace {

std::string TextOf(const IndexSum& sum) {
  std::string text = absl::StrCat(sum.offset);
  for (const IndexSplit& s : sum.splits) {
    std::string digit = absl::StrCat("v", s.source.id);
    if (s.lower != 1) digit = absl::StrCat("floor(", digit, "/", s.lower, ")");
    if (s.extent != 0) digit = absl::StrCat("(", digit, ") mod ", s.extent);
    absl::StrAppend(&text, " + ", s.scale, " * (", digit, ")");
  }
  return text;
}

// Returns the set of all results of a relation as a set of the library isl.
isl_set* SetOf(isl_ctx* context, const Relation& r) {
  std::vector<std::string> results, conditions, variables;
  for (size_t i = 0; i < r.results.size(); ++i) {
    results.push_back(absl::StrCat("r", i));
    conditions.push_back(absl::StrCat("r", i, " = ", TextOf(r.results[i])));
  }
  for (size_t v = 0; v < r.points.variables.size(); ++v) {
    variables.push_back(absl::StrCat("v", v));
    conditions.push_back(absl::StrCat("0 <= v", v, " < ", r.points.variables[v].extent));
    if (r.points.variables[v].value)
      conditions.push_back(absl::StrCat("v", v, " = ", TextOf(*r.points.variables[v].value)));
  }
  for (const Condition& c : r.points.conditions)
    conditions.push_back(absl::StrCat("0 <= ", TextOf(c.value), " < ", c.extent));
  const std::string text =
      absl::StrCat("{ [", absl::StrJoin(results, ", "), "] : exists ", absl::StrJoin(variables, ", "), " : ",
                   absl::StrJoin(conditions, " and "), " }");
  return isl_set_read_from_str(context, text.c_str());
}

Answer AnswerOf(bool yes) { return yes ? Answer::kYes : Answer::kNo; }

TEST(Presburger, AgreesWithBruteForceAndIsl) {
  RandomDice dice(Engine({17}));
  EnumeratingProver brute(1 << 20);
  PresburgerProver presburger({.limit = absl::Milliseconds(200)});
  isl_ctx* const context = isl_ctx_alloc();
  int decided = 0, all = 0;
  for (int i = 0; i < 200; ++i) {
    const RandomQuestion q = DrawQuestion(dice);
    SCOPED_TRACE(ToString(q));
    const Answer empty = brute.Empty(q.f.points).answer, covers = brute.Covers(q.f, q.g).answer,
                 determines = brute.Determines({q.f}, {q.variables}).answer;
    isl_set *f = SetOf(context, q.f), *g = SetOf(context, q.g[0]);
    for (size_t j = 1; j < q.g.size(); ++j) g = isl_set_union(g, SetOf(context, q.g[j]));
    EXPECT_EQ(AnswerOf(isl_set_is_empty(f) == isl_bool_true), empty);
    EXPECT_EQ(AnswerOf(isl_set_is_subset(f, g) == isl_bool_true), covers);
    isl_set_free(f);
    isl_set_free(g);
    const std::pair<Answer, Answer> pairs[] = {
        {presburger.Empty(q.f.points).answer, empty},
        {presburger.Covers(q.f, q.g).answer, covers},
        {presburger.Determines({q.f}, {q.variables}).answer, determines}};
    for (const auto& [found, wanted] : pairs) {
      ++all;
      if (found == Answer::kUnknown) continue;
      ++decided;
      EXPECT_EQ(found, wanted);
    }
  }
  isl_ctx_free(context);
  EXPECT_GT(decided, all * 9 / 10);
}

TEST(Presburger, ShowsAPoint) {
  Relation all, even;
  all.results = {all.points.Add(1 << 20)};
  even.results = {even.points.Add(1 << 19) * 2};
  const Reply reply = PresburgerProver().Covers(all, {even});
  EXPECT_EQ(reply.answer, Answer::kNo);
  ASSERT_EQ(reply.point.size(), 1);
  EXPECT_EQ(reply.point[0] % 2, 1);
}

TEST(Presburger, DecidesWhatTheAlgebraDoesNot) {
  // Asks whether the sums 5 * i + 3 * j take every value from 8 on, which is true.
  Relation all, sums;
  all.results = {all.points.Add(1 << 20) + IndexSum::Constant(8)};
  sums.results = {sums.points.Add(1 << 20) * 5 + sums.points.Add(1 << 20) * 3};
  EXPECT_EQ(PresburgerProver().Covers(all, {sums}).answer, Answer::kYes);
}

}  // namespace
}  // namespace kiln::proof
