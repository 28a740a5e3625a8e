#include "backends/lower/plan/loop_plan_text.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/lower/plan/plan_names.h"
#include "lang/program/text_names.h"

namespace kiln::plan {
namespace {

class Printer {
 public:
  Printer(const Program& program, const LoopPlan& plan) : plan_(plan), names_(program, plan.indices) {}

  std::string Plan() {
    std::string conditions, entries;
    for (size_t c = 0; c < plan_.indices.conditions.size(); ++c) {
      const Condition& condition = plan_.indices.conditions[c];
      absl::StrAppend(&conditions, "condition c", c, ": 0 <= ", Sum(condition.value), " < ", condition.extent,
                      "\n");
    }
    for (const Entry& entry : plan_.entries) {
      absl::StrAppend(&entries, "entry ", QuotedPlanName(entry.name), entry.prepare ? " prepare" : "", " {\n",
                      Text(entry.nodes, 2), "}\n");
    }
    return absl::StrCat("kiln.plan v1\n", mark_lines_, conditions,
                        StorageText(plan_.indices, names_.buffers()), entries);
  }

 private:
  // Returns the text of a sum. If a mark (a sum that another sum divides) occurs for the first time, gives it the next
  // name, mark0, mark1, ..., and adds the line that defines it to mark_lines_.
  std::string Sum(const IndexSum& sum) {
    for (const IndexSplit& split : names_.Ordered(sum)) {
      const Id mark = split.source.id;
      if (split.source.kind != Source::Kind::kMark || marks_.contains(mark)) continue;
      const std::string definition = Sum(plan_.indices.marks.at(mark));
      marks_[mark] = absl::StrCat("mark", marks_.size());
      absl::StrAppend(&mark_lines_, "mark ", marks_[mark], ": ", definition, "\n");
    }
    return names_.Sum(sum, [&](Id mark) { return marks_.at(mark); });
  }

  std::string Text(const Nodes& nodes, int indent) {
    std::string text;
    for (const Node& node : nodes) {
      absl::StrAppend(&text, std::string(indent, ' '),
                      std::visit([&](const auto& w) { return Head(w); }, node.what));
      if (const Switch* by = node.As<Switch>()) {
        absl::StrAppend(&text, " {\n");
        for (size_t arm = 0; arm < node.arms.size(); ++arm) {
          absl::StrAppend(&text, std::string(indent + 2, ' '),
                          arm == 0 ? "all" : absl::StrCat(by->values[arm - 1]), " {\n",
                          Text(node.arms[arm], indent + 4), std::string(indent + 2, ' '), "}\n");
        }
        absl::StrAppend(&text, std::string(indent, ' '), "}\n");
        continue;
      }
      const Branch* branch = node.As<Branch>();
      for (size_t arm = 0; arm < node.arms.size(); ++arm) {
        const char* between = branch == nullptr ? "" : branch->decided ? " else decided" : " else";
        absl::StrAppend(&text, arm > 0 ? between : "", " {\n", Text(node.arms[arm], indent + 2),
                        std::string(indent, ' '), "}");
      }
      text += '\n';
    }
    return text;
  }

  std::string Conditions(const char* before, const std::vector<int>& conditions) const {
    if (conditions.empty()) return "";
    return absl::StrCat(before, " c", absl::StrJoin(conditions, " c"));
  }

  std::string Loops(const std::vector<Id>& loops) const {
    return absl::StrJoin(loops, " ", [&](std::string* out, Id loop) { out->append(names_.OfNode(loop)); });
  }

  std::string Head(const Loop& loop) const {
    std::string text = absl::StrCat("for ", names_.OfNode(loop.loop), " ");
    if (loop.run == Run::kOne) return text + "one";
    absl::StrAppend(&text, loop.first > 0 ? absl::StrCat(loop.first, "..", loop.first + loop.count)
                                          : absl::StrCat(loop.count));
    if (loop.run == Run::kThreads) text += " threads";
    if (loop.run == Run::kUnrolled) text += " unrolled";
    if (loop.run == Run::kLanes) absl::StrAppend(&text, " lanes ", loop.lanes);
    if (loop.run == Run::kAxis) absl::StrAppend(&text, " axis ", kiln::ToString(loop.axis));
    if (loop.steps > 1) absl::StrAppend(&text, " steps ", loop.steps);
    absl::StrAppend(&text, Conditions(" trim", loop.trims), Conditions(" decided", loop.decided),
                    loop.runs_once ? " once" : "");
    if (loop.ahead) text += " ahead";
    if (loop.role >= 0) absl::StrAppend(&text, " role ", loop.role);
    return text;
  }
  std::string Head(const Branch& branch) const { return Conditions("if", branch.tests); }
  std::string Head(const Switch& by) const { return absl::StrCat("switch c", by.condition); }
  std::string Head(const First& first) const { return absl::StrCat("first over ", Loops(first.loops)); }
  std::string Head(const Leaf& leaf) const {
    std::string text = names_.OfNode(leaf.block);
    if (leaf.starts.has_value()) text += *leaf.starts ? " start" : " combine";
    absl::StrAppend(&text, leaf.across ? " across" : "", leaf.fast ? " fast" : "",
                    Conditions(" asks", leaf.asks));
    if (!leaf.stores.empty()) text += " stores";
    for (const Store& store : leaf.stores) {
      if (store.mode == Store::Mode::kPlain) text += " plain";
      if (store.mode == Store::Mode::kStream) text += " stream";
      if (store.mode == Store::Mode::kTransposed) absl::StrAppend(&text, " transposed ", store.flush);
      if (store.mode == Store::Mode::kAsync) text += " async";
    }
    return text;
  }
  std::string Head(const Call& call) const {
    return absl::StrCat("call ", QuotedName(call.intrinsic), " ", names_.OfNode(call.outer),
                        Conditions(" asks", call.asks));
  }
  std::string Head(const Prefetch& prefetch) {
    return absl::StrCat("prefetch ", prefetch.write ? "write " : "", names_.OfBuffer(prefetch.buffer), "[",
                        Sum(prefetch.address), "]", prefetch.over.empty() ? "" : " over ",
                        absl::StrJoin(prefetch.over, " ",
                                      [&](std::string* out, const Loop& loop) {
                                        absl::StrAppend(
                                            out, names_.OfNode(loop.loop),
                                            loop.run == Run::kOne ? " one" : absl::StrCat(" ", loop.count));
                                      }),
                        " lines ", prefetch.lines, " locality ", prefetch.locality);
  }
  std::string Head(const Flush& flush) const { return absl::StrCat("flush ", flush.number); }
  std::string Head(const Fence&) const { return "fence"; }
  std::string Head(const Sync& sync) const {
    return absl::StrCat("sync ", kOwnerNames[static_cast<int>(sync.scope)],
                        sync.groups < 0 ? "" : absl::StrCat(" groups ", sync.groups));
  }
  std::string Head(const Commit&) const { return "commit"; }

  const LoopPlan& plan_;
  const PlanNames names_;
  std::map<Id, std::string> marks_;
  std::string mark_lines_;
};

}  // namespace

std::string ToString(const Program& program, const LoopPlan& plan) { return Printer(program, plan).Plan(); }

}  // namespace kiln::plan
