// Answers questions about sets of integer points by visiting each point: exact, for small sets. A part of
// validator/proof/proof.h.
#pragma once

#include "validator/proof/prover.h"

namespace kiln::proof {

class EnumeratingProver final : public Prover {
 public:
  // Answers kUnknown if a question needs more than `limit` visits. Points and their prefixes count.
  explicit EnumeratingProver(int64_t limit) : limit_(limit) {}

  Reply Empty(const Points& points) override;
  Reply Covers(const Relation& f, const std::vector<Relation>& g) override;
  Reply Determines(const std::vector<Relation>& f, const std::vector<std::vector<IndexSum>>& values) override;

 private:
  int64_t limit_;
};

}  // namespace kiln::proof
