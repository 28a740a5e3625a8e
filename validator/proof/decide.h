// Answers to questions about points: by the algebra of index maps, by looking at each point where they are
// few, then by another prover. A part of validator/proof/proof.h.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

enum class Truth : uint8_t { kAlways, kNever, kUnknown };

class Decider final : public Prover {
 public:
  // other: nullptr, or who is asked last. `points`: how many are looked at for one question.
  Decider(Prover* other, int64_t points, absl::Time deadline)
      : other_(other), limit_(points), deadline_(deadline) {}

  Reply Empty(const Points& points) override;
  Reply Covers(const Relation& f, const std::vector<Relation>& g) override;
  Reply Determines(const std::vector<Relation>& f, const std::vector<std::vector<Sum>>& values) override;

  // Whether 0 <= value < extent at the points; of no points both hold.
  Truth Holds(const Points& points, const Sum& value, int64_t extent);
  bool Equal(const Points& points, const Sum& a, const Sum& b);  // proven

  bool late() const;

 private:
  Prover* Last(const Points& points);  // the other prover, where the question is one for it
  Prover* other_;
  int64_t limit_;
  absl::Time deadline_;
};

// The points with 0 <= value < extent, and those without, in one or two parts that have no point in common.
Points With(const Points& points, const Sum& value, int64_t extent);
std::vector<Points> Without(const Points& points, const Sum& value, int64_t extent);

}  // namespace kiln::proof
