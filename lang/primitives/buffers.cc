// transform-layout, set-scope: change fields of a buffer. They do not change values, only where values are
// stored.
//
//   A[i, j] row-major   -- transform-layout "(i, j) -> (j/16, i, j%16)" -->   A[i, j] in panels of 16 columns
#include <algorithm>
#include <cctype>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/base/unknown_name.h"
#include "lang/program/layout.h"
#include "lang/program/text_names.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

using Numbers = absl::Span<const int64_t>;
using Names = absl::InlinedVector<absl::string_view, 8>;

// Parses a sum of terms name, name/number, name%number, name/number%number, each with an optional *number. $n stands
// for the n-th of `numbers`, from 0. Returns nullopt for other texts, unknown names and numbers below 1.
std::optional<IndexSum> ParseSum(absl::string_view text, const Names& names, Numbers numbers) {
  IndexSum sum;
  for (absl::string_view term : absl::StrSplit(text, '+')) {
    IndexSplit split;
    const absl::string_view t = absl::StripAsciiWhitespace(term);
    size_t at = 0;
    while (at < t.size() && (std::isalnum(static_cast<unsigned char>(t[at])) || t[at] == '_')) ++at;
    const auto name = std::find(names.begin(), names.end(), t.substr(0, at));
    if (name == names.end()) return std::nullopt;
    split.source = Source::Iter(static_cast<int32_t>(name - names.begin()));
    while (at < t.size()) {
      const char op = t[at++];
      int64_t number = 0;
      const bool given = at < t.size() && t[at] == '$';
      const size_t from = at += given;
      while (at < t.size() && std::isdigit(static_cast<unsigned char>(t[at])) && at - from < 12)
        number = number * 10 + (t[at++] - '0');
      if (at == from || (given && number >= static_cast<int64_t>(numbers.size()))) return std::nullopt;
      if (given) number = numbers[number];
      if (number < 1) return std::nullopt;
      if (op == '/' && split.extent == 0) {
        split.lower *= number;
      } else if (op == '%' && split.extent == 0) {
        split.extent = number;
      } else if (op == '*') {
        split.scale *= number;
      } else {
        return std::nullopt;
      }
    }
    sum.splits.push_back(split);
  }
  return sum;
}

// Parses a map such as "(i, j) -> (j/16, i, j%16)" over a shape. kInvalidArgument if it is malformed,
// kFailedPrecondition if it is of another number of dimensions.
absl::StatusOr<IndexMap> ParseMap(absl::string_view text, const std::vector<int64_t>& shape,
                                  Numbers numbers) {
  const auto malformed = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("the map \"", text, "\" with ", numbers.size(), " numbers: ", why,
                     "; a map looks like \"(i, j) -> (j/16, i, j%16)\", and $0 is the first number"));
  };
  const std::vector<absl::string_view> sides = absl::StrSplit(text, "->");
  if (sides.size() != 2) return malformed("there is no single ->");
  Names lists[2];
  for (int i = 0; i < 2; ++i) {
    absl::string_view side = absl::StripAsciiWhitespace(sides[i]);
    if (!absl::ConsumePrefix(&side, "(") || !absl::ConsumeSuffix(&side, ")"))
      return malformed("a side is not in parentheses");
    for (const absl::string_view item : absl::StrSplit(side, ','))
      lists[i].push_back(absl::StripAsciiWhitespace(item));
  }
  if (lists[0].size() != shape.size()) {
    return absl::FailedPreconditionError(absl::StrCat("the map \"", text, "\" is of ", lists[0].size(),
                                                      " dimensions, but the buffer has ", shape.size()));
  }
  IndexMap map = IndexMap::Identity(shape);
  map.results.clear();
  for (const absl::string_view item : lists[1]) {
    const std::optional<IndexSum> sum = ParseSum(item, lists[0], numbers);
    if (!sum.has_value()) return malformed(absl::StrCat("\"", item, "\" is not an index"));
    map.results.push_back(*sum);
  }
  return map;
}

// Extends the domain to whole tiles: the extent of an index that is divided by n is rounded up to a multiple
// of n.
IndexMap WithWholeTiles(IndexMap map) {
  for (const IndexSum& sum : map.results) {
    for (const IndexSplit& split : sum.splits) {
      int64_t& extent = map.domain[split.source.id];
      extent = (extent + split.lower - 1) / split.lower * split.lower;
    }
  }
  return map;
}

// Parses the kinds of the axes, such as "lane, lane, register". The list may be empty. kInvalidArgument for an unknown
// kind, kFailedPrecondition for another number of kinds than `axes`.
absl::StatusOr<std::vector<int32_t>> ParseKinds(absl::string_view text, size_t axes) {
  std::vector<int32_t> kinds;
  if (text.empty()) return kinds;
  for (absl::string_view word : absl::StrSplit(text, ',')) {
    const auto kind =
        std::find(std::begin(kAxisNames), std::end(kAxisNames), absl::StripAsciiWhitespace(word));
    if (kind == std::end(kAxisNames)) {
      return absl::InvalidArgumentError(
          UnknownName("kind of axis", absl::StripAsciiWhitespace(word), kAxisNames));
    }
    kinds.push_back(static_cast<int32_t>(kind - std::begin(kAxisNames)));
  }
  if (kinds.size() == axes) return kinds;
  return absl::FailedPreconditionError(
      absl::StrCat(kinds.size(), " kinds of axes are given, and there are ", axes));
}

absl::Status TransformLayout(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  const int64_t operand = call.Int(0);
  const std::vector<Id> candidates = operand < 0 ? WrittenBuffers(p, block) : ReadBuffers(p, block);
  const size_t position = operand < 0 ? 0 : static_cast<size_t>(operand);
  if (position >= candidates.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " reads ", candidates.size(), " buffers"));
  }
  Buffer& buffer = p.buffers[candidates[position]];
  if (buffer.role != Role::kTemporary) {
    return absl::FailedPreconditionError(absl::StrCat(
        p.Text(buffer.name), " is a parameter; its layout is the caller's (cache it, and lay out the copy)"));
  }
  std::vector<int64_t> shape;
  for (const Extent& e : p.Dims(buffer.shape)) shape.push_back(e.Known());
  const auto numbers = call.numbers(1);
  absl::StatusOr<IndexMap> map = ParseMap(call.Text(1), shape, numbers);
  if (!map.ok()) return map.status();
  map = WithWholeTiles(*std::move(map));
  const auto extents = map->extents();
  std::vector<int64_t> sizes;
  for (IndexSum& sum : map->results) {
    sum = Simplify(sum, extents);
    sizes.push_back(Bounds(sum, extents).max + 1);
  }
  if (!IsBijective(*map) && !KILN_DEFECT("transform-layout.aliases")) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the map \"", call.Text(1), "\" is not one to one on the shape of ", p.Text(buffer.name)));
  }
  const std::vector<int64_t>& bits = call.Ints(2);
  if (!bits.empty() && bits.size() != 3)
    return absl::InvalidArgumentError("a swizzle is three numbers: from, to, bits");
  Layout layout;
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] < 0 || bits[i] > 64)
      return absl::InvalidArgumentError(absl::StrCat("bit ", bits[i], " of a swizzle; an address has 64"));
    (i == 0   ? layout.swizzle.from
     : i == 1 ? layout.swizzle.to
              : layout.swizzle.bits) = static_cast<int8_t>(bits[i]);
  }
  absl::StatusOr<std::vector<int32_t>> kinds = ParseKinds(call.Text(3), sizes.size());
  if (!kinds.ok()) return kinds.status();
  std::vector<int32_t> axes;
  std::optional<Program> before;
  if (!bits.empty() || !kinds->empty()) before = p;  // CheckLayout can only refuse a swizzle or kinds
  for (size_t i = 0; i < sizes.size(); ++i) axes.push_back(p.AddMark(map->results[i], sizes[i]));
  layout.axes = p.AddList(axes);
  layout.kinds = p.AddList(*kinds);
  layout.padding = buffer.layout.padding;
  buffer.layout = layout;
  const absl::Status status = CheckLayout(p, candidates[position]);
  if (!status.ok()) p = *before;
  return status;
}

absl::Status SetScope(Call& call) {
  Program& p = call.program();
  const absl::StatusOr<Storage> storage = StorageNamed(call.Text(0));
  if (!storage.ok()) return storage.status();
  const std::vector<Id> written = WrittenBuffers(p, call.node(0));
  for (const Id id : written) {
    if (p.buffers[id].role != Role::kTemporary) {
      return absl::FailedPreconditionError(
          absl::StrCat(p.Text(p.buffers[id].name), " is a parameter; it lies where the caller put it"));
    }
  }
  std::vector<Scope> before;
  for (const Id id : written) {
    before.push_back(p.buffers[id].scope);
    p.buffers[id].scope = ScopeOf(*storage);
  }
  for (const Id id : written) {
    absl::Status status = CheckLayout(p, id);
    if (status.ok()) status = CheckOwner(p, id);
    if (status.ok()) continue;
    for (size_t i = 0; i < written.size(); ++i) p.buffers[written[i]].scope = before[i];
    return status;
  }
  return absl::OkStatus();
}

const Primitive kTransformLayout{
    .name = "transform-layout",
    .operands = {{"block", OperandKind::kBlock}, {"numbers", OperandKind::kFactor, true}},
    .attributes = {{"operand", int64_t{-1}},
                   {"map", std::string()},
                   {"swizzle", std::vector<int64_t>()},
                   {"kinds", std::string()}},
    .result = HandleKind::kBlock,
    .result_names = "",
    .doc =
        "Sets the memory layout of a temporary: the operand-th buffer that a block reads, or (-1) the "
        "buffer that it writes.\n"
        "A[i, j] row-major\n"
        "-> transform-layout \"(i, j) -> (j/16, i, j%16)\"\n"
        "A[i, j] in panels of 16 columns\n"
        "$0, $1, .. in the map are the numbers after the block, which may be sampled: \"j/$0\". An "
        "incomplete last tile takes the memory of a complete one. `swizzle` is a list (from, to, bits): "
        "address bits to .. to+bits-1 become their XOR with bits from .. from+bits-1, so that the "
        "elements of a column lie in different banks of shared memory. `kinds` lists the kinds of the "
        "axes of a fragment: \"lane, lane, register\".\n"
        "Does not apply to parameters, or if the map or the swizzle is not one to one: a bit must not be "
        "XORed with itself, and the size of the memory must be a multiple of the permuted part. Lanes "
        "(at most 32), warps (at most 4) and registers are axes only of buffers in warp or warpgroup "
        "memory.",
    .apply = TransformLayout,
};
KILN_PRIMITIVE(kTransformLayout);

const Primitive kSetScope{
    .name = "set-scope",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"storage", std::string("global")}},
    .result = HandleKind::kBlock,
    .result_names = "",
    .doc =
        "Sets the storage, and thereby the owner, of the buffer that a block writes: global (owned by "
        "the grid), shared (by a block), warpgroup or warp (fragments), stack or register (by a thread).\n"
        "T global/grid\n"
        "-> set-scope \"shared\"\n"
        "T shared/block\n"
        "Does not apply to parameters, to data that are prepared for others, to fragments (except "
        "between warp and warpgroup), or if a thread, warp or block would use another one's data, or a "
        "kernel another kernel's.",
    .apply = SetScope,
};
KILN_PRIMITIVE(kSetScope);

}  // namespace
}  // namespace kiln
