// Names the loops, blocks and buffers in the text of a loop plan, for its printer and its parser. The names are those
// of the program's text (lang/text/text.h). If several loops or blocks have one name, the second of them in that text
// gets @2 after the name, the third @3, and so on.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "backends/lower/plan/index_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

class PlanNames {
 public:
  // Gives each loop, block and buffer of the program the name that it has in the text of a plan. Keeps a reference to
  // the plan.
  PlanNames(const Program& program, const IndexPlan& plan);

  const std::string& OfNode(Id node) const { return nodes_[node]; }
  const std::string& OfBuffer(Id buffer) const { return buffers_[buffer]; }
  const std::vector<std::string>& nodes() const { return nodes_; }      // by id; dead nodes have none
  const std::vector<std::string>& buffers() const { return buffers_; }  // by id

  std::string Sum(const IndexSum& sum, absl::FunctionRef<std::string(Id)> name_of_mark) const;
  // Returns the sum as text, with each mark (a sum that other sums divide) replaced by its definition in parentheses.
  // So equal sums of a program and of its parsed text have equal keys, although their marks have different numbers.
  std::string Key(const IndexSum& sum) const;
  // Returns the terms of a sum in the order in which texts show them: by falling magnitude of their scale, then by the
  // position of their loop in the program's text (0 for a mark, which stands for another sum).
  std::vector<IndexSplit> Ordered(const IndexSum& sum) const;

 private:
  std::string KeyOfMark(Id mark) const;

  const IndexPlan& plan_;
  std::vector<std::string> nodes_, buffers_;
  std::vector<int> places_;  // of nodes, in the order of the text
};

// Returns the name as the text of a plan shows it: in quotes if it is a keyword of plans or programs, looks like a
// condition (c0), or has unusual characters.
std::string QuotedPlanName(absl::string_view name);

// True for c0, c1, ...: the name of a condition.
bool IsConditionName(absl::string_view name);

}  // namespace kiln::plan
