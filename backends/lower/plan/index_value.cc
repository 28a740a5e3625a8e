#include "backends/lower/plan/index_value.h"

#include <algorithm>

namespace kiln {

IndexValue IndexValue::Constant(int64_t value) {
  IndexValue result;
  result.constant = value;
  return result;
}

IndexValue IndexValue::OfAtom(int atom) {
  IndexValue result;
  result.terms.push_back({atom, 1});
  return result;
}

IndexValue IndexValue::OfLaneAtom(int atom) {
  IndexValue result;
  result.vectors.push_back({atom, 1});
  return result;
}

IndexValue IndexValue::Lanes(int64_t count) {
  IndexValue result;
  for (int64_t i = 0; i < count; ++i) result.lanes.push_back(i);
  return result;
}

std::optional<int64_t> IndexValue::stride() const {
  if (!vectors.empty()) return std::nullopt;
  if (lanes.size() < 2) return 0;
  for (size_t i = 1; i < lanes.size(); ++i) {
    if (lanes[i] != lanes[1] * static_cast<int64_t>(i)) return std::nullopt;
  }
  return lanes[1];
}

IndexValue IndexValue::Uniform() const {
  IndexValue result = *this;
  result.lanes.clear();
  result.vectors.clear();
  return result;
}

IndexValue IndexValue::Lane(size_t lane) const {
  IndexValue result = Uniform();
  if (!lanes.empty()) result.constant += lanes[lane];
  return result;
}

void IndexValue::Add(const IndexValue& other, int64_t scale) {
  if (scale == 0) return;
  constant += other.constant * scale;
  for (const auto& [atom, coefficient] : other.terms) {
    const auto at =
        std::lower_bound(terms.begin(), terms.end(), atom,
                         [](const std::pair<int, int64_t>& term, int id) { return term.first < id; });
    if (at == terms.end() || at->first != atom) {
      terms.insert(at, {atom, coefficient * scale});
    } else if ((at->second += coefficient * scale) == 0) {
      terms.erase(at);
    }
  }
  if (lanes.empty() && !other.lanes.empty()) lanes.assign(other.lanes.size(), 0);
  for (size_t i = 0; i < other.lanes.size(); ++i) lanes[i] += other.lanes[i] * scale;
  if (std::all_of(lanes.begin(), lanes.end(), [](int64_t lane) { return lane == 0; })) lanes.clear();
  for (PerLane vector : other.vectors) {
    vector.scale *= scale;
    vectors.push_back(vector);
  }
}

void IndexValue::AppendKey(std::vector<int64_t>& key) const {
  key.push_back(constant);
  for (const auto& [atom, coefficient] : terms) {
    key.push_back(atom);
    key.push_back(coefficient);
  }
  key.push_back(-1);
  key.push_back(static_cast<int64_t>(lanes.size()));  // two lanes are no atom with its scale
  key.insert(key.end(), lanes.begin(), lanes.end());
  for (const PerLane& vector : vectors) {
    key.push_back(vector.atom);
    key.push_back(vector.scale);
  }
}

int64_t FloorDiv(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - (value % divisor != 0 && (value % divisor < 0) != (divisor < 0));
}

int64_t DigitOf(int64_t value, int64_t lower, int64_t extent) {
  const int64_t quotient = FloorDiv(value, lower);
  return extent == 0 ? quotient : quotient - FloorDiv(quotient, extent) * extent;
}

}  // namespace kiln
