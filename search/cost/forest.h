// Regression trees as data: the form in which boosted trees are kept, evaluated and stored.
//
// The nodes of a tree are in breadth-first order, so a file needs no child indices: the children of the k-th split
// (from 0) are the nodes 2k + 1 and 2k + 2. A file of trees is
//
//   forest := count:u32 tree*count          little endian
//   tree   := count:u32 node*count          count = 2 * splits + 1
//   node   := feature:i32 value:f32         feature -1: a leaf, worth `value`;
//                                           else left if x[feature] < value
//
// ParseForest trusts nothing. It refuses sizes that do not fit the bytes, empty trees, features out of range, values
// that are not finite, nodes that would be their own ancestors or have no parent, and trees of more than 64 levels
// (kMaxLevels). An accepted forest is safe to evaluate, and safe to pass to a library that checks less.
//
// Plain values; any number of threads may evaluate one forest at once.
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
    int32_t left = 0;  // index of the left child in its tree; the right child follows it; 0 for a leaf
    int32_t feature = -1;
    float value = 0;
  };
  static constexpr int kMaxLevels = 64;

  std::vector<Node> nodes = {};
  std::vector<int32_t> first = {0};  // trees() + 1 entries: tree t has the nodes [first[t], first[t+1])

  int trees() const { return static_cast<int>(first.size()) - 1; }
  // Adds one tree, given by its nodes in breadth-first order. Computes the nodes' field `left`, whatever its value.
  // Returns kInvalidArgument, and leaves the forest unchanged, for a tree that ParseForest would refuse.
  absl::Status Add(absl::Span<const Node> tree, int dim);
  // Evaluates the trees: adds their values at each row of `dim` features to the row's sum, tree by tree in single
  // precision. Invariant: rows.size() is dim times sums.size(), and dim is at least the one passed to Add.
  void AddTo(absl::Span<float> sums, absl::Span<const float> rows, int dim) const;
};

std::string Serialize(const Forest& forest);
// Parses all of the bytes as trees for rows of `dim` features. Returns kInvalidArgument for malformed bytes; the
// message names the tree and the node at fault, if there are any.
absl::StatusOr<Forest> ParseForest(absl::string_view bytes, int dim);

}  // namespace kiln
