#include "search/cost/forest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "lang/base/check.h"

namespace kiln {
namespace {

static_assert(std::endian::native == std::endian::little, "forests are written as they lie in memory");

constexpr size_t kNodeBytes = 8;
constexpr size_t kRowsAtOnce = 32;  // these rows stay in the L1 cache while all trees walk over them

template <typename T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T Take(absl::string_view& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

}  // namespace

absl::Status Forest::Add(absl::Span<const Node> tree, int dim) {
  const auto refuse = [&](size_t node, const auto&... why) {
    return absl::InvalidArgumentError(absl::StrCat("tree ", trees(), ", node ", node, ": ", why...));
  };
  if (tree.empty()) return refuse(0, "the tree has no nodes");
  std::vector<Node> numbered(tree.begin(), tree.end());
  std::vector<int> level(tree.size(), 0);
  size_t next = 1;
  for (size_t i = 0; i < numbered.size(); ++i) {
    Node& node = numbered[i];
    node.left = 0;
    if (!std::isfinite(node.value)) return refuse(i, "its value ", node.value, " is not finite");
    if (node.feature == -1) continue;
    if (node.feature < 0 || node.feature >= dim)
      return refuse(i, "it asks for feature ", node.feature, " of ", dim);
    if (next <= i) return refuse(i, "it would be below itself");
    if (next + 1 >= numbered.size()) return refuse(i, "its children are beyond the ", tree.size(), " nodes");
    if (level[i] + 1 >= kMaxLevels) return refuse(i, "the tree has more than ", kMaxLevels, " levels");
    node.left = static_cast<int32_t>(next);
    level[next] = level[next + 1] = level[i] + 1;
    next += 2;
  }
  if (next != numbered.size()) return refuse(next, "no node has it as a child");
  nodes.insert(nodes.end(), numbered.begin(), numbered.end());
  first.push_back(static_cast<int32_t>(nodes.size()));
  return absl::OkStatus();
}

void Forest::AddTo(absl::Span<float> sums, absl::Span<const float> rows, int dim) const {
  KILN_CHECK(rows.size() == sums.size() * static_cast<size_t>(dim));
  for (size_t begin = 0; begin < sums.size(); begin += kRowsAtOnce) {
    const size_t end = std::min(sums.size(), begin + kRowsAtOnce);
    for (int t = 0; t < trees(); ++t) {
      const Node* const tree = &nodes[first[t]];
      for (size_t r = begin; r < end; ++r) {
        const float* const x = &rows[r * dim];
        const Node* node = tree;
        while (node->left != 0) node = tree + node->left + !(x[node->feature] < node->value);
        sums[r] += node->value;
      }
    }
  }
}

std::string Serialize(const Forest& forest) {
  std::string bytes;
  Put(bytes, static_cast<uint32_t>(forest.trees()));
  for (int t = 0; t < forest.trees(); ++t) {
    Put(bytes, static_cast<uint32_t>(forest.first[t + 1] - forest.first[t]));
    for (int32_t n = forest.first[t]; n < forest.first[t + 1]; ++n) {
      Put(bytes, forest.nodes[n].feature);
      Put(bytes, forest.nodes[n].value);
    }
  }
  return bytes;
}

absl::StatusOr<Forest> ParseForest(absl::string_view bytes, int dim) {
  const auto short_of = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("the trees end within ", what));
  };
  if (bytes.size() < 4) return short_of("their number");
  Forest forest;
  for (uint32_t left = Take<uint32_t>(bytes); left > 0; --left) {
    if (bytes.size() < 4) return short_of(absl::StrCat("the size of tree ", forest.trees()));
    const uint32_t count = Take<uint32_t>(bytes);
    if (bytes.size() / kNodeBytes < count) {
      return absl::InvalidArgumentError(absl::StrCat("tree ", forest.trees(), " says that it has ", count,
                                                     " nodes, but ", bytes.size(), " bytes are left"));
    }
    std::vector<Forest::Node> tree(count);
    for (Forest::Node& node : tree) {
      node.feature = Take<int32_t>(bytes);
      node.value = Take<float>(bytes);
    }
    if (absl::Status status = forest.Add(tree, dim); !status.ok()) return status;
  }
  if (!bytes.empty())
    return absl::InvalidArgumentError(absl::StrCat(bytes.size(), " bytes follow the last tree"));
  return forest;
}

}  // namespace kiln
