// Tests docs/reference/formats.md: its grammars equal those in comments of headers, the code reads its examples and
// prints them back, and its lists of names match the code.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lang/program/text_names.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "nlohmann/json.hpp"
#include "search/cost/analytic.h"
#include "search/cost/models.h"
#include "search/cost/random_model.h"
#include "search/cost/xgboost_model.h"
#include "search/database/json_lines.h"
#include "search/database/memory_store.h"
#include "search/database/schema.h"
#include "search/run/round_log.h"
#include "search/run/run_state.h"
#include "tests/support/page.h"
#include "trace/text.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

const std::string kPage = "docs/reference/formats.md";

// Returns the contents of the code blocks ```KIND of docs/reference/formats.md. Expects at least one.
std::vector<std::string> Blocks(const std::string& kind) {
  std::vector<std::string> blocks = Fenced(kPage, kind);
  EXPECT_FALSE(blocks.empty()) << kPage << " has no block ```" << kind;
  return blocks;
}

std::string OnlyBlock(const std::string& kind) {
  const std::vector<std::string> blocks = Blocks(kind);
  EXPECT_EQ(blocks.size(), 1u) << kind;
  return blocks.empty() ? "" : blocks[0];
}

std::string AllOf(const std::string& kind) { return absl::StrJoin(Blocks(kind), ""); }

// Returns the comment at the top of a header, without the indentation of three spaces.
std::string HeaderComment(const std::string& path) {
  std::string text;
  for (absl::string_view line : LinesOf(path)) {
    if (!absl::ConsumePrefix(&line, "//")) break;
    absl::ConsumePrefix(&line, "   ");
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

TEST(FormatsPage, GrammarsAreThoseOfTheHeaders) {
  const std::vector<std::string> grammars = Blocks("kiln-grammar");
  const std::vector<std::string> headers = {"lang/text/text.h", "trace/text.h", "modules/space.h",
                                            "search/cost/forest.h"};
  ASSERT_EQ(grammars.size(), headers.size());
  for (size_t i = 0; i < headers.size(); ++i)
    EXPECT_TRUE(absl::StrContains(HeaderComment(headers[i]), grammars[i])) << headers[i] << "\n"
                                                                           << grammars[i];
}

TEST(FormatsPage, ProgramsAreReadAndPrintedBack) {
  for (const std::string& text : Blocks("kiln-program")) {
    const absl::StatusOr<Program> program = ParseProgram(text);
    ASSERT_TRUE(program.ok()) << program.status() << "\n" << text;
    EXPECT_EQ(ToString(*program), text);
  }
}

// Tests that each word in quotes in the grammar of programs occurs in an example program of the page.
TEST(FormatsPage, ProgramsHaveEveryWordOfTheGrammar) {
  const std::string grammar = Blocks("kiln-grammar")[0], programs = AllOf("kiln-program");
  const std::regex quoted("\"([a-z.]+[a-z0-9]*)\"");
  int words = 0;
  for (std::sregex_iterator it(grammar.begin(), grammar.end(), quoted); it != std::sregex_iterator(); ++it) {
    const std::string word = (*it)[1];
    ++words;
    EXPECT_TRUE(std::regex_search(programs, std::regex("(^|[^a-z])" + word + "([^a-z]|$)"))) << word;
  }
  EXPECT_GT(words, 50);
}

TEST(FormatsPage, ListsEveryNameThatTheGrammarLeavesOpen) {
  const auto listed = [](const char* title, int count, auto&& name) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.emplace_back(name(i));
    return absl::StrCat(title, absl::StrJoin(names, " | "), "\n");
  };
  std::string text = absl::StrCat(
      listed("dtype        = ", kNumDTypes, [](int i) { return ToString(static_cast<DType>(i)); }),
      listed("loop-kind    = ", static_cast<int>(LoopKind::kVirtualThread),
             [](int i) { return ToString(static_cast<LoopKind>(i + 1)); }),
      listed("storage      = ", static_cast<int>(Storage::kWarpgroup) + 1,
             [](int i) { return ToString(static_cast<Storage>(i)); }),
      listed("monoid-name  = ", static_cast<int>(Monoid::Kind::kCustom),
             [](int i) { return ToString(static_cast<Monoid::Kind>(i)); }));
  const std::set<Op> forms_of_their_own = {Op::kGather,       Op::kTuple,   Op::kWithin, Op::kCast,
                                           Op::kCastUnsigned, Op::kBitcast, Op::kAdd,    Op::kSub,
                                           Op::kMul,          Op::kDiv};
  std::vector<std::string> ops;
  for (int i = 0; i < kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    if (Arity(op) > 0 && !forms_of_their_own.contains(op)) ops.emplace_back(ToString(op));
  }
  absl::StrAppend(&text, "op           = ", absl::StrJoin(ops, " | "), "\n");
  std::string page = OnlyBlock("kiln-words");
  page = std::regex_replace(page, std::regex("\n +\\| "), " | ");
  EXPECT_EQ(page, text);
}

TEST(FormatsPage, TracesAreReadAndPrintedBack) {
  for (const std::string& text : Blocks("kiln-trace")) {
    const absl::StatusOr<Trace> trace = ParseTrace(text);
    ASSERT_TRUE(trace.ok()) << trace.status() << "\n" << text;
    EXPECT_EQ(Print(*trace), text);
  }
}

TEST(FormatsPage, TracesOfTheFirstVersionAreReadAndPrintedAsTheSecond) {
  const absl::StatusOr<Trace> trace = ParseTrace(OnlyBlock("kiln-trace-v1"));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(Print(*trace),
            "kiln.trace v2\n"
            "choice \"cpu/non-temporal-stores/copy/non-temporal\" 1 of 2\n"
            "v0 = sample-categorical values=[0 32] @cpu/vectorize-rows/lanes -> 32\n"
            "rfactor-lanes v0\n");
}

TEST(FormatsPage, SpacesAreRead) {
  for (const std::string& text : Blocks("kiln-space")) {
    const absl::StatusOr<Space> space = ParseSpace(absl::StripSuffix(text, "\n"));
    EXPECT_TRUE(space.ok()) << space.status() << "\n" << text;
  }
}

TEST(FormatsPage, RecordsAreReadAndPrintedBack) {
  const std::string text = OnlyBlock("kiln-records");
  const auto store = MakeMemoryStore();
  std::istringstream in(text);
  const auto merged = ImportJson(*store, in, kPage);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->added, 1);
  std::ostringstream out;
  ASSERT_TRUE(ExportJson(*store, out).ok());
  EXPECT_EQ(out.str(), text);
}

// Removes each key of the example records of the page in turn, and expects that the import then fails. Four keys that
// were added later may be missing.
TEST(FormatsPage, EveryKeyOfARecordIsNeeded) {
  const std::string text = OnlyBlock("kiln-records");
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 5u);
  for (size_t i = 1; i < lines.size(); ++i) {
    const Json line = Json::parse(lines[i]);
    for (const auto& [key, value] : line.begin().value().items()) {
      if (std::set<std::string>{"taken", "assumptions", "place", "facts"}.contains(key)) continue;
      Json less = line;
      less.begin().value().erase(key);
      std::vector<std::string> without = lines;
      without[i] = less.dump();
      std::istringstream lacking(absl::StrJoin(without, "\n"));
      EXPECT_FALSE(ImportJson(*MakeMemoryStore(), lacking, kPage).ok()) << line.begin().key() << " " << key;
    }
  }
}

TEST(FormatsPage, TheSchemaIsThatOfANewFile) {
  const std::string path = absl::StrCat(testing::TempDir(), "/formats-page-", getpid(), ".db");
  std::string schema;
  {
    const auto db = sqlite::Connection::Open(path, absl::Seconds(10));
    ASSERT_TRUE(db.ok()) << db.status();
    ASSERT_TRUE(PrepareSchema(**db).ok());
    sqlite::Query query(**db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid");
    while (query.Next()) absl::StrAppend(&schema, query.Text(0), ";\n");
  }
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  const auto words = [](const std::string& text) {  // SQLite keeps the white space of each step
    const std::string apart =
        absl::StrReplaceAll(text, {{"(", " ( "}, {")", " ) "}, {",", " , "}, {";", " ; "}});
    return absl::StrJoin(absl::StrSplit(apart, absl::ByAnyChar(" \n"), absl::SkipEmpty()), " ");
  };
  EXPECT_EQ(words(OnlyBlock("sql")), words(schema));
  const std::string page = absl::StrJoin(LinesOf(kPage), "\n");
  EXPECT_TRUE(absl::StrContains(page, absl::StrCat("schema version ", kSchemaVersion))) << kSchemaVersion;
}

TEST(FormatsPage, ARoundIsWhatIsKeptOfIt) {
  const Json page = Json::parse(OnlyBlock("kiln-round"));
  RoundLog log;
  log.task = "matmul";
  log.batch = 64;
  log.failed = 1;
  log.best_seconds = 0.0021;
  log.rank_accuracy = 0.75;
  log.quiet = {.quiet = 18, .samples = 20};
  log.chains.proposed = 2048;
  log.chains.valid = 1024;
  log.chains.duplicates = 12;
  log.chains.accepted = 256;
  log.chains.temperature = 0.125;
  log.chains.effective = 64.5;
  log.seconds = {1.5, 0.25, 0.25, 3.0, 2.0, 0.5, 0.125};
  EXPECT_EQ(page, Json::parse(ToJson(log))) << ToJson(log);
}

TEST(FormatsPage, ARunStateIsReadAndWrittenBack) {
  nlohmann::json page = nlohmann::json::parse(OnlyBlock("kiln-run-state"));
  const std::string model = page["model"];
  page["model"] = nlohmann::json::binary({model.begin(), model.end()});
  std::string bytes;
  nlohmann::json::to_cbor(page, bytes);
  const auto state = ParseRunState(bytes);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(Serialize(*state), bytes);
}

TEST(FormatsPage, ModelsBeginAsItSays) {
  const std::vector<std::string> heads = Blocks("kiln-model");
  ASSERT_EQ(heads.size(), 3u);
  const auto line = [](absl::string_view text) { return std::string(absl::StripSuffix(text, "\n")); };
  EXPECT_EQ(AnalyticModel().Save().value(), line(heads[0]));
  EXPECT_TRUE(AnalyticModel().Load(line(heads[0])).ok());
  RandomModel random(7);
  EXPECT_EQ(random.Save().value(), line(heads[1]));
  EXPECT_TRUE(random.Load(line(heads[1])).ok());
  const auto trees = MakeXgboostModel(2, {});
  ASSERT_TRUE(trees.ok()) << trees.status();
  EXPECT_EQ((*trees)->Save().value(), heads[2]);
  EXPECT_TRUE((*trees)->Load(heads[2]).ok());
  for (const std::string& name : CostModelNames()) {
    const absl::StatusOr<std::unique_ptr<CostModel>> model = MakeCostModel(name);
    ASSERT_TRUE(model.ok()) << model.status();
    const std::string saved = (*model)->Save().value(), word = saved.substr(0, saved.find(' ') + 1);
    EXPECT_TRUE(absl::c_any_of(heads, [&](absl::string_view head) { return absl::StartsWith(head, word); }))
        << "the page does not show how " << name << " is saved: " << word;
  }
}

}  // namespace
}  // namespace kiln
