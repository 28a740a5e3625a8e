#include "search/database/json_lines.h"

#include <bit>
#include <cmath>
#include <sstream>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "lang/schedule/primitive.h"
#include "nlohmann/json.hpp"
#include "rapidcheck.h"
#include "search/database/memory_store.h"
#include "search/database/sqlite_store.h"
#include "tests/search/store_support.h"

namespace kiln {
namespace {

using absl::StatusCode;

constexpr char kText[] =
    R"json({"format":"kiln-records","version":1}
{"workload":{"id":1,"hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","name":"matmul","program":"program a"}}
{"target":{"id":1,"text":"cpu cores=2","fingerprint":"fingerprint 1"}}
{"run":{"id":1,"uid":"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee","command":"kiln tune a.mlir","options":"{}","seed":18446744073709551615,"kiln":"0.1.0","llvm":"22.1","xgboost":"1.7.4","started":17}}
{"record":{"workload":1,"target":1,"run":1,"task":0,"round":0,"trial":3,"sketch":"tile=SSRSRS","trace":{"base64":"/w=="},"program_hash":"dddddddddddddddddddddddddddddddd","samples":[0.1,5e-324],"status":"ok","error":"","lower_bound":false,"flags":"contract","verified":false,"created":1700000000003,"taken":[0.1,1.0,0.3,1.5],"assumptions":"","place":"","facts":{}}}
)json";

std::string Export(Store& store) {
  std::ostringstream out;
  EXPECT_TRUE(ExportJson(store, out).ok());
  return out.str();
}

absl::StatusOr<MergeResult> Import(Store& store, const std::string& text) {
  std::istringstream in(text);
  return ImportJson(store, in, "in.jsonl");
}

TEST(JsonLines, PrintsOneRowALine) {
  const auto store = MakeMemoryStore();
  FillExample(*store);
  RecordRow record = ExampleRecord(1, 1, 3, {0.1, 5e-324});
  record.trace = "\xff";
  record.raw_samples = {0.1, 1, 0.3, 1.5};
  ASSERT_TRUE(store->AppendRecords(1, {record}, "").ok());
  EXPECT_EQ(Export(*store), kText);
}

TEST(JsonLines, ImportsOnceHoweverOftenItIsRead) {
  const TemporaryDirectory directory;
  const auto store = OpenStore(directory / "kiln.db").value();
  EXPECT_EQ(Import(*store, kText)->added, 1);
  EXPECT_EQ(Import(*store, kText)->added, 0);
  EXPECT_EQ(Import(*store, kText)->present, 1);
  EXPECT_EQ(Export(*store), kText);
  EXPECT_EQ(store->Get(1)->record.trace, "\xff");
  EXPECT_EQ(store->FindUnfinishedRun("kiln tune a.mlir").value(), std::nullopt);
}

TEST(JsonLines, ReadsRecordsWithoutWholeTimings) {
  const auto store = MakeMemoryStore();
  EXPECT_EQ(Import(*store, absl::StrReplaceAll(kText, {{",\"taken\":[0.1,1.0,0.3,1.5]", ""}}))->added, 1);
  EXPECT_EQ(store->Get(1)->record.raw_samples, std::vector<double>());
}

TEST(JsonLines, ReadsOldSpellingsOfFlags) {
  const auto store = MakeMemoryStore();
  EXPECT_EQ(Import(*store, absl::StrReplaceAll(kText, {{"\"contract\"", "\"contraction\""}}))->added, 1);
  EXPECT_EQ(Export(*store), kText);
}

TEST(JsonLines, ReadsOfRecordsBeforeTheySaidItWhatTheirTracesAssume) {
  const auto store = MakeMemoryStore();
  const std::string old = absl::StrReplaceAll(
      kText, {{",\"assumptions\":\"\",\"place\":\"\",\"facts\":{}", ""},
              {"{\"base64\":\"/w==\"}",
               R"("kiln.trace v1\nb0 = get-block \"conv\"\nannotate-block b0 \"finite\" value=1\n")"}});
  EXPECT_EQ(Import(*store, old)->added, 1);
  EXPECT_EQ(store->Get(1)->record.assumptions, kFiniteFactors);
  EXPECT_EQ(store->Get(1)->record.facts, "{}");
}

TEST(JsonLines, KeepsPlacesAndFacts) {
  const auto store = MakeMemoryStore();
  const std::string text = absl::StrReplaceAll(
      kText, {{"\"place\":\"\",\"facts\":{}", R"("place":"rack 3","facts":{"watts":41.5,"kernel":"6.1"})"}});
  EXPECT_EQ(Import(*store, text)->added, 1);
  EXPECT_EQ(store->Get(1)->record.place, "rack 3");
  EXPECT_EQ(Export(*store), text);
}

TEST(JsonLines, NamesTheMalformedLineAndImportsNothing) {
  const struct {
    std::string from, to, message;
  } cases[] = {
      {"kiln-records", "gnuplot",
       "in.jsonl:1:1: the first line must be {\"format\":\"kiln-records\",\"version\":1}"},
      {"\"version\":1", "\"version\":2",
       "in.jsonl:1:1: the text has version 2 of the format; this Kiln reads version 1"},
      {"\"name\":\"matmul\",", "", "in.jsonl:2:1: \"name\" is missing"},
      {"\"hash\":\"aa", "\"hash\":\"",
       "in.jsonl:2:1: hash \"" + std::string(30, 'a') + "\" is not 32 lower-case hex digits"},
      {"\"fingerprint 1\"", "7", "in.jsonl:3:40: \"fingerprint\" is not a string, nor {\"base64\":\"...\"}"},
      {"{\"target\"", "{\"machine\"",
       "in.jsonl:3:1: unknown row \"machine\": one of workload, target, run, record is expected"},
      {"18446744073709551615", "-1",
       "in.jsonl:4:101: \"seed\" is not an integer between 0 and 18446744073709551615"},
      {"\"target\":1", "\"target\":2", "in.jsonl:5:1: no line before this one defines target 2"},
      {"\"trial\":3", "\"trial\":3e9",
       "in.jsonl:5:63: \"trial\" is not an integer between -2147483648 and 2147483647"},
      {"[0.1,5e-324]", "[0.1,null]", "in.jsonl:5:172: \"samples\" is not a list of numbers"},
      {"[0.1,5e-324]", "[-0.5]",
       "in.jsonl:5:1: record of task 0, trial 3: sample -0.5 is not a time in seconds"},
      {",1.5]", "]",
       "in.jsonl:5:1: record of task 0, trial 3: taken has 3 numbers, and should have two a sample"},
      {",1.5]", ",-1]",
       "in.jsonl:5:1: record of task 0, trial 3: taken has -1, which is neither a time nor a slowdown"},
      {"\"facts\":{}", "\"facts\":[]", "in.jsonl:5:354: \"facts\" is not an object"},
      {"/w==", "/w=", "in.jsonl:5:96: \"trace\" is not a string, nor {\"base64\":\"...\"}"},
      {"\"created\":1700000000003,\"taken\":[0.1,1.0,0.3,1.5],\"assumptions\":\"\",\"place\":\"\",\"facts\":{"
       "}}}",
       "\"crea", "in.jsonl:5:281: the line is not JSON (is it cut off?)"},
      {"5e-324]", "5e324]", "in.jsonl:5:187: the line has a number that no double holds"},
      {kText, "", "in.jsonl:1:1: the input is empty"},
  };
  const auto store = MakeMemoryStore();
  for (const auto& c : cases) {
    const absl::Status status = Import(*store, absl::StrReplaceAll(kText, {{c.from, c.to}})).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), c.message);
  }
  EXPECT_EQ(store->ReadAll().value(), StoreContents{});
}

TEST(JsonLines, GivesBackEveryBitOfSamplesAndText) {
  const TemporaryDirectory directory;
  int file = 0;
  EXPECT_TRUE(rc::check("import(export(store)) is the store", [&] {
    std::vector<double> samples;
    for (const uint64_t bits : *rc::gen::arbitrary<std::vector<uint64_t>>()) {
      // Makes samples of random bits, of any magnitude. The multiplication spreads numbers that are mostly small.
      const double sample = std::abs(std::bit_cast<double>(bits * 0x9e3779b97f4a7c15u));
      if (std::isfinite(sample)) samples.push_back(sample);
    }
    const auto bytes = [] { return *rc::gen::container<std::string>(rc::gen::arbitrary<char>()); };
    const auto memory = MakeMemoryStore();
    RC_ASSERT(memory->PutWorkload(ExampleHash('a'), bytes(), bytes()).ok());
    RC_ASSERT(memory->PutTarget(bytes(), bytes()).ok());
    RC_ASSERT(
        memory->BeginRun({.command = bytes(), .options = bytes(), .seed = *rc::gen::arbitrary<uint64_t>()})
            .ok());
    RecordRow record = ExampleRecord(1, 1, 0, samples);
    record.trace = bytes();
    record.error = bytes();
    record.raw_samples = samples;
    if (record.raw_samples.size() % 2 != 0) record.raw_samples.pop_back();
    record.assumptions = bytes();
    record.place = bytes();
    record.facts = nlohmann::json{{"n", *rc::gen::arbitrary<int64_t>()}}.dump();
    RC_ASSERT(memory->AppendRecords(1, {record}, "").ok());
    RC_ASSERT(memory->FinishRun(1).ok());

    const auto sqlite = OpenStore(directory / (std::to_string(file++) + ".db")).value();
    RC_ASSERT(Import(*sqlite, Export(*memory)).ok());
    // Compares all rows. Samples are finite and not negative, so equal numbers have equal bits.
    RC_ASSERT(sqlite->ReadAll().value() == memory->ReadAll().value());
  }));
}

TEST(JsonLines, SaysWhenTheOutputCannotBeWritten) {
  const auto store = MakeMemoryStore();
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(ExportJson(*store, out).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace kiln
