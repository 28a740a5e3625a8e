#include "backends/lower/plan/plan_names.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lang/program/text_names.h"

namespace kiln::plan {
namespace {

// Keywords of plan texts that may stand where a name may stand. A loop, block or buffer with such a name is written in
// quotes. QuotedName does this for the keywords of programs.
constexpr absl::string_view kKeywords[] = {
    "asks",   "call", "combine", "entry",    "fast",  "fence",    "first",     "flush",
    "if",     "else", "lines",   "locality", "over",  "stores",   "start",     "plain",
    "stream", "sync", "mark",    "switch",   "write", "prefetch", "condition", "transposed"};

}  // namespace

bool IsConditionName(absl::string_view name) {
  return name.size() > 1 && name[0] == 'c' && std::all_of(name.begin() + 1, name.end(), absl::ascii_isdigit);
}

std::string QuotedPlanName(absl::string_view name) {
  const bool is_keyword = std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords);
  return is_keyword || IsConditionName(name) ? absl::StrCat("\"", name, "\"") : QuotedName(name);
}

PlanNames::PlanNames(const Program& p, const IndexPlan& plan) : plan_(plan) {
  UniqueNames buffers;
  for (const Buffer& buffer : p.buffers) buffers_.push_back(buffers.Add(p.Text(buffer.name)));
  nodes_.resize(p.nodes.size());
  places_.resize(p.nodes.size());
  std::map<std::string, int> times;
  UniqueNames path;
  int place = 0;
  const auto visit = [&](auto& self, Id node) -> void {
    for (Id child = p.nodes[node].first; child != kNone; child = p.nodes[child].next) {
      const size_t above = path.size();
      places_[child] = place++;
      std::string& name = nodes_[child];
      name = p.IsLoop(child) ? path.Add(p.Text(p.loop(child).name)) : QuotedName(p.Text(p.block(child).name));
      if (name[0] != '"') name = QuotedPlanName(name);
      if (const int n = ++times[name]; n > 1) absl::StrAppend(&name, "@", n);
      self(self, child);
      path.Shrink(above);
    }
  };
  visit(visit, kRoot);
}

std::vector<IndexSplit> PlanNames::Ordered(const IndexSum& sum) const {
  std::vector<IndexSplit> splits(sum.splits.begin(), sum.splits.end());
  const auto rank = [&](const IndexSplit& s) {
    const bool is_mark = s.source.kind == Source::Kind::kMark;
    return std::tuple(-std::abs(s.scale), is_mark ? 0 : places_[s.source.id],
                      is_mark ? KeyOfMark(s.source.id) : "", s.lower, s.extent);
  };
  std::sort(splits.begin(), splits.end(),
            [&](const IndexSplit& a, const IndexSplit& b) { return rank(a) < rank(b); });
  return splits;
}

std::string PlanNames::Sum(const IndexSum& sum, absl::FunctionRef<std::string(Id)> name_of_mark) const {
  IndexSum ordered = IndexSum::Constant(sum.offset);
  for (const IndexSplit& split : Ordered(sum)) ordered.splits.push_back(split);
  return ToString(ordered, [&](Source source) {
    return source.kind == Source::Kind::kMark ? name_of_mark(source.id) : nodes_[source.id];
  });
}

std::string PlanNames::Key(const IndexSum& sum) const {
  return Sum(sum, [&](Id mark) { return KeyOfMark(mark); });
}

std::string PlanNames::KeyOfMark(Id mark) const {
  const auto definition = plan_.marks.find(mark);
  return definition == plan_.marks.end() ? absl::StrCat("mark", mark)
                                         : absl::StrCat("(", Key(definition->second), ")");
}

}  // namespace kiln::plan
