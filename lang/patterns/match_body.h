// Compares the body of a block with that of an intrinsic's description; a part of lang/patterns/match.h.
#pragma once

#include <string>
#include <vector>

#include "lang/patterns/match.h"

namespace kiln {

class BodyMatcher {
 public:
  // Prepares to compare the body of `block` with that of the block `described` in an intrinsic's description. `iter_of`
  // has, for each iter of the description, the iter of the block that corresponds to it (-1: none).
  BodyMatcher(const Program& program, Id block, const Tile& tile, const Program& description, Id described,
              const std::vector<int>& iter_of);

  // Returns OK if the bodies match, otherwise kFailedPrecondition with the reason. progress() then says what differed:
  // 1 the structure, 2 a dtype, 3 a storage, 4 a layout; of several, the highest.
  absl::Status Match();
  int progress() const { return progress_; }
  const std::vector<OperandView>& operands() const { return operands_; }

 private:
  enum Progress { kStructure = 1, kType, kStorage, kLayout };
  bool No(int progress, std::string why);  // records why the bodies differ; returns false
  bool MatchMonoid();
  bool MatchExpr(Id expr, Id wanted);
  bool MatchAccess(Id buffer, Range index, Id wanted, Range wanted_index);
  std::optional<OperandView> View(Id buffer, Range index, Id wanted, Range wanted_index);
  bool MatchLayout(const OperandView& view, Id wanted);

  const Program& p_;
  const Program& d_;
  Id block_, described_;
  const Tile& tile_;
  std::vector<int> described_as_;  // by iter of the block: the description's iter, or -1
  int iters_;
  std::vector<int64_t> extents_;  // number of tiles along each iter of the block
  std::vector<OperandView> operands_;
  std::string why_;
  int progress_ = 0;
};

}  // namespace kiln
