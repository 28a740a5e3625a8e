// The names of loops, blocks and buffers in the text of a loop plan, for both its printer and its parser. They
// are those of the program's text (lang/text/text.h). The Nth loop or block of a name, in the order of that
// text, has @N after the name, from 2 on.
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
  // Names the nodes and buffers of the program. Keeps a reference to the plan.
  PlanNames(const Program& program, const IndexPlan& plan);

  const std::string& OfNode(Id node) const { return nodes_[node]; }
  const std::string& OfBuffer(Id buffer) const { return buffers_[buffer]; }
  const std::vector<std::string>& nodes() const { return nodes_; }      // by id; dead nodes have none
  const std::vector<std::string>& buffers() const { return buffers_; }  // by id

  std::string Sum(const IndexSum& sum, absl::FunctionRef<std::string(Id)> name_of_mark) const;
  // Returns the sum as text, with each mark replaced by its definition. A program and its parsed text give equal
  // keys for equal sums.
  std::string Key(const IndexSum& sum) const;
  // Returns the terms in the order of the text: by falling magnitude of their scale, then by the place of their
  // loop in the text (0 for a mark).
  std::vector<IndexSplit> Ordered(const IndexSum& sum) const;

 private:
  std::string KeyOfMark(Id mark) const;

  const IndexPlan& plan_;
  std::vector<std::string> nodes_, buffers_;
  std::vector<int> places_;  // of nodes, in the order of the text
};

// Returns the name as the text of a plan shows it: in quotes if it is a keyword of plans or programs.
std::string QuotedPlanName(absl::string_view name);

// True for c0, c1, ...: the name of a condition.
bool IsConditionName(absl::string_view name);

}  // namespace kiln::plan
