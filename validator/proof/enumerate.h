// Questions about points answered by looking at each: exact, for sets that are small.
// A part of validator/proof/proof.h.
#pragma once

#include "validator/proof/prover.h"

namespace kiln::proof {

class EnumeratingProver final : public Prover {
 public:
  // kUnknown beyond `limit` visits of points and of their prefixes, for each question.
  explicit EnumeratingProver(int64_t limit) : limit_(limit) {}

  Reply Empty(const Points& points) override;
  Reply Covers(const Relation& f, const std::vector<Relation>& g) override;
  Reply Determines(const std::vector<Relation>& f, const std::vector<std::vector<Sum>>& values) override;

 private:
  int64_t limit_;
};

}  // namespace kiln::proof
