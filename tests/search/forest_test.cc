#include "search/cost/forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "absl/strings/str_format.h"

#include "search/cost/xgboost_document.h"
#include "search/cost/xgboost_model.h"

namespace kiln {
namespace {

using Node = Forest::Node;

constexpr float kInf = std::numeric_limits<float>::infinity();

Node Split(int feature, float value) { return {0, feature, value}; }
Node Leaf(float value) { return {0, -1, value}; }

Forest Of(const std::vector<std::vector<Node>>& trees, int dim = 4) {
  Forest forest;
  for (const auto& tree : trees) EXPECT_EQ(forest.Add(tree, dim), absl::OkStatus());
  return forest;
}

float At(const Forest& forest, std::vector<float> row) {
  float sum = 0;
  forest.AddTo({&sum, 1}, row, static_cast<int>(row.size()));
  return sum;
}

TEST(Forest, AddsWhatItsTreesSayOfARow) {
  // The first two trees of the forest, in which the left branch is for rows that fulfil the condition. A third tree is
  // the leaf 100.
  //
  //       x0 < 1            x2 < 5
  //      1     x1 < 2     10      20
  //           2      3
  const Forest forest = Of({{Split(0, 1), Leaf(1), Split(1, 2), Leaf(2), Leaf(3)},
                            {Split(2, 5), Leaf(10), Leaf(20)},
                            {Leaf(100)}});
  EXPECT_EQ(At(forest, {0, 9, 4, 0}), 111);
  EXPECT_EQ(At(forest, {1, 1, 4, 0}), 112);
  EXPECT_EQ(At(forest, {1, 2, 5, 0}), 123);
}

TEST(Forest, ParsesWhatItSerializes) {
  const Forest forest = Of({{Split(3, -0.5f), Split(0, 1e30f), Leaf(1), Leaf(2), Leaf(3)}, {Leaf(7)}});
  const std::string bytes = Serialize(forest);
  const auto again = ParseForest(bytes, 4);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Serialize(*again), bytes);
  EXPECT_EQ(again->nodes[0].left, 1);
  EXPECT_EQ(again->nodes[1].left, 3);
}

TEST(Forest, RefusesTreesThatAreNone) {
  const auto why = [](const std::vector<Node>& tree) { return std::string(Forest().Add(tree, 4).message()); };
  EXPECT_EQ(why({}), "tree 0, node 0: the tree has no nodes");
  EXPECT_EQ(why({Split(4, 0), Leaf(0), Leaf(0)}), "tree 0, node 0: it asks for feature 4 of 4");
  EXPECT_EQ(why({Split(-2, 0), Leaf(0), Leaf(0)}), "tree 0, node 0: it asks for feature -2 of 4");
  EXPECT_EQ(why({Split(0, 0), Leaf(0)}), "tree 0, node 0: its children are beyond the 2 nodes");
  EXPECT_EQ(why({Leaf(0), Split(0, 0), Leaf(0)}), "tree 0, node 1: it would be below itself");
  EXPECT_EQ(why({Leaf(0), Leaf(0)}), "tree 0, node 1: no node has it as a child");
  EXPECT_EQ(why({Leaf(kInf)}), "tree 0, node 0: its value inf is not finite");
  EXPECT_EQ(why({Split(0, std::nanf("")), Leaf(0), Leaf(0)}), "tree 0, node 0: its value nan is not finite");
  std::vector<Node> deep;  // each split has a leaf and the next split
  for (int i = 0; i < Forest::kMaxLevels; ++i) deep.insert(deep.end(), {Split(0, 0), Leaf(0)});
  std::swap(deep[0], deep[1]);
  deep.insert(deep.begin(), Split(0, 0));
  deep.push_back(Leaf(0));
  EXPECT_NE(why(deep).find("the tree has more than 64 levels"), std::string::npos) << why(deep);
}

TEST(Forest, RefusesBytesThatDoNotFit) {
  const std::string bytes = Serialize(Of({{Split(0, 1), Leaf(1), Leaf(2)}}));
  const auto why = [](const std::string& b) { return std::string(ParseForest(b, 4).status().message()); };
  EXPECT_EQ(why(""), "the trees end within their number");
  EXPECT_EQ(why(bytes.substr(0, 6)), "the trees end within the size of tree 0");
  EXPECT_EQ(why(bytes.substr(0, 31)), "tree 0 says that it has 3 nodes, but 23 bytes are left");
  EXPECT_EQ(why(bytes + "x"), "1 bytes follow the last tree");
  std::string many = bytes;
  many[7] = '\x7f';
  EXPECT_EQ(why(many), "tree 0 says that it has 2130706435 nodes, but 24 bytes are left");
  many = bytes;
  many[3] = '\x7f';
  EXPECT_EQ(why(many), "the trees end within the size of tree 1");
}

// Returns a trained model with `dim` features, of which the first two have an effect.
std::unique_ptr<CostModel> Trained(int dim = 3) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  FeatureBatch programs{.dim = dim};
  std::vector<TrainingLabel> labels;
  for (int p = 0; p < 60; ++p) {
    std::vector<float> row(dim);
    for (float& x : row) x = uniform(random);
    programs.AppendRows(row);
    labels.push_back({.throughput = 0.2 + 0.5 * row[0] + 0.3 * row[1]});
  }
  auto model = MakeXgboostModel(dim, {.first_trees = 6, .depth = 4}).value();
  EXPECT_EQ(model->Update(programs, labels), absl::OkStatus());
  return model;
}

uint64_t Fnv1a(absl::string_view bytes, uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Returns a serialized model from a head and trees, with a correct size and checksum, as an attacker would write it.
std::string Signed(absl::string_view head, absl::string_view trees) {
  const std::string start = absl::StrCat(head, " bytes=", trees.size());
  return absl::StrCat(start, absl::StrFormat(" check=%016x\n", Fnv1a(trees, Fnv1a(start))), trees);
}

TEST(Forest, HostileModelsAreRefusedOrHarmless) {
  const auto model = Trained();
  const std::string saved = *model->Save();
  const std::string head = saved.substr(0, saved.find(" bytes=")), trees = saved.substr(saved.find('\n') + 1);
  ASSERT_EQ(model->Load(Signed(head, trees)), absl::OkStatus());
  FeatureBatch probe{.dim = 3};
  for (const float x : {-1e30f, 0.0f, 0.5f, 1e30f}) probe.AppendRows({x, -x, x});
  const std::vector<TrainingLabel> labels(4, {.throughput = 1});
  std::mt19937_64 random(7);
  int loaded = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string hostile = trees;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      hostile[random() % hostile.size()] ^= static_cast<char>(1 << random() % 8);
    if (i % 3 == 1) hostile.resize(random() % hostile.size());
    if (i % 3 == 2) hostile.insert(random() % hostile.size(), std::string(1 + random() % 9, '\xff'));
    const absl::Status status = model->Load(Signed(head, hostile));
    (status.ok() ? loaded : refused) += 1;
    if (!status.ok()) EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    const auto scores = model->Predict(probe);
    ASSERT_TRUE(scores.ok());
    if (status.ok() && loaded % 8 == 0) {  // passes the loaded trees to the training library too
      EXPECT_EQ(model->Update(probe, labels), absl::OkStatus());
    }
  }
  EXPECT_GT(loaded, 100);  // trees with a flipped bit in a value are still valid
  EXPECT_GT(refused, 1000);
}

TEST(Forest, IsOfTheLibraryWhatTheLibraryMadeOfIt) {
  const Forest forest = Of(
      {{Split(0, 0.25f), Leaf(-1), Split(2, 3.5f), Leaf(0.125f), Split(1, -7), Leaf(4), Leaf(5)}, {Leaf(2)}},
      3);
  const auto again = FromXgboost(ToXgboost(forest, 3), 3);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Serialize(*again), Serialize(forest));
  EXPECT_EQ(FromXgboost("{}", 3).status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace kiln
