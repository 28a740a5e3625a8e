#include <algorithm>
#include <cstdlib>

#include "lang/analysis/loop_nest_summary.h"
#include "lang/base/random.h"
#include "lang/program/layout.h"
#include "validator/numeric/tolerance.h"

namespace kiln {
namespace {

// Returns, for each dimension, the indices where the second and the last tile of a writing block begin, and the index
// before each. Ascending; none at the ends of the dimension.
std::vector<std::vector<int64_t>> TileEdges(const LoopNestSummary& nests, Id buffer,
                                            absl::Span<const Extent> shape) {
  std::vector<std::vector<int64_t>> edges(shape.size());
  for (const NestAccess& access : nests.accesses()) {
    if (access.buffer != buffer || !access.writes || access.axes.count != static_cast<int>(shape.size()))
      continue;
    for (size_t d = 0; d < shape.size(); ++d) {
      for (const NestTerm& term : nests.terms(nests.axes(access)[d])) {
        const int64_t size = std::abs(term.scale), last = shape[d].Known() - 1;
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
        more = ++index[d] < shape_[d].Known();
        if (!more) index[d] = 0;
      }
    }
  }

  // Adds corners of the buffer, each with the diagonally opposite corner, until a quarter of the wanted elements are
  // chosen.
  void Corners() {
    const size_t free = std::min<size_t>(shape_.size(), 6);
    for (size_t bits = 0; bits < size_t{1} << (free - 1) && Chosen() < n_ / 4; ++bits) {
      for (const size_t flip : {size_t{0}, ~size_t{0}}) {
        std::vector<int64_t> index(shape_.size(), 0);
        for (size_t d = 0; d < shape_.size(); ++d) {
          if (((bits ^ flip) >> std::min(d, free - 1) & 1) != 0) index[d] = shape_[d].Known() - 1;
        }
        Add(index);
      }
    }
  }

  // Adds elements at tile edges, one dimension after the other, until three quarters of the wanted elements are chosen.
  // The other coordinates are random, or with probability 1/2 at a tile edge of their own dimension.
  void Edges(const std::vector<std::vector<int64_t>>& edges, Dice& dice) {
    size_t most = 0;
    for (const auto& list : edges) most = std::max(most, list.size());
    for (size_t turn = 0; turn < most; ++turn) {
      for (size_t d = 0; d < shape_.size() && Chosen() < n_ - n_ / 4; ++d) {
        if (turn >= edges[d].size()) continue;
        std::vector<int64_t> index = Random(dice);
        for (size_t e = 0; e < shape_.size(); ++e) {
          if (!edges[e].empty() && dice.Flip(0.5))
            index[e] = edges[e][dice.Below(static_cast<int64_t>(edges[e].size()))];
        }
        index[d] = edges[d][turn];
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
    for (const Extent& e : shape_) index.push_back(dice.Below(e.Known()));
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
  LoopNestSummary nests;
  nests.Read(program);
  for (const Id buffer : program.parameters) {
    if (program.buffers[buffer].role != Role::kOutput) continue;
    RandomDice dice(Engine({seed, static_cast<uint64_t>(buffer)}));
    const auto shape = program.Dims(program.buffers[buffer].shape);
    ElementChooser chooser(buffer, shape, static_cast<size_t>(n), elements);
    if (ElementsOf(program, buffer) <= n) {
      chooser.All();
      continue;
    }
    chooser.Corners();
    chooser.Edges(TileEdges(nests, buffer, shape), dice);
    chooser.Fill(dice);
  }
  return elements;
}

}  // namespace kiln
