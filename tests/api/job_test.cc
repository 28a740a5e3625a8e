// Tests api::Job and RunJob, which run a search that is specified as JSON and return a JSON document, also if the
// search fails or is interrupted.
#include "api/job.h"

#include <gmock/gmock.h>

#include "api/errors.h"
#include "nlohmann/json.hpp"
#include "tests/api/small_files.h"
#include "tests/support/run_kiln.h"

namespace kiln::api {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(Job, TakesTheDefaultsOfASessionAndWhatIsSaid) {
  const auto job = Job::Parse(R"({"file": "a.mlir", "trials": 7, "cold": true, "plugins": ["b.so"], "seed": 5,
                                  "least_gain": 2.5, "space": "cpu"})");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->source().path, "a.mlir");
  const TuneSettings &settings = job->settings(), usual;
  EXPECT_EQ(settings.trials, 7);
  EXPECT_EQ(settings.seed, 5u);
  EXPECT_TRUE(settings.cold);
  EXPECT_EQ(settings.least_gain, 2.5);
  EXPECT_EQ(settings.space.space, "cpu");
  EXPECT_EQ(settings.space.plugins, std::vector<std::string>{"b.so"});
  EXPECT_EQ(settings.threads, usual.threads);
  EXPECT_EQ(settings.contract, usual.contract);
  EXPECT_EQ(settings.strategy, usual.strategy);
}

TEST(Job, TakesInputsAsANumberOrAsNames) {
  EXPECT_EQ(Job::Parse(R"({"file": "a.mlir", "inputs": 2})")->source().inputs, "2");
  EXPECT_EQ(Job::Parse(R"({"file": "a.mlir", "inputs": "x,arg3"})")->source().inputs, "x,arg3");
}

TEST(Job, ASpecificationThatIsWrongIsToldWithItsPlace) {
  const std::pair<const char*, const char*> wrong[] = {
      {"{", "job: it is not JSON: "},
      {"[]", "job: it must be an object"},
      {"{}", "job: it must have a \"file\" or a \"text\", and not both"},
      {R"({"file": "a", "text": "b"})", "job: it must have a \"file\" or a \"text\", and not both"},
      {R"({"file": 3})", "job: /file: 3 is given; it must be a string"},
      {R"({"file": "a", "trials": "many"})",
       "job: /trials: \"many\" is given; it must be a whole number from 0 to 100000000"},
      {R"({"file": "a", "trials": 2.5})", "job: /trials: 2.5 is given"},
      {R"({"file": "a", "seed": -1})", "job: /seed: -1 is given; it must be a whole number of at least 0"},
      {R"({"file": "a", "inputs": -1})",
       "job: /inputs: -1 is given; it must be a number of arguments, or their names in a string"},
      {R"({"file": "a", "cold": 1})", "job: /cold: 1 is given; it must be true or false"},
      {R"({"file": "a", "plugins": [1]})", "job: /plugins: [1] is given; it must be a list of strings"},
      {R"({"file": "a", "tri/als": 1})", "job: /tri~1als: unknown setting \"tri/als\"; known: file, text,"},
  };
  for (const auto& [spec, message] : wrong) {
    const auto job = Job::Parse(spec);
    EXPECT_TRUE(IsMistake(job.status())) << spec;
    EXPECT_THAT(std::string(job.status().message()), HasSubstr(message));
  }
}

Json Spec(const TemporaryFolder& folder, const char* text) {
  return {{"text", text}, {"name", "small"}, {"database", folder / "kiln.db"}, {"trials", 3}};
}

JobResult RunJob(const Json& spec) {
  absl::StatusOr<Job> job = Job::Parse(spec.dump());
  EXPECT_TRUE(job.ok()) << job.status();
  return job->Run();
}

TEST(Job, AnswersWithTheDocumentOfTune) {
  const TemporaryFolder folder;
  Json spec = Spec(folder, kAdd);
  spec["output"] = folder / "out";
  const JobResult result = RunJob(spec);
  EXPECT_TRUE(result.status.ok()) << result.status;
  const Json json = Json::parse(result.json);
  EXPECT_EQ(json["status"], "ok");
  const Json& task = json["tasks"][0];
  EXPECT_GT(task["record"].get<double>(), 0);
  EXPECT_EQ(task["symbol"], "add");
  EXPECT_EQ(task["parameters"][0]["argument"], "left");
  EXPECT_EQ(task["parameters"][0]["shape"].size(), task["parameters"][2]["shape"].size());
  EXPECT_FALSE(task["files"].empty());
  EXPECT_FALSE(json["rounds"].empty());
}

TEST(Job, InterruptedItGoesOn) {
  const TemporaryFolder folder;
  Json spec = Spec(folder, kMatmul);
  spec["trials"] = 40;
  absl::StatusOr<Job> job = Job::Parse(spec.dump());
  ASSERT_TRUE(job.ok()) << job.status();
  const JobResult first = job->Run([&](const Event& event) {
    if (std::holds_alternative<Round>(event)) job->Interrupt();
  });
  EXPECT_EQ(Json::parse(first.json)["status"], "interrupted");
  EXPECT_TRUE(absl::IsCancelled(first.status));
  const size_t rounds = Json::parse(first.json)["rounds"].size();
  const JobResult second = job->Run();
  EXPECT_EQ(Json::parse(second.json)["status"], "ok") << second.json;
  EXPECT_GT(Json::parse(second.json)["rounds"].size(), rounds);
}

TEST(Job, WhatCannotRunIsADocumentToo) {
  const TemporaryFolder folder;
  EXPECT_EQ(Json::parse(RunJob(Spec(folder, kNothing)).json)["status"], "nothing");
  const JobResult broken = RunJob(Spec(folder, "nonsense"));
  EXPECT_TRUE(absl::IsInvalidArgument(broken.status));
  EXPECT_EQ(Json::parse(broken.json)["status"], "failed");
  EXPECT_THAT(Json::parse(broken.json)["error"].get<std::string>(), HasSubstr("small:1:1"));
  Json lucky = Spec(folder, kAdd);
  lucky["strategy"] = "luck";
  EXPECT_EQ(Json::parse(RunJob(lucky).json)["kind"], "INVALID_ARGUMENT");
}

}  // namespace
}  // namespace kiln::api
