// A prover that decides sets of integer points with MLIR's Presburger library, whatever their extents.
//
// Questions with too many variables are kUnknown: the library's time grows exponentially, and it cannot be
// interrupted. Milliseconds for the usual question. Not thread safe.
#pragma once

#include "validator/prover.h"

namespace kiln {

struct PresburgerOptions {
  int most_variables = 24;  // quotients count
};

class PresburgerProver final : public Prover {
 public:
  explicit PresburgerProver(PresburgerOptions options = {}) : options_(options) {}

  Reply Empty(const Points& points) override;
  Reply Covers(const Relation& f, const std::vector<Relation>& g) override;
  Reply Determines(const std::vector<Relation>& f, const std::vector<std::vector<Sum>>& values) override;

 private:
  PresburgerOptions options_;
};

}  // namespace kiln
