#include "lang/index/index_map.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "lang/base/check.h"

namespace kiln {
namespace {

using Splits = decltype(IndexSum::splits);

bool HasSource(const Splits& splits, size_t end, Source source) {
  for (size_t i = 0; i < end; ++i) {
    if (splits[i].source == source) return true;
  }
  return false;
}

bool CanonicalOrder(const IndexSplit& a, const IndexSplit& b) {
  if (std::abs(a.scale) != std::abs(b.scale)) return std::abs(a.scale) > std::abs(b.scale);
  if (a.source != b.source) return a.source < b.source;
  if (a.lower != b.lower) return a.lower < b.lower;
  if (a.extent != b.extent) return a.extent < b.extent;
  return a.scale < b.scale;
}

void SortSplits(Splits& splits) {
  for (size_t i = 1; i < splits.size(); ++i) {
    for (size_t j = i; j > 0 && CanonicalOrder(splits[j], splits[j - 1]); --j)
      std::swap(splits[j], splits[j - 1]);
  }
}

// Returns how many values (source / lower) % extent of a split takes if the source runs from 0 to `extent` - 1.
int64_t RangeWithin(const IndexSplit& split, int64_t extent) {
  const int64_t quotients = split.lower == 1 ? extent : (extent + split.lower - 1) / split.lower;
  return split.extent == 0 ? quotients : std::min(quotients, split.extent);
}

// One term of a source's contribution to a sum, factor * floor(source / lower). Every sum has this form,
// since (s / l) % e = s/l - e * (s/(l*e)). The form is unique: floor(s / l) is first nonzero at s = l, so
// these functions are independent.
struct Quotient {
  int64_t lower, factor;
};
using Quotients = absl::InlinedVector<Quotient, 8>;

void Add(int64_t lower, int64_t factor, Quotients& quotients) {
  size_t at = 0;
  while (at < quotients.size() && quotients[at].lower < lower) ++at;
  if (at < quotients.size() && quotients[at].lower == lower) {
    quotients[at].factor += factor;
  } else {
    quotients.insert(quotients.begin() + at, {lower, factor});
  }
}

// Appends the sum of the quotients as splits whose digits do not overlap: s/1 + s/4 becomes (s/4)*5 + s%4. Requires
// that each `lower` divides the next.
void AppendDigits(const Quotients& quotients, Source source, Splits& out) {
  int64_t scale = 0;
  for (size_t i = 0; i < quotients.size(); ++i) {
    const int64_t lower = quotients[i].lower;
    const int64_t extent = i + 1 < quotients.size() ? quotients[i + 1].lower / lower : 0;
    scale += quotients[i].factor;
    if (scale != 0) out.push_back({source, scale, lower, extent});
    scale *= extent;
  }
}

// Appends the sum of the quotients as splits, with a remainder wherever two factors of opposite sign cancel: s -
// 4*(s/4) becomes s%4. Counts in multiples of the factors' greatest common divisor, so that a multiple of a sum gets
// the same remainders.
void AppendRemainders(Quotients quotients, Source source, Splits& out) {
  int64_t unit = 0;
  for (const Quotient& quotient : quotients) unit = std::gcd(unit, quotient.factor);
  for (size_t i = 0; i < quotients.size(); ++i) {
    auto& [lower, factor] = quotients[i];
    for (size_t j = i + 1; j < quotients.size() && factor != 0; ++j) {
      if (quotients[j].lower % lower != 0 || (quotients[j].factor < 0) == (factor < 0)) continue;
      const int64_t extent = quotients[j].lower / lower;
      const int64_t units = std::min(std::abs(factor), std::abs(quotients[j].factor) / extent) / unit;
      const int64_t scale = factor < 0 ? -units * unit : units * unit;
      if (scale == 0) continue;
      out.push_back({source, scale, lower, extent});
      factor -= scale;
      quotients[j].factor += scale * extent;
    }
    if (factor != 0) out.push_back({source, factor, lower, 0});
  }
}

void JoinSource(const Splits& splits, Source source, Splits& out) {
  Quotients quotients;
  for (const IndexSplit& split : splits) {
    if (split.source != source) continue;
    Add(split.lower, split.scale, quotients);
    if (split.extent != 0) Add(split.lower * split.extent, -split.scale * split.extent, quotients);
  }
  quotients.erase(
      std::remove_if(quotients.begin(), quotients.end(), [](const Quotient& q) { return q.factor == 0; }),
      quotients.end());
  bool digits = true;
  for (size_t i = 1; i < quotients.size(); ++i) digits &= quotients[i].lower % quotients[i - 1].lower == 0;
  if (digits) {
    AppendDigits(quotients, source, out);
  } else {
    AppendRemainders(quotients, source, out);
  }
}

Splits JoinRepeatedSources(const Splits& splits) {
  Splits out;
  for (size_t i = 0; i < splits.size(); ++i) {
    if (!HasSource(splits, i, splits[i].source)) JoinSource(splits, splits[i].source, out);
  }
  return out;
}

// Returns the largest value of Σ sign * scale * digit over all values 0 .. `last` of a source. The digits, each (source
// / lower) % extent, do not overlap and are ordered by `lower`. From the highest digit down, the best value either
// follows the digits of `last` or goes below one and is free in all lower digits.
int64_t LargestOfDigits(const Splits& digits, int64_t last, int sign) {
  int64_t best = 0, free = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    const int64_t scale = sign * digits[i].scale;
    const int64_t value = (i + 1 < digits.size() ? last % digits[i + 1].lower : last) / digits[i].lower;
    const int64_t free_here = free + std::max<int64_t>(0, scale * (digits[i].extent - 1));
    if (digits[i].extent != 0 && value >= digits[i].extent) {
      best = free_here;
    } else {
      best += scale * value;
      if (value > 0) best = std::max(best, free + std::max<int64_t>(0, scale * (value - 1)));
    }
    free = free_here;
  }
  return best;
}

bool Overlap(const Splits& digits) {
  for (size_t i = 1; i < digits.size(); ++i) {
    const int64_t upper = digits[i - 1].lower * digits[i - 1].extent;
    if (upper == 0 || digits[i].lower % upper != 0) return true;
  }
  return false;
}

void AddBounds(const IndexSplit& split, ExtentOf extent_of, Interval& total) {
  const int64_t reach = split.scale * (SplitRange(split, extent_of) - 1);
  (reach < 0 ? total.min : total.max) += reach;
}

void AddBoundsOfSource(const Splits& splits, Source source, ExtentOf extent_of, Interval& total) {
  Splits digits;
  for (const IndexSplit& split : splits) {
    if (split.source == source) digits.push_back(split);
  }
  std::sort(digits.begin(), digits.end(),
            [](const IndexSplit& a, const IndexSplit& b) { return a.lower < b.lower; });
  if (Overlap(digits)) {
    for (const IndexSplit& digit : digits) AddBounds(digit, extent_of, total);
  } else {
    const int64_t last = extent_of(source) - 1;
    total.max += LargestOfDigits(digits, last, 1);
    total.min -= LargestOfDigits(digits, last, -1);
  }
}

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// Splits a sum in canonical form into quotient * divisor + remainder with 0 <= remainder < divisor. The two parts may
// not be canonical. Returns false if it finds no such parts.
bool Separate(const IndexSum& sum, int64_t divisor, ExtentOf extent_of, IndexSum& quotient,
              IndexSum& remainder) {
  for (const IndexSplit& split : sum.splits) {
    const int64_t multiple = split.scale / divisor, rest = split.scale % divisor;
    if (multiple != 0) quotient.splits.push_back({split.source, multiple, split.lower, split.extent});
    if (rest == 0) continue;
    const int64_t cut = divisor % rest == 0 ? std::abs(divisor / rest) : 0;
    if (cut != 0 && split.extent % cut == 0 && SplitRange(split, extent_of) > cut) {
      quotient.splits.push_back({split.source, rest < 0 ? -1 : 1, split.lower * cut, split.extent / cut});
      remainder.splits.push_back({split.source, rest, split.lower, cut});
    } else {
      remainder.splits.push_back({split.source, rest, split.lower, split.extent});
    }
  }
  const Interval rest = Bounds(remainder, extent_of);
  quotient.offset = FloorDiv(rest.min + sum.offset, divisor);
  remainder.offset = sum.offset - quotient.offset * divisor;
  return rest.max + remainder.offset < divisor;
}

std::string SplitText(const IndexSplit& split, const std::string& name) {
  std::string text = name;
  if (split.lower != 1) absl::StrAppend(&text, "/", split.lower);
  if (split.extent != 0) absl::StrAppend(&text, "%", split.extent);
  if (std::abs(split.scale) != 1) absl::StrAppend(&text, "*", std::abs(split.scale));
  return text;
}

}  // namespace

IndexSum operator+(IndexSum a, const IndexSum& b) {
  a.offset += b.offset;
  a.splits.insert(a.splits.end(), b.splits.begin(), b.splits.end());
  return a;
}

IndexSum operator*(IndexSum a, int64_t factor) {
  a.offset *= factor;
  for (IndexSplit& split : a.splits) split.scale *= factor;
  return a;
}

int64_t SplitRange(const IndexSplit& split, ExtentOf extent_of) {
  return RangeWithin(split, extent_of(split.source));
}

Interval Bounds(const IndexSum& sum, ExtentOf extent_of) {
  Interval total{sum.offset, sum.offset};
  for (size_t i = 0; i < sum.splits.size(); ++i) {
    const Source source = sum.splits[i].source;
    if (HasSource(sum.splits, i, source)) continue;
    bool repeated = false;
    for (size_t j = i + 1; j < sum.splits.size(); ++j) repeated |= sum.splits[j].source == source;
    if (repeated) {
      AddBoundsOfSource(sum.splits, source, extent_of, total);
    } else {
      AddBounds(sum.splits[i], extent_of, total);
    }
  }
  return total;
}

IndexSum Simplify(const IndexSum& sum, ExtentOf extent_of, Interval* bounds) {
  IndexSum result{sum.offset, {}};
  Interval reach{sum.offset, sum.offset};
  bool repeated = false;
  for (IndexSplit split : sum.splits) {
    const int64_t values = extent_of(split.source);
    if (split.scale == 0 || split.extent == 1 || split.lower >= values) continue;
    if (split.extent >= values || split.lower * split.extent >= values) split.extent = 0;
    repeated = repeated || HasSource(result.splits, result.splits.size(), split.source);
    result.splits.push_back(split);
    if (bounds == nullptr) continue;
    (split.scale < 0 ? reach.min : reach.max) += split.scale * (RangeWithin(split, values) - 1);
  }
  if (repeated) result.splits = JoinRepeatedSources(result.splits);
  SortSplits(result.splits);
  if (bounds != nullptr) *bounds = repeated ? Bounds(result, extent_of) : reach;
  return result;
}

std::optional<IndexSum> DivMod(const IndexSum& sum, int64_t lower, int64_t extent, ExtentOf extent_of) {
  KILN_CHECK(lower >= 1 && extent >= 0, "DivMod by ", lower, " and ", extent);
  if (extent == 1) return IndexSum::Constant(0);
  IndexSum value = Simplify(sum, extent_of);
  if (lower != 1) {
    IndexSum quotient, rest;
    if (!Separate(value, lower, extent_of, quotient, rest)) return std::nullopt;
    value = Simplify(quotient, extent_of);
  }
  if (extent == 0) return value;
  IndexSum quotient, rest;
  if (!Separate(value, extent, extent_of, quotient, rest)) return std::nullopt;
  return Simplify(rest, extent_of);
}

std::optional<IndexSum> Substitute(const IndexSum& sum,
                                   absl::FunctionRef<std::optional<IndexSum>(Source)> definition,
                                   ExtentOf extent_of) {
  const auto unbounded = [](Source) { return std::numeric_limits<int64_t>::max(); };
  bool repeated = false;
  for (size_t i = 1; i < sum.splits.size(); ++i)
    repeated = repeated || HasSource(sum.splits, i, sum.splits[i].source);
  const IndexSum joined = repeated ? Simplify(sum, unbounded) : IndexSum();
  IndexSum result{sum.offset, {}};
  for (const IndexSplit& split : repeated ? joined.splits : sum.splits) {
    std::optional<IndexSum> value = definition(split.source);
    if (!value) {
      result.splits.push_back(split);
      continue;
    }
    if (split.lower != 1 || split.extent != 0) value = DivMod(*value, split.lower, split.extent, extent_of);
    if (!value) return std::nullopt;
    result.offset += value->offset * split.scale;
    for (IndexSplit part : value->splits) {
      part.scale *= split.scale;
      result.splits.push_back(part);
    }
  }
  return Simplify(result, extent_of);
}

int64_t Evaluate(const IndexSum& sum, absl::FunctionRef<int64_t(Source)> value_of) {
  int64_t value = sum.offset;
  for (const IndexSplit& split : sum.splits) {
    const int64_t quotient = value_of(split.source) / split.lower;
    value += split.scale * (split.extent == 0 ? quotient : quotient % split.extent);
  }
  return value;
}

std::string ToString(const IndexSum& sum, absl::FunctionRef<std::string(Source)> name_of) {
  const bool offset_first = sum.splits.empty() || sum.splits.front().scale < 0;
  std::string text = offset_first ? absl::StrCat(sum.offset) : "";
  for (const IndexSplit& split : sum.splits) {
    absl::StrAppend(&text,
                    text.empty()      ? ""
                    : split.scale < 0 ? " - "
                                      : " + ",
                    SplitText(split, name_of(split.source)));
  }
  if (!offset_first && sum.offset != 0)
    absl::StrAppend(&text, sum.offset < 0 ? " - " : " + ", std::abs(sum.offset));
  return text;
}

}  // namespace kiln
