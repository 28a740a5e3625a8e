#include "validator/proof/pairs.h"

#include "validator/proof/decide.h"

namespace kiln::proof {

Pairs::Pairs(const Relation& one, const Relation& other, size_t loops) : points_(one.points) {
  const auto shifted = [&](IndexSum sum) {
    for (IndexSplit& s : sum.splits) s.source.id += static_cast<int32_t>(one.points.variables.size());
    return sum;
  };
  for (const auto& [extent, value] : other.points.variables)
    points_.variables.push_back(
        {extent, value.has_value() ? std::optional<IndexSum>(shifted(*value)) : std::nullopt});
  for (const Condition& c : other.points.conditions) points_ = With(points_, shifted(c.value), c.extent);
  for (size_t i = 0; i < one.results.size(); ++i) {
    const IndexSum ahead = shifted(other.results[i]) + one.results[i] * -1;
    if (i < loops) {
      ahead_.push_back(ahead);
    } else {
      points_ = With(points_, ahead, 1);
    }
  }
}

Points Pairs::Later(size_t loop, int64_t extent) const {
  return With(points_, ahead_[loop] + IndexSum::Constant(-1), extent);
}

Points Pairs::Earlier(size_t loop, int64_t extent) const {
  return With(points_, ahead_[loop] * -1 + IndexSum::Constant(-1), extent);
}

void Pairs::Equate(size_t loop) { points_ = With(points_, ahead_[loop], 1); }

}  // namespace kiln::proof
