// The base of Schedule (lang/schedule/schedule.h) without the step methods: program, status, trace and
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
  // Returns the node of a handle. An inert handle makes the schedule inert and gives some block (loop) of the program,
  // so that the caller can still read it; kRoot if there is none.
  Id node(Block block, Where where = Where::current());
  Id node(Loop loop, Where where = Where::current());
  // Returns the constant extent of a loop that no sampled value determines. Otherwise returns 0 and makes the schedule
  // inert.
  int64_t ExtentOf(Loop loop, Where where = Where::current());
  // Makes the schedule inert with this failure. An earlier failure stays. Modules call it when they cannot continue.
  void Fail(const absl::Status& status);

  // Returns true if the module must leave the block alone, because the schedule is inert or `why` is an error. Unless
  // the schedule is inert, adds the error to `declined`, once, with the name of the open section; `kiln space` prints
  // the list. Modules begin with this call.
  bool Skip(const absl::Status& why);
  bool Declines(const absl::Status& why) { return Skip(why); }  // the old name of Skip, for older plugins
  struct Declined {
    std::string where;  // module/block
    std::string why;
    friend bool operator==(const Declined&, const Declined&) = default;
  };
  const std::vector<Declined>& declined() const { return declined_; }

  // Restricts later sites and choices called `name`, or with a name that ends in "/name". For a site, `only` lists
  // decisions one after the other (the attribute `only` of its step); for a choice, alternatives. The last pin that
  // matches counts. A name that never occurs has no effect. An empty list makes the schedule inert.
  void Pin(absl::string_view name, std::vector<int64_t> only);

  // Runs the steps of a trace on this schedule, and adopts the choices that led to the steps. Keeps recorded decisions
  // and draws missing ones. A step that does not apply, or gives another number of results than recorded, makes the
  // schedule inert. Aborts if the schedule already has steps or choices, because steps refer to handles by number.
  void Apply(absl::Span<const Step> steps, absl::Span<const Choice> choices);

  // A scope for names, usually of a module and a block. While the object lives, the names of new sites and choices
  // start with "name/".
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

  // Makes a structural choice: returns a number in 0 .. n-1 that a module may branch on. If n <= 1 or the schedule is
  // inert, returns 0 and records no choice.
  int Choose(absl::string_view name, int n);
  // Makes a structural choice whose alternatives have names. Tests select sketches by the names; traces store
  // the number.
  int Choose(absl::string_view name, absl::Span<const std::string> alternatives);

 protected:
  // Records and runs a step of the primitive called `name`. The results are handles first .. first + count - 1; first
  // is -1 if the schedule is or becomes inert.
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
  // The length of lists from an inert schedule: more than code is likely to index.
  static constexpr int kInertHandles = 64;

  Results Take(Step step, Chooser& chooser);
  void CheckLists();  // fails if a list of handles was used past its end
  Id NodeOf(const std::vector<Id>& nodes, int32_t handle, Node::Kind kind, Where where);
  std::string SiteName(absl::string_view label) const;
  struct Pinned {
    std::string name;
    std::vector<int64_t> only;
  };
  // Returns the decisions or alternatives to which Pin restricts the site or choice with this full name. The last pin
  // that matches counts. Returns nullptr if no pin matches.
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
