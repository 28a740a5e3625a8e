// The primitives sample-perfect-tile, sample-tile and sample-categorical. They draw from the distributions of
// lang/choices/distribution.h. The supports of tiles depend on the current program and on the target.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/dataflow.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

// The attributes of sample-perfect-tile and sample-tile, in the order of their declarations.
enum TileAttribute {
  kParts,
  kInnermost,
  kBudget,
  kBound,
  kMost,
  kMultiple,
  kLanes,
  kMostOf,
  kEachOf,
  kWaste
};

// Returns the target's limit `bound` in elements: "registers", "l1", "l2" or "l3", divided by the size of the widest
// type that blocks below the loop write. For "unrolled", returns a number of instructions. kInvalidArgument for other
// texts.
absl::StatusOr<int64_t> BoundOf(const Target& target, const Program& p, Id loop, absl::string_view bound) {
  if (bound == "unrolled") return target.max_unrolled;
  int64_t widest = 1;
  for (const Id block : BlocksBelow(p, loop)) {
    for (const Id buffer : WrittenBuffers(p, block))
      widest = std::max(widest, SizeOf(p.buffers[buffer].dtype));
  }
  if (bound == "registers") return int64_t{target.vector_registers} * target.vector_bytes / widest;
  if (bound == "l1") return target.l1_bytes / widest;
  if (bound == "l2") return target.l2_bytes / widest;
  if (bound == "l3") return target.l3_bytes / widest;
  return absl::InvalidArgumentError(
      absl::StrCat("the target has no bound \"", bound, "\"; there are registers, unrolled, l1, l2 and l3"));
}

// Returns the position of the first operand of the step that bounds a factor of the tile. These operands come last:
// one for each number in the attribute most-of, then one for each number in each-of.
int FirstBound(const Call& call) {
  return call.num_operands() - static_cast<int>(call.Ints(kMostOf).size() + call.Ints(kEachOf).size());
}

// Checks the operands that bound factors of a tile: each is one number, and the numbers in most-of and each-of, which
// name the factors, are below `parts`. kInvalidArgument otherwise.
absl::Status CheckBounds(const Call& call, int64_t parts) {
  for (const TileAttribute list : {kMostOf, kEachOf}) {
    for (const int64_t i : call.Ints(list)) {
      if (i < 0 || i >= parts)
        return absl::InvalidArgumentError(
            absl::StrCat("there is no bound ", i, " of a tile of ", parts, " factors"));
    }
  }
  if (FirstBound(call) < 1) return absl::InvalidArgumentError("there are fewer operands than bounds");
  for (int i = FirstBound(call); i < call.num_operands(); ++i)
    if (call.value(i).size() != 1)
      return absl::InvalidArgumentError("a bound is one number; `part` takes one of a tile");
  return absl::OkStatus();
}

// For each i, lowers bounds[which[i]] to the number of operand `first` + i, or to 1 if that is less. A bound of 0 was
// no bound before.
void Lower(const Call& call, int first, const std::vector<int64_t>& which, std::vector<int64_t>& bounds) {
  for (size_t i = 0; i < which.size(); ++i) {
    const int64_t most = std::max<int64_t>(1, call.value(first + static_cast<int>(i))[0]);
    int64_t& bound = bounds[which[i]];
    bound = bound == 0 ? most : std::min(bound, most);
  }
}

// Restricts a distribution of tiles to those in which each factor i is at most each[i] (0: no bound). Memoized per
// thread.
const Distribution& WithEach(const Distribution& tiles, const std::vector<int64_t>& each) {
  thread_local absl::flat_hash_map<std::pair<Distribution, std::vector<int64_t>>,
                                   std::unique_ptr<const Distribution>>
      memo;
  std::unique_ptr<const Distribution>& slot = memo[{tiles, each}];
  if (slot != nullptr) return *slot;
  std::vector<int64_t> kept;
  tiles.ForEach([&](const Decision& tile) {
    for (size_t i = 0; i < each.size(); ++i)
      if (each[i] > 0 && tile[i] > each[i]) return;
    kept.insert(kept.end(), tile.begin(), tile.end());
  });
  slot = std::make_unique<const Distribution>(Distribution::Only(tiles, kept));
  return *slot;
}

// Returns the largest last factor of the tile that the attributes `innermost`, `budget` and `bound` allow, given the
// sampled tiles `within`; 0 means no limit. kInvalidArgument if the bound is unknown, or an operand of `within` is a
// number.
absl::StatusOr<int64_t> Innermost(const Call& call, const Program& p) {
  int64_t innermost = call.Int(kInnermost), budget = call.Int(kBudget);
  if (!call.Text(kBound).empty()) {
    const absl::StatusOr<int64_t> bound = BoundOf(call.target(), p, call.node(0), call.Text(kBound));
    if (!bound.ok()) return bound.status();
    budget = budget == 0 ? *bound : std::min(budget, *bound);
  }
  if (budget == 0) return innermost;
  const int64_t lanes = call.Int(kLanes);
  if (lanes > 0 && FirstBound(call) == 1) budget = budget / 2 * lanes;
  for (int i = 1; i < FirstBound(call); ++i) {
    if (!call.IsValue(i)) return absl::InvalidArgumentError("`within` names sampled tiles, not numbers");
    const int64_t last = std::max<int64_t>(1, call.value(i).back());
    const bool vectors = lanes > 0 && i == 1;
    budget = vectors ? budget / ((last + lanes - 1) / lanes) - 1 : budget / last;
  }
  budget = std::max<int64_t>(1, budget);
  return innermost == 0 ? budget : std::min(innermost, budget);
}

absl::Status SampleTile(Call& call, bool perfect) {
  const LoopNode& loop = call.program().loop(call.node(0));
  const int64_t parts = call.Int(kParts);
  if (parts < 2 || parts > 8 || call.Int(kInnermost) < 0 || call.Int(kBudget) < 0 || call.Int(kLanes) < 0) {
    return absl::InvalidArgumentError(absl::StrCat("n=", parts, " innermost=", call.Int(kInnermost),
                                                   " budget=", call.Int(kBudget), " lanes=", call.Int(kLanes),
                                                   ": 2 <= n <= 8, the others >= 0"));
  }
  std::vector<int64_t> most = call.Ints(kMost), multiple = call.Ints(kMultiple);
  for (const std::vector<int64_t>* list : {&most, &multiple}) {
    if (list->size() > static_cast<size_t>(parts) ||
        std::any_of(list->begin(), list->end(), [](int64_t n) { return n < 0; })) {
      return absl::InvalidArgumentError(
          absl::StrCat("most and multiple have at most ", parts, " numbers, 0 for none"));
    }
  }
  if (const absl::Status status = CheckBounds(call, parts); !status.ok()) return status;
  const int first = FirstBound(call);
  const double waste = perfect ? 0 : call.Float(kWaste);
  if (!(waste >= 0 && waste <= 16)) return absl::InvalidArgumentError(absl::StrCat("waste=", waste));
  if (!loop.extent.constant()) return absl::FailedPreconditionError("the extent of the loop is not constant");
  const absl::StatusOr<int64_t> innermost = Innermost(call, call.program());
  if (!innermost.ok()) return innermost.status();
  if (perfect && most.empty() && multiple.empty() && first == call.num_operands()) {
    return call.Draw(Distribution::PerfectTile(loop.extent.Known(), static_cast<int>(parts), *innermost));
  }
  most.resize(parts, 0);
  multiple.resize(parts, 0);
  std::vector<int64_t> each(parts, 0);
  Lower(call, first, call.Ints(kMostOf), most);
  Lower(call, first + static_cast<int>(call.Ints(kMostOf).size()), call.Ints(kEachOf), each);
  if (*innermost > 0) most[0] = most[0] == 0 ? *innermost : std::min(most[0], *innermost);
  const Distribution tiles =
      perfect ? Distribution::BoundedTile(loop.extent.Known(), static_cast<int>(parts), most, multiple)
              : Distribution::CeilTile(loop.extent.Known(), static_cast<int>(parts), waste, most, multiple);
  if (tiles.SupportSize() == 0)
    return absl::FailedPreconditionError(absl::StrCat("there are no ", tiles.ToString()));
  if (call.Ints(kEachOf).empty()) return call.Draw(tiles);
  const Distribution& bounded = WithEach(tiles, each);
  if (bounded.SupportSize() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("no ", tiles.ToString(), " has factors of at most ", absl::StrJoin(each, " ")));
  }
  return call.Draw(bounded);
}

absl::Status SamplePerfectTile(Call& call) { return SampleTile(call, true); }
absl::Status SampleCeilTile(Call& call) { return SampleTile(call, false); }

// Keeps the values that are at most `most`, and their weights. If all are greater, keeps the least one.
void KeepUpTo(int64_t most, std::vector<int64_t>& values, std::vector<double>& weights) {
  most = std::max(most, *std::min_element(values.begin(), values.end()));
  for (size_t i = values.size(); i-- > 0;) {
    if (values[i] <= most) continue;
    values.erase(values.begin() + static_cast<int64_t>(i));
    if (!weights.empty()) weights.erase(weights.begin() + static_cast<int64_t>(i));
  }
}

absl::Status SampleCategorical(Call& call) {
  std::vector<int64_t> values = call.Ints(0);
  std::vector<double> weights = call.Floats(1);
  if (values.empty() || (!weights.empty() && weights.size() != values.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(values.size(), " values and ", weights.size(), " weights"));
  }
  for (const double w : weights) {
    if (!(w > 0)) return absl::InvalidArgumentError(absl::StrCat("weight ", w, " is not positive"));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (values[i] == values[j])
        return absl::InvalidArgumentError(absl::StrCat("value ", values[i], " is given twice"));
    }
  }
  if (call.num_operands() > 0) {
    if (call.numbers(0).size() != 1) return absl::InvalidArgumentError("`most` is one number");
    KeepUpTo(call.numbers(0)[0], values, weights);
  }
  return call.Draw(weights.empty() ? Distribution::Uniform(values) : Distribution::Discrete(values, weights));
}

// Returns the declarations of the attributes that both tile primitives have, in the order of TileAttribute.
std::vector<AttributeDecl> TileBounds() {
  return {{"n", int64_t{4}},
          {"innermost", int64_t{64}},
          {"budget", int64_t{0}},
          {"bound", std::string()},
          {"most", std::vector<int64_t>()},
          {"multiple", std::vector<int64_t>()},
          {"lanes", int64_t{0}},
          {"most-of", std::vector<int64_t>(), true},
          {"each-of", std::vector<int64_t>(), true}};
}

std::vector<AttributeDecl> PerfectTileAttributes() {
  std::vector<AttributeDecl> attributes = TileBounds();
  attributes.push_back(Only());
  return attributes;
}

std::vector<AttributeDecl> TileBoundsAndWaste() {
  std::vector<AttributeDecl> attributes = TileBounds();
  attributes.push_back({"waste", 0.25});
  attributes.push_back(Only());
  return attributes;
}

const Primitive kSamplePerfectTile{
    .name = "sample-perfect-tile",
    .operands = {{"loop", OperandKind::kLoop}, {"within", OperandKind::kFactor, true}},
    .attributes = PerfectTileAttributes(),
    .result = HandleKind::kValue,
    .result_names = "factors",
    .sampling = true,
    .reads_only = true,
    .doc =
        "Draws, uniformly, n factors whose product is the extent of the loop. The last factor is at most "
        "`innermost` (0: no limit). With a budget, the product of the last factor and those of the tiles "
        "`within` is at most the budget. The same holds for a `bound` of the target, in elements: "
        "registers, unrolled, l1, l2 or l3. With `lanes`, the budget counts vectors of that many "
        "elements. The last factor of the first tile of `within` (of this tile, if there is none) fills "
        "them, and the budget includes a row of operands. The product of the last i factors is at most "
        "the i-th number of `most` and a multiple of the i-th number of `multiple` (0: no bound). The last "
        "operands may be bounds that are sampled or computed: as many as `most-of` and `each-of` have "
        "numbers. `most-of` names positions in `most`, from 0; `each-of` names factors, from 0, each of "
        "which is at most its operand. A bound below 1 leaves 1. Does not apply if no tile satisfies the bounds. As at every site, `only` lists the decisions to "
        "which the support is restricted, one after the other; an empty list allows all.",
    .apply = SamplePerfectTile,
};
KILN_PRIMITIVE(kSamplePerfectTile);

const Primitive kSampleTile{
    .name = "sample-tile",
    .operands = {{"loop", OperandKind::kLoop}, {"within", OperandKind::kFactor, true}},
    .attributes = TileBoundsAndWaste(),
    .result = HandleKind::kValue,
    .result_names = "factors",
    .sampling = true,
    .reads_only = true,
    .doc =
        "Draws n factors that cover the extent of the loop, for extents that divide badly. Half of the "
        "time it draws a perfect tile. Otherwise the first factor covers the extent, and at most the "
        "share `waste` of the iterations is wasted. The other factors satisfy the bounds of "
        "sample-perfect-tile. Does not apply if no tile satisfies them.",
    .apply = SampleCeilTile,
};
KILN_PRIMITIVE(kSampleTile);

const Primitive kSampleCategorical{
    .name = "sample-categorical",
    .operands = {{"most", OperandKind::kFactor, true}},
    .attributes = {{"values", std::vector<int64_t>()}, {"weights", std::vector<double>()}, Only()},
    .result = HandleKind::kValue,
    .result_names = "value",
    .sampling = true,
    .reads_only = true,
    .doc =
        "Draws one of the values with the given weights; without weights, all values are equally likely. If "
        "there is an operand, draws among the values that are at most this number, or takes the least value "
        "if all are greater.",
    .apply = SampleCategorical,
};
KILN_PRIMITIVE(kSampleCategorical);

}  // namespace
}  // namespace kiln
