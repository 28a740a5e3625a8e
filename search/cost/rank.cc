#include "search/cost/rank.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "lang/base/check.h"

namespace kiln {
namespace {

double KthLargest(absl::Span<const double> values, int k) {
  std::vector<double> sorted(values.begin(), values.end());
  std::nth_element(sorted.begin(), sorted.begin() + (k - 1), sorted.end(), std::greater<>());
  return sorted[k - 1];
}

}  // namespace

std::optional<double> RankAccuracy(absl::Span<const double> scores, absl::Span<const double> truth) {
  KILN_CHECK(scores.size() == truth.size());
  double right = 0;
  double pairs = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (truth[i] == truth[j]) continue;
      pairs += 1;
      if (scores[i] == scores[j]) {
        right += 0.5;
      } else if ((scores[i] > scores[j]) == (truth[i] > truth[j])) {
        right += 1;
      }
    }
  }
  if (pairs == 0) return std::nullopt;
  return right / pairs;
}

std::optional<double> RecallAtK(absl::Span<const double> scores, absl::Span<const double> truth, int k) {
  KILN_CHECK(scores.size() == truth.size() && k > 0);
  if (static_cast<int>(scores.size()) < k) return std::nullopt;
  const double last_score = KthLargest(scores, k);
  const double last_truth = KthLargest(truth, k);
  int taken = 0;
  int taken_good = 0;
  int tied = 0;
  int tied_good = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const bool good = truth[i] >= last_truth;
    if (scores[i] > last_score) {
      ++taken;
      taken_good += good;
    } else if (scores[i] == last_score) {
      ++tied;
      tied_good += good;
    }
  }
  return (taken_good + static_cast<double>(tied_good) * (k - taken) / tied) / k;
}

}  // namespace kiln
