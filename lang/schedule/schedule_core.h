// The part of a Schedule (lang/schedule/schedule.h) that is not steps: its program, status, trace and
// structural choices, and how a step is recorded and run. Use Schedule instead.
#pragma once

#include <array>
#include <source_location>
#include <string>
#include <vector>

#include "lang/choices/chooser.h"
#include "lang/schedule/handle.h"
#include "lang/schedule/primitive.h"

namespace kiln {

using Where = std::source_location;

class ScheduleCore {
 public:
  using Choice = StructuralChoice;

  ScheduleCore(Program program, const Target& target, Chooser& chooser);

  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  const Program& program() const { return state_.program; }
  const Target& target() const { return target_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Choice>& choices() const { return choices_; }
  // Node of a handle. Of an inert one, which makes the schedule inert too, it is some block (loop) of the
  // program where there is one, so that code may go on to read it.
  Id node(Block block, Where where = Where::current());
  Id node(Loop loop, Where where = Where::current());
  // Constant extent of a loop that no draw determines; 0 (and an inert schedule) otherwise.
  int64_t ExtentOf(Loop loop, Where where = Where::current());
  // Makes the schedule inert with this failure; modules say so when they cannot go on.
  void Fail(const absl::Status& status);

  // True, which notes why, if the module whose section is open leaves a block alone: the schedule is inert,
  // or `why` is no OK. Modules begin with it; `kiln space` prints the notes.
  bool Declines(const absl::Status& why);
  struct Declined {
    std::string where;  // module/block
    std::string why;
    friend bool operator==(const Declined&, const Declined&) = default;
  };
  const std::vector<Declined>& declined() const { return declined_; }

  // Restricts what comes to a part of its support: sites and choices called `name`, or whose names end with
  // "/name". A site has the decisions listed one after the other (as the attribute `only` of its step), a
  // choice the alternatives. What names nothing does nothing.
  void Pin(absl::string_view name, std::vector<int64_t> only);

  // Takes the steps of a trace, and with them the choices that led to them: recorded decisions are kept,
  // missing ones drawn. The schedule must be fresh, as the steps name handles by number.
  void Apply(absl::Span<const Step> steps, absl::Span<const Choice> choices);

  // Names of sites and choices made while a section is open start with "name/".
  class Section {
   public:
    Section(ScheduleCore& schedule, absl::string_view name);
    ~Section();
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    ScheduleCore& schedule_;
    size_t length_;
  };

  // --- structure
  // A number 0 .. n-1 that host code may branch on. 0 without asking when n <= 1.
  int Choose(absl::string_view name, int n);

 protected:
  // Records and runs a step of the primitive called `name`; results are handles first .. first + count - 1.
  struct Results {
    int first = -1, count = 0;
  };
  Results Do(absl::string_view name, std::vector<Operand> operands, std::vector<Attribute> attributes,
             Where where, absl::string_view label = "");
  template <typename Handle>
  static std::vector<Handle> ListOf(Results results) {
    if (results.first < 0) return std::vector<Handle>(kInertHandles);
    std::vector<Handle> handles;
    for (int i = 0; i < results.count; ++i) handles.push_back({results.first + i});
    return handles;
  }
  Block BlockOf(Results results) const { return {results.first}; }
  template <size_t N>
  static std::array<Loop, N> First(const std::vector<Loop>& loops) {
    std::array<Loop, N> first{};
    for (size_t i = 0; i < N && i < loops.size(); ++i) first[i] = loops[i];
    return first;
  }

 private:
  // An inert schedule gives more inert handles than code is likely to index.
  static constexpr int kInertHandles = 64;

  Results Take(Step step, Chooser& chooser);
  void CheckLists();  // fails if a list of handles was used past its end
  Id NodeOf(const std::vector<Id>& nodes, int32_t handle, Node::Kind kind, Where where);
  std::string SiteName(absl::string_view label) const;
  struct Pinned {
    std::string name;
    std::vector<int64_t> only;
  };
  // What the last pin of a name says, nullptr if none does.
  const std::vector<int64_t>* PinOf(absl::string_view full) const;

  State state_;
  Target target_;
  Chooser* chooser_;
  absl::Status status_;
  std::vector<Step> steps_;
  std::vector<Choice> choices_;
  std::vector<Declined> declined_;
  std::vector<Pinned> pins_;
  std::string section_;
};

}  // namespace kiln
