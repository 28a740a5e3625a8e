// Finds expressions of a model that read constants alone, and adds blocks that compute such expressions before the
// model runs.
#pragma once

#include <string>
#include <vector>

#include "lang/program/program.h"
#include "lang/schedule/rewrite.h"

namespace kiln {

// Knows which buffers of an imported model are constants, and which are computed from constants of the caller before
// the model runs (PreparedBuffers). Adds blocks to the model, also blocks that compute constants. The program must
// outlive it.
class ConstantBuffers {
 public:
  // Moves the nests that read only constants and results of such nests before all other nests.
  explicit ConstantBuffers(Program& program);

  // True for a constant, with bytes or without, and for a buffer that the prepare phase computes from constants of the
  // caller.
  bool IsConstant(Id buffer) const;
  // True for a constant that the caller passes, as its bytes are not in the program, and for a buffer that the prepare
  // phase computes from such constants.
  bool IsGiven(Id buffer) const;

  // True if all loads of the expression are from constants (IsConstant), or it has none, and it contains no gather, no
  // padding (kWithin) and no value of an iter (kIndex).
  bool ReadsOnlyConstants(Id expr) const;

  // Adds a buffer and a block that computes buffer[iters] = value, before the child `before` of the root, and returns
  // the buffer. The value must read constants alone. Its iters are positions in `iters`, which get new bindings.
  Id Compute(const std::string& buffer, absl::string_view block, const std::vector<Iter>& iters, Id value,
             Id before);
  // Adds a buffer with the values weights[d..] * scale and the block that computes it, before the child `before` of the
  // root. Returns the buffer. `dim` gives the iters of the scale in terms of the weights' dimensions.
  Id Scaled(Id weights, const BodyRewriter::IterRule& dim, Id scale, Id before);
  // Adds a temporary without a block, and returns it. If it is a constant, the caller adds blocks that write all of it
  // from constants.
  Id Add(const std::string& buffer, DType dtype, const std::vector<Extent>& shape, bool is_constant);
  // Adds a block that stores dest[index] = value, before a child of the root. Value and index are over these iters, all
  // of which become spatial.
  void AddStore(absl::string_view block, const std::vector<Iter>& iters, Id dest,
                const std::vector<IndexSum>& index, Id value, Id before);
  // Adds a block that copies to[written] = from[read], before a child of the root. It has one iter for each dimension
  // of `shape`, and both indices are over these iters.
  void AddCopy(absl::string_view block, const std::vector<Extent>& shape, Id from,
               const std::vector<IndexSum>& read, Id to, const std::vector<IndexSum>& written, Id before);
  // Adds a block that reduces the value into dest[index] with the monoid, over these iters, before a child of the root.
  // The iters keep their kinds.
  void AddReduction(absl::string_view block, const std::vector<Iter>& iters, Id dest,
                    const std::vector<IndexSum>& index, Id value, Id before, Id monoid);

  // Returns the number of elements of the largest given constant (IsGiven) that the expression reads; 0 if it reads
  // none.
  int64_t LargestGiven(Id expr) const;

 private:
  Program& p_;
  std::vector<char> prepared_;
};

// Returns the iters that the indices of the expression's loads depend on, ascending.
std::vector<int> ItersOf(const Program& program, Id expr);

}  // namespace kiln
