#include "modules/gpu/rows.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

std::vector<int64_t> ExtentsAround(const Program& p, Id block) {
  std::vector<int64_t> extents;
  for (const Id loop : LoopsAround(p, block)) extents.push_back(p.loop(loop).extent.Known());
  return extents;
}

// Returns what a block computes of rows whose loops have these extents, the last one along a row: a row, one value for
// each row, or a reduction of each row. Returns nullopt if the loops of the block have other extents, or if it reduces
// along other loops than the last one alone, or does not initialize its reduction.
std::optional<RowMember::Kind> KindOf(const Program& p, Id block, const std::vector<int64_t>& extents) {
  const std::vector<int64_t> own = ExtentsAround(p, block);
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
  const bool reduction = p.block(block).monoid != kNone;
  if (own == extents) {
    if (!reduction) return RowMember::kRow;
    const bool last = reduces.back() && absl::c_count(reduces, true) == 1;
    return last && !p.block(block).accumulates ? std::optional(RowMember::kReduction) : std::nullopt;
  }
  const bool values =
      !reduction && own.size() + 1 == extents.size() && std::equal(own.begin(), own.end(), extents.begin());
  return values ? std::optional(RowMember::kValue) : std::nullopt;
}

bool MayJoin(const Program& p, Id block, const std::set<Id>& members) {
  const std::vector<Id> written = WrittenBuffers(p, block);
  return written.size() == 1 && p.buffers[written[0]].role == Role::kTemporary &&
         Writers(p, written[0]).size() == 1 && Gathers(p, block).empty() && CheckUnscheduled(p, block).ok() &&
         absl::c_all_of(Consumers(p, block), [&](Id reader) { return members.contains(reader); });
}

// True if some index with which the block reads the buffer depends on the block's innermost loop.
bool ReadsRow(const Program& p, Id block, Id buffer) {
  const auto loops = static_cast<int>(LoopsAround(p, block).size());
  return Reads(p, block, buffer) && AccessOf(p, block, buffer).DependsOn(loops - 1);
}

// Returns the rows that a block stores and the blocks that compute them, even if the rows of a later block contain this
// block. Returns kFailedPrecondition, with the reason, if there are none.
absl::StatusOr<RowNest> RowsBefore(const Program& p, Id block) {
  const auto no = [&](absl::string_view why) {
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " ", why));
  };
  if (p.block(block).monoid != kNone || WrittenBuffers(p, block).size() != 1)
    return no("does not store one result");
  if (absl::Status status = CheckUnscheduled(p, block); !status.ok()) return status;
  const std::vector<int64_t> extents = ExtentsAround(p, block);
  if (extents.empty()) return no("has no loop");
  std::set<Id> members{block};
  bool reduces = false;
  std::vector<Id> order = Blocks(p);
  std::reverse(order.begin(), order.end());
  for (const Id producer : order) {  // readers come before what they read
    const bool feeds =
        absl::c_any_of(members, [&](Id m) { return absl::c_linear_search(Producers(p, m), producer); });
    if (!feeds || members.contains(producer) || !MayJoin(p, producer, members)) continue;
    const auto kind = KindOf(p, producer, extents);
    if (!kind.has_value()) continue;
    reduces |= *kind == RowMember::kReduction;
    members.insert(producer);
  }
  if (!reduces) return no("reads no reduction of its rows alone");
  RowNest nest{extents.back(), {}, {}};
  std::set<Id> inputs;
  for (const Id member : Blocks(p)) {
    if (!members.contains(member)) continue;
    nest.members.push_back(
        {std::string(p.Text(p.block(member).name)), KindOf(p, member, extents).value_or(RowMember::kRow)});
    for (const Id buffer : ReadBuffers(p, member)) inputs.insert(buffer);
  }
  for (const Id buffer : inputs) {
    const auto made = [&](Id member) { return Writes(p, member, buffer); };
    const auto reads = [&](Id member) { return ReadsRow(p, member, buffer); };
    if (absl::c_none_of(members, made) && absl::c_count_if(members, reads) > 1)
      nest.shared_rows.push_back(buffer);
  }
  return nest;
}

}  // namespace

absl::StatusOr<RowNest> FindRowNest(const Program& p, Id block) {
  absl::StatusOr<RowNest> nest = RowsBefore(p, block);
  if (!nest.ok()) return nest;
  for (const Id reader : Consumers(p, block)) {
    const absl::StatusOr<RowNest> later = RowsBefore(p, reader);
    const auto is_block = [&](const RowMember& member) { return member.name == p.Text(p.block(block).name); };
    if (later.ok() && absl::c_any_of(later->members, is_block))
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, block), " belongs to the rows of ", Describe(p, reader)));
  }
  return nest;
}

}  // namespace kiln
