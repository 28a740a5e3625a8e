// Expressions of a model that read constants alone, and blocks that compute them before the model runs.
#pragma once

#include <string>
#include <vector>

#include "lang/program/program.h"
#include "lang/schedule/rewrite.h"

namespace kiln {

// Knows which buffers of an imported model are constants that the caller gives, or computed from such constants
// alone (PreparedBuffers). The program must outlive it.
class ConstantBuffers {
 public:
  // Moves the nests that read constants alone before all others.
  explicit ConstantBuffers(Program& program);

  // True for a constant, with bytes or without, and for what is computed from constants once.
  bool IsConstant(Id buffer) const;
  // True for a constant without bytes, which the caller passes, and for what is computed from constants once.
  bool IsGiven(Id buffer) const;

  // True if the expression reads constants (IsConstant) alone, at sums of iters, and everything it does is arithmetic.
  bool ReadsOnlyConstants(Id expr) const;

  // Adds a buffer[iters] = value and its block before a child of the root, and returns the buffer. The value must read
  // constants alone. Its iters are positions in `iters`, which get new bindings.
  Id Compute(const std::string& buffer, absl::string_view block, const std::vector<Iter>& iters, Id value,
             Id before);
  // Adds weights[d..] * scale in the same way, and returns its buffer. `dim` gives the iters of the scale in terms of the
  // weights' dimensions.
  Id Scaled(Id weights, const BodyRewriter::IterRule& dim, Id scale, Id before);
  // Adds a temporary without a block, and returns it. If it is a constant, the caller adds blocks that write all of it from
  // constants.
  Id Add(const std::string& buffer, DType dtype, const std::vector<Extent>& shape, bool is_constant);
  // Adds a block dest[index] = value over these iters before a child of the root. The index is over the iters.
  void AddStore(absl::string_view block, const std::vector<Iter>& iters, Id dest,
                const std::vector<IndexSum>& index, Id value, Id before);
  // Adds a block to[written] = from[read] over this shape, whose iters the indices are over.
  void AddCopy(absl::string_view block, const std::vector<Extent>& shape, Id from,
               const std::vector<IndexSum>& read, Id to, const std::vector<IndexSum>& written, Id before);
  // Adds a reduction into dest[index] in the same way as AddStore. The iters keep the kinds that they are given with.
  void AddReduction(absl::string_view block, const std::vector<Iter>& iters, Id dest,
                    const std::vector<IndexSum>& index, Id value, Id before, Id monoid);

  // Returns the elements of the largest given constant that the expression reads; 0 if it reads none.
  int64_t LargestGiven(Id expr) const;

 private:
  Program& p_;
  std::vector<char> prepared_;
};

// Returns the iters that the indices of the expression's loads depend on, ascending.
std::vector<int> ItersOf(const Program& program, Id expr);

}  // namespace kiln
