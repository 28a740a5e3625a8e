// What schedules and modules hold: handles of blocks, loops and sampled values, and lists of them.
//
// Lists of handles are checked: an index past the end is noted with the line that asked, and the next step
// that a schedule of the thread is asked for makes that schedule inert. They are std::vector<Loop> and so on,
// which the standard allows a program to specialize for types of its own ([namespace.std]): so no module can
// do without the check.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory_resource>
#include <source_location>
#include <string>
#include <vector>

#include "lang/step.h"

namespace kiln {

// Handles. -1 is inert.
struct Block {
  int32_t number = -1;
};
struct Loop {
  int32_t number = -1;
};
struct Value {
  int32_t number = -1;
};

// A use of a list past its end.
struct PastTheEnd {
  int64_t index = 0, size = 0;
  std::source_location where;
};
// Of this thread: the first since it was taken; nullptr if there was none.
void NotePastTheEnd(const PastTheEnd& use);
const PastTheEnd* TakePastTheEnd();

template <typename Handle>
class HandleList : public std::pmr::vector<Handle> {
  using Base = std::pmr::vector<Handle>;

 public:
  using Base::Base;

  struct Index {
    int64_t at;
    std::source_location where;
    template <std::integral Int>
    Index(Int at_in, std::source_location where_in = std::source_location::current())  // NOLINT: is an index
        : at(static_cast<int64_t>(at_in)), where(where_in) {}
  };
  Handle& operator[](Index index) { return Has(index) ? *(this->data() + index.at) : None(); }
  const Handle& operator[](Index index) const { return Has(index) ? *(this->data() + index.at) : None(); }

  using Where = std::source_location;
  Handle& front(Where where = Where::current()) { return (*this)[Index(0, where)]; }
  const Handle& front(Where where = Where::current()) const { return (*this)[Index(0, where)]; }
  Handle& back(Where where = Where::current()) { return (*this)[Index(Last(), where)]; }
  const Handle& back(Where where = Where::current()) const { return (*this)[Index(Last(), where)]; }

 private:
  int64_t Last() const { return static_cast<int64_t>(this->size()) - 1; }
  bool Has(const Index& index) const {
    if (index.at >= 0 && index.at <= Last()) return true;
    NotePastTheEnd({index.at, Last() + 1, index.where});
    return false;
  }
  static Handle& None() {
    thread_local Handle none;
    return none = Handle();
  }
};

}  // namespace kiln

template <>
class std::vector<kiln::Block> : public kiln::HandleList<kiln::Block> {
 public:
  using HandleList::HandleList;
};
template <>
class std::vector<kiln::Loop> : public kiln::HandleList<kiln::Loop> {
 public:
  using HandleList::HandleList;
};
template <>
class std::vector<kiln::Value> : public kiln::HandleList<kiln::Value> {
 public:
  using HandleList::HandleList;
};

namespace kiln {

// A factor of Split: a number, a sampled value, or kAuto for what is left (at most one).
inline constexpr int64_t kAuto = -1;
struct Factor {
  Operand operand;
  Factor(int64_t number) : operand{Operand::Kind::kInt, number} {}  // NOLINT: factors are written as numbers
  Factor(int number) : Factor(int64_t{number}) {}                   // NOLINT
  Factor(Value value) : operand{Operand::Kind::kValue, value.number} {}  // NOLINT
};

// A structural choice that was made.
struct StructuralChoice {
  std::string name;
  int n = 1, picked = 0;
  friend bool operator==(const StructuralChoice&, const StructuralChoice&) = default;
};

}  // namespace kiln
