// A prover that decides questions about sets of integer points of any size with MLIR's Presburger library.
//
// A typical question takes milliseconds. For some questions the library's time grows exponentially, and it cannot be
// interrupted. Each question is therefore asked in a child process, which is ended at its time limit. Without a reply
// by then, or if the child crashes, the answer is kUnknown. Not thread safe.
#pragma once

#include "absl/time/time.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

struct PresburgerOptions {
  absl::Duration limit = absl::Seconds(1);  // of a question; after that the answer is kUnknown
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
