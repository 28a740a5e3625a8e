#include "trace/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/support/golden.h"
#include "tests/trace/matmul.h"

namespace kiln {
namespace {

TEST(TraceText, HasOneStepPerLine) {
  ExpectGolden("trace/matmul.trace", Print(Draw(TileMatmul, Matmul(), 7)));
}

TEST(TraceText, PrintsWhatParses) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Trace trace = Draw(TileMatmul, Matmul(), seed, static_cast<int>(seed % 2));
    const absl::StatusOr<Trace> parsed = ParseTrace(Print(trace));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, trace);
    EXPECT_EQ(Hash(*parsed), Hash(trace));
    EXPECT_EQ(Print(*parsed), Print(trace));
  }
}

TEST(TraceText, NumbersAndTextKeepEveryBit) {
  const std::string lines =
      "choice \"a \\\"quoted\\\" name\" 2 of 3\n"
      "b0 = get-block \"\\ttab \\\\ \\\" [x] \\303\\244 end\"\n"
      "v0 = sample-categorical values=[-9223372036854775808 9223372036854775807 0] weights=[0.1 1e-300 "
      "0.30000000000000004] @\"two words\" -> 0\n"
      "v1 = sample-categorical values=[1 2] @a/b#1 -> 2\n";
  const Trace trace = Parsed(lines);
  EXPECT_EQ(std::get<std::string>(trace.steps[0].attributes[0]), "\ttab \\ \" [x] \303\244 end");
  EXPECT_EQ(std::get<std::vector<double>>(trace.steps[1].attributes[1])[2], 0.1 + 0.2);
  EXPECT_EQ(std::get<std::vector<int64_t>>(trace.steps[1].attributes[0])[0], INT64_MIN);
  EXPECT_EQ(trace.steps[1].site, "two words");
  EXPECT_EQ(trace.choices[0].name, "a \"quoted\" name");
  EXPECT_EQ(*ParseTrace(Print(trace)), trace);
}

TEST(TraceText, TheFirstVersionIsReadAndPrintedAsTheSecond) {
  const std::string steps = "v0 = sample-categorical values=[1 2] @a -> 1\n";
  const auto first = ParseTrace(absl::StrCat("kiln.trace v1\n", steps, "rfactor-rows v0\n"));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Print(*first), absl::StrCat("kiln.trace v2\n", steps, "rfactor-lanes v0\n"));
  EXPECT_EQ(*first, *ParseTrace(Print(*first)));
}

TEST(TraceText, MutationIsAOneLineDifference) {
  Trace trace = Parsed("v0 = sample-categorical values=[1 2] @a -> 1\n");
  EXPECT_EQ(Print(trace), "kiln.trace v2\nv0 = sample-categorical values=[1 2] @a -> 1\n");
  trace.steps[0].decision = {2};
  EXPECT_EQ(Print(trace), "kiln.trace v2\nv0 = sample-categorical values=[1 2] @a -> 2\n");
}

TEST(TraceText, CommentsEmptyLinesAndSpacesMeanNothing) {
  const Trace trace = Parsed("\n# a comment\n  b0   =  get-block   \"matmul\"  \n");
  EXPECT_EQ(trace, Parsed("b0 = get-block \"matmul\"\n"));
  EXPECT_EQ(trace, Parsed("b0 = get-block name=\"matmul\""));
}

TEST(TraceText, ErrorsSayWhereWhatAndWhatElse) {
  const std::vector<std::string> texts = {
      "",
      "kiln.trace v3\n",
      "kiln.trace v2\nb0 = get-blok \"matmul\"\n",
      "kiln.trace v2\nfrobnicate-everything\n",
      "kiln.trace v2\nb1 = get-block \"matmul\"\n",
      "kiln.trace v2\nl0 = get-block \"matmul\"\n",
      "kiln.trace v2\nb0, = get-block \"matmul\"\n",
      "kiln.trace v2\nb0 get-block \"matmul\"\n",
      "kiln.trace v2\nb0 = get-block \"matmul\nl0 = get-loops b0\n",
      "kiln.trace v2\nb0 = get-block nam=\"matmul\"\n",
      "kiln.trace v2\nb0 = get-block \"a\" name=\"b\"\n",
      "kiln.trace v2\nb0 = get-block \"a\"\nl0, l1 = get-loops b1\n",
      "kiln.trace v2\nb0 = get-block \"a\"\nl0, l1 = get-loops l0\n",
      "kiln.trace v2\nb0 = get-block \"a\"\nl0 = get-loops\n",
      "kiln.trace v2\nb0 = get-block \"a\"\nl0 = get-loops b0 b0\n",
      "kiln.trace v2\nb0 = get-block \"a\"\nl0 = get-loops b0\nv0 = sample-perfect-tile l0 n=four @i -> 1\n",
      "kiln.trace v2\nb0 = get-block \"a\"\nl0 = get-loops b0\nv0 = sample-perfect-tile l0 -> 1 2\n",
      "kiln.trace v2\nv0 = sample-categorical values=[1 x] @a -> 1\n",
      "kiln.trace v2\nv0 = sample-categorical values=[1 2] @a -> one\n",
      "kiln.trace v2\nv0 = sample-categorical values=[1 2] @a ->\n",
      "kiln.trace v2\nv0 = sample-categorical values=[1 2] @a\nv1 = sample-categorical values=[1 2] @a\n",
      "kiln.trace v2\nb0 = get-block \"a\" @site\n",
      "kiln.trace v2\nb0 = get-block \"a\" -> 1\n",
      "kiln.trace v2\nchoice \"c\" 3 of 3\n",
      "kiln.trace v2\nchoice c 0 of 3\n",
      "kiln.trace v2\nb0 = get-block \"a\"\nchoice \"c\" 0 of 3\n",
  };
  std::string messages;
  for (const std::string& text : texts) {
    const absl::StatusOr<Trace> trace = ParseTrace(text);
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_EQ(trace.status().code(), absl::StatusCode::kInvalidArgument);
    absl::StrAppend(&messages, text, text.empty() || text.back() != '\n' ? "\n" : "", "=> ",
                    trace.status().message(), "\n\n");
  }
  ExpectGolden("trace/parse_errors.txt", messages);
}

TEST(TraceHash, SourceLinesAreNoPartOfIt) {
  Trace a = Parsed("b0 = get-block \"a\"\n"), b = a;
  b.steps[0].file = "elsewhere.cc";
  b.steps[0].line = 7;
  EXPECT_EQ(a, b);
  EXPECT_EQ(Hash(a), Hash(b));
}

TEST(TraceHash, EveryOtherPartIs) {
  const std::string base =
      "choice \"c\" 0 of 2\nb0 = get-block \"a\"\nl0, l1 = get-loops b0\nv0 = sample-perfect-tile l0 n=2 @i "
      "-> 2 3\n";
  const Trace trace = Parsed(base);
  const std::vector<std::pair<std::string, std::string>> edits = {{"0 of 2", "1 of 2"},   {"\"a\"", "\"b\""},
                                                                  {"tile l0", "tile l1"}, {"n=2", "n=3"},
                                                                  {"@i", "@j"},           {"2 3", "3 2"}};
  for (const auto& [from, to] : edits) {
    std::string text = base;
    text.replace(text.find(from), from.size(), to);
    EXPECT_NE(Hash(Parsed(text)), Hash(trace)) << to;
    EXPECT_NE(Parsed(text), trace) << to;
  }
  EXPECT_NE(Hash(Parsed("b0 = get-block \"a\"\nl0 = get-loops b0\n")),
            Hash(Parsed("b0 = get-block \"a\"\nl0, l1 = get-loops b0\n")));
}

}  // namespace
}  // namespace kiln
