#include "search/cost/xgboost_document.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace kiln {
namespace {

using Json = nlohmann::json;

// Writes UBJSON, a binary form of JSON, with big-endian numbers.
class Writer {
 public:
  Writer& Raw(absl::string_view text) {
    bytes_.append(text.data(), text.size());
    return *this;
  }
  Writer& Key(absl::string_view name) { return Size(name.size()).Raw(name); }
  Writer& Text(absl::string_view name, absl::string_view value) { return Key(name).Raw("S").Key(value); }
  Writer& Numbers(absl::string_view name, char type, const std::vector<uint32_t>& values) {
    Key(name).Raw("[$").Raw({&type, 1}).Raw("#").Size(values.size());
    for (const uint32_t value : values) type == 'U' ? Number(value, 1) : Number(value, 4);
    return *this;
  }
  Writer& Items(absl::string_view name, size_t count) { return Key(name).Raw("[#").Size(count); }
  Writer& Size(uint64_t size) { return Raw("L").Number(size, 8); }
  Writer& Number(uint64_t value, int size) {
    for (int i = size; i-- > 0;) bytes_.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

void WriteTree(Writer& out, absl::Span<const Forest::Node> tree, int id, int dim) {
  const size_t n = tree.size();
  std::vector<uint32_t> left(n, -1), right(n, -1), parent(n, std::numeric_limits<int32_t>::max()),
      feature(n, 0), value(n), none;
  const std::vector<uint32_t> zeros(n, 0);
  for (size_t i = 0; i < n; ++i) {
    value[i] = std::bit_cast<uint32_t>(tree[i].value);
    if (tree[i].left == 0) continue;
    left[i] = tree[i].left;
    right[i] = tree[i].left + 1;
    feature[i] = tree[i].feature;
    parent[left[i]] = parent[right[i]] = static_cast<uint32_t>(i);
  }
  out.Raw("{").Numbers("base_weights", 'd', zeros);
  out.Numbers("categories", 'l', none).Numbers("categories_nodes", 'l', none);
  out.Numbers("categories_segments", 'L', none).Numbers("categories_sizes", 'L', none);
  out.Numbers("default_left", 'U', zeros).Key("id").Raw("l").Number(id, 4);
  out.Numbers("left_children", 'l', left).Numbers("loss_changes", 'd', zeros);
  out.Numbers("parents", 'l', parent).Numbers("right_children", 'l', right);
  out.Numbers("split_conditions", 'd', value).Numbers("split_indices", 'l', feature);
  out.Numbers("split_type", 'U', zeros).Numbers("sum_hessian", 'd', zeros);
  out.Key("tree_param").Raw("{").Text("num_deleted", "0").Text("num_feature", absl::StrCat(dim));
  out.Text("num_nodes", absl::StrCat(n)).Text("size_leaf_vector", "0").Raw("}}");
}

}  // namespace

std::string ToXgboost(const Forest& forest, int dim) {
  Writer out;
  out.Raw("{").Key("learner").Raw("{").Key("attributes").Raw("{}");
  out.Items("feature_names", 0).Items("feature_types", 0);
  out.Key("gradient_booster").Raw("{").Key("model").Raw("{").Key("gbtree_model_param").Raw("{");
  out.Text("num_parallel_tree", "1").Text("num_trees", absl::StrCat(forest.trees()));
  out.Text("size_leaf_vector", "0").Raw("}").Items("tree_info", forest.trees());
  for (int t = 0; t < forest.trees(); ++t) out.Raw("i").Number(0, 1);
  out.Items("trees", forest.trees());
  for (int t = 0; t < forest.trees(); ++t) {
    const int32_t begin = forest.first[t], end = forest.first[t + 1];
    WriteTree(out, absl::MakeSpan(forest.nodes).subspan(begin, end - begin), t, dim);
  }
  out.Raw("}").Text("name", "gbtree").Raw("}").Key("learner_model_param").Raw("{").Text("base_score", "0E0");
  out.Text("boost_from_average", "0").Text("num_class", "0").Text("num_feature", absl::StrCat(dim));
  out.Text("num_target", "1").Raw("}").Key("objective").Raw("{").Text("name", "reg:squarederror");
  out.Key("reg_loss_param").Raw("{").Text("scale_pos_weight", "1").Raw("}}}").Items("version", 3);
  return out.Raw("i").Number(1, 1).Raw("i").Number(7, 1).Raw("i").Number(4, 1).Raw("}").Take();
}

absl::StatusOr<Forest> FromXgboost(absl::string_view document, int dim) try {
  const Json json = Json::from_ubjson(document.begin(), document.end());
  Forest forest;
  for (const Json& tree : json.at("learner").at("gradient_booster").at("model").at("trees")) {
    const Json &left = tree.at("left_children"), &right = tree.at("right_children"),
               &feature = tree.at("split_indices"), &value = tree.at("split_conditions");
    std::vector<int> order{0};
    std::vector<Forest::Node> nodes;
    for (size_t i = 0; i < order.size(); ++i) {
      const int n = order[i], child = left.at(n).get<int>();
      nodes.push_back({0, child < 0 ? -1 : feature.at(n).get<int>(), value.at(n).get<float>()});
      if (child < 0) continue;
      order.push_back(child);
      order.push_back(right.at(n).get<int>());
      if (order.size() > 2 * left.size()) return absl::InternalError("XGBoost saved a tree with a cycle");
    }
    if (absl::Status status = forest.Add(nodes, dim); !status.ok())
      return absl::InternalError(absl::StrCat("XGBoost saved a malformed tree: ", status.message()));
  }
  return forest;
} catch (const nlohmann::json::exception& e) {
  return absl::InternalError(absl::StrCat("XGBoost saved a malformed model: ", e.what()));
}

}  // namespace kiln
