// Answers questions about sets of integer points in three ways: with the algebra of index maps, by visiting each point
// if there are few, and by asking another prover. A part of validator/proof/proof.h.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

enum class Truth : uint8_t { kAlways, kNever, kUnknown };

class Decider final : public Prover {
 public:
  // Creates a decider. `other` is the prover to ask last, or nullptr. `points` limits the points visited for
  // one question. After the deadline, only the algebra answers new questions.
  Decider(Prover* other, int64_t points, absl::Time deadline)
      : other_(other), limit_(points), deadline_(deadline) {}

  Reply Empty(const Points& points) override;
  Reply Covers(const Relation& f, const std::vector<Relation>& g) override;
  Reply Determines(const std::vector<Relation>& f, const std::vector<std::vector<IndexSum>>& values) override;

  // Decides whether 0 <= value < extent holds at all points or at none; kUnknown if neither is proven. If there are no
  // points, either answer may come.
  Truth Holds(const Points& points, const IndexSum& value, int64_t extent);
  bool Equal(const Points& points, const IndexSum& a,
             const IndexSum& b);  // true if proven equal at all points

  bool late() const;

 private:
  bool Reaches(const Relation& relation, const Relation& f);
  Prover* other_;
  int64_t limit_;
  absl::Time deadline_;
};

// With returns the points with 0 <= value < extent, Without the other points as at most two disjoint parts.
Points With(const Points& points, const IndexSum& value, int64_t extent);
std::vector<Points> Without(const Points& points, const IndexSum& value, int64_t extent);

}  // namespace kiln::proof
