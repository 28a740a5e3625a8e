#include "validator/equivalence.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lang/analysis/nests.h"
#include "lang/check.h"
#include "lang/random.h"
#include "lang/scalar.h"

namespace kiln {
namespace {

int64_t Count(absl::Span<const Extent> shape) {
  int64_t count = 1;
  for (const Extent& e : shape) count *= e.max;
  return count;
}

// Per dimension: where a tile of some block that writes the buffer begins, and the place before it.
std::vector<std::vector<int64_t>> TileEdges(const Nests& nests, Id buffer, absl::Span<const Extent> shape) {
  std::vector<std::vector<int64_t>> edges(shape.size());
  for (const NestAccess& access : nests.accesses()) {
    if (access.buffer != buffer || !access.writes || access.axes.count != static_cast<int>(shape.size()))
      continue;
    for (size_t d = 0; d < shape.size(); ++d) {
      for (const NestTerm& term : nests.terms(nests.axes(access)[d])) {
        const int64_t size = std::abs(term.scale), last = shape[d].max - 1;
        if (size <= 1) continue;
        for (const int64_t at : {size - 1, size, last / size * size - 1, last / size * size}) {
          if (at > 0 && at < last) edges[d].push_back(at);
        }
      }
    }
  }
  for (auto& list : edges) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return edges;
}

class ElementChooser {
 public:
  ElementChooser(Id buffer, absl::Span<const Extent> shape, size_t n, std::vector<Element>& out)
      : buffer_(buffer), shape_(shape), n_(n), out_(out), first_(out.size()) {}

  void All() {
    std::vector<int64_t> index(shape_.size(), 0);
    for (bool more = true; more;) {
      Add(index);
      more = false;
      for (size_t d = shape_.size(); d-- > 0 && !more;) {
        more = ++index[d] < shape_[d].max;
        if (!more) index[d] = 0;
      }
    }
  }

  void Corners() {
    const size_t free = std::min<size_t>(shape_.size(), 6);
    for (size_t bits = 0; bits < size_t{1} << free && Chosen() < n_ / 2; ++bits) {
      std::vector<int64_t> index(shape_.size(), 0);
      for (size_t d = 0; d < free; ++d) {
        if ((bits >> d & 1) != 0) index[d] = shape_[d].max - 1;
      }
      Add(index);
    }
  }

  // Other dimensions at random, and at edges of their own half of the time.
  void Edges(const std::vector<std::vector<int64_t>>& edges, Dice& dice) {
    for (size_t d = 0; d < shape_.size(); ++d) {
      for (const int64_t edge : edges[d]) {
        if (Chosen() >= n_ / 2) return;
        std::vector<int64_t> index = Random(dice);
        for (size_t e = 0; e < shape_.size(); ++e) {
          if (!edges[e].empty() && dice.Flip(0.5))
            index[e] = edges[e][dice.Below(static_cast<int64_t>(edges[e].size()))];
        }
        index[d] = edge;
        Add(index);
      }
    }
  }

  void Fill(Dice& dice) {
    while (Chosen() < n_) Add(Random(dice));
  }

 private:
  size_t Chosen() const { return out_.size() - first_; }
  std::vector<int64_t> Random(Dice& dice) const {
    std::vector<int64_t> index;
    for (const Extent& e : shape_) index.push_back(dice.Below(e.max));
    return index;
  }
  void Add(const std::vector<int64_t>& index) {
    const Element element{buffer_, index};
    if (std::find(out_.begin() + static_cast<int64_t>(first_), out_.end(), element) == out_.end())
      out_.push_back(element);
  }

  const Id buffer_;
  const absl::Span<const Extent> shape_;
  const size_t n_;
  std::vector<Element>& out_;
  const size_t first_;
};

}  // namespace

std::vector<Element> ChooseElements(const Program& program, int n, uint64_t seed) {
  std::vector<Element> elements;
  Nests nests;
  nests.Read(program);
  for (const Id buffer : program.parameters) {
    if (program.buffers[buffer].role != Role::kOutput) continue;
    RandomDice dice(Engine({seed, static_cast<uint64_t>(buffer)}));
    const auto shape = program.Dims(program.buffers[buffer].shape);
    ElementChooser chooser(buffer, shape, static_cast<size_t>(n), elements);
    if (Count(shape) <= n) {
      chooser.All();
      continue;
    }
    chooser.Corners();
    chooser.Edges(TileEdges(nests, buffer, shape), dice);
    chooser.Fill(dice);
  }
  return elements;
}

bool Agrees(double found, double wanted, const OutputTolerance& tolerance) {
  if (std::isnan(found) || std::isnan(wanted)) return std::isnan(found) && std::isnan(wanted);
  if (std::isinf(found) || std::isinf(wanted)) return found == wanted;
  return std::abs(found - wanted) <= tolerance.absolute + tolerance.relative * std::abs(wanted);
}

std::optional<std::string> Disagreement(DType dtype, absl::string_view found, absl::string_view wanted,
                                        const OutputTolerance& tolerance) {
  KILN_CHECK(found.size() == wanted.size(), "arrays of ", found.size(), " and ", wanted.size(), " bytes");
  const int64_t size = SizeOf(dtype), count = static_cast<int64_t>(found.size()) / size;
  int64_t wrong = 0, worst = -1;
  double most = -1;
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    const Scalar f = LoadScalar(dtype, found.data() + i * size),
                 w = LoadScalar(dtype, wanted.data() + i * size);
    if (IsFloat(dtype) ? Agrees(f.f, w.f, tolerance) : f.i == w.i) continue;
    ++wrong;
    const double error =
        IsFloat(dtype) ? std::abs(f.f - w.f) : std::abs(static_cast<double>(f.i) - static_cast<double>(w.i));
    const double rank = std::isnan(error) ? HUGE_VAL : error;
    if (rank <= most) continue;
    most = rank;
    worst = i;
    text = IsFloat(dtype) ? absl::StrCat(f.f, ", not ", w.f) : absl::StrCat(f.i, ", not ", w.i);
  }
  if (wrong == 0) return std::nullopt;
  return absl::StrCat(wrong, " of ", count, " elements differ; element ", worst, " is ", text);
}

}  // namespace kiln
