// A prover that decides sets of integer points with MLIR's Presburger library, whatever their extents.
//
// Milliseconds for the usual question. The library's time grows exponentially with some, and it cannot be
// interrupted: each question is asked in a child process, which ends with its limit. Not thread safe.
#pragma once

#include "absl/time/time.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

struct PresburgerOptions {
  absl::Duration limit = absl::Seconds(1);  // of a question; beyond, the answer is kUnknown
};

class PresburgerProver final : public Prover {
 public:
  explicit PresburgerProver(PresburgerOptions options = {}) : options_(options) {}

  Reply Empty(const Points& points) override;
  Reply Covers(const Relation& f, const std::vector<Relation>& g) override;
  Reply Determines(const std::vector<Relation>& f, const std::vector<std::vector<IndexSum>>& values) override;

 private:
  PresburgerOptions options_;
};

}  // namespace kiln::proof
