// Regression trees as data: what boosted trees are kept, predicted and sent around as.
//
// Nodes of a tree are in breadth-first order, so that children need no indices in a file: those of its k-th
// split are the nodes 2k + 1 and 2k + 2. Then a file of trees is
//
//   forest := count:u32 tree*count          little endian
//   tree   := count:u32 node*count          count = 2 * splits + 1
//   node   := feature:i32 value:f32         feature -1: a leaf, worth `value`;
//                                           else left if x[feature] < value
//
// ParseForest takes nothing on trust: it refuses sizes that do not fit the bytes, features out of range,
// values that are not finite, nodes that would be below themselves, and trees deeper than kMostLevels. What
// it accepts can be walked, and given to a library that checks less.
//
// Pure values; any number of threads may ask one forest at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln {

struct Forest {
  struct Node {
    int32_t left = 0;  // of its tree; the right child is the next one; 0: a leaf
    int32_t feature = -1;
    float value = 0;
  };
  static constexpr int kMostLevels = 64;

  std::vector<Node> nodes = {};
  std::vector<int32_t> first = {0};  // trees() + 1 entries: tree t has the nodes [first[t], first[t+1])

  int trees() const { return static_cast<int>(first.size()) - 1; }
  // One tree, given by its nodes in breadth-first order: `left` is not looked at, but set.
  absl::Status Add(absl::Span<const Node> tree, int dim);
  // Adds to each sum the trees' values at a row of `dim` features, tree by tree in single precision.
  // Invariant: rows.size() is dim times sums.size(), and dim is that of Add or more.
  void AddTo(absl::Span<float> sums, absl::Span<const float> rows, int dim) const;
};

std::string Serialize(const Forest& forest);
// All of the bytes, for rows of `dim` features; kInvalidArgument names the tree and the node.
absl::StatusOr<Forest> ParseForest(absl::string_view bytes, int dim);

}  // namespace kiln
