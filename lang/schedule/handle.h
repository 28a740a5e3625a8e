// Handles of blocks, loops and sampled values, and lists of handles. Modules get them from schedules.
//
// The lists std::vector<Loop>, std::array<Loop, 2> and so on check the indices of [], front and back. An index past the
// end or below 0 is recorded with the caller's line. The next step, choice, ExtentOf or end of a section of a schedule
// in the same thread makes that schedule inert. The standard allows a program to specialize these templates for its own
// types ([namespace.std]), so that a module cannot bypass the check by accident.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory_resource>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include "lang/schedule/step.h"

namespace kiln {

// A handle is a number; -1 is an inert handle, which names nothing.
struct Block {
  int32_t number = -1;
};
struct Loop {
  int32_t number = -1;
};
struct Value {
  int32_t number = -1;
};

// An access to a list of handles past its end or below 0: the index, the size of the list, and the caller's line.
struct PastTheEnd {
  int64_t index = 0, size = 0;
  std::source_location where;
};
// NotePastTheEnd records an access past the end of a list of handles. TakePastTheEnd returns the first access that this
// thread has recorded since the last call, and forgets all of them. It returns nullptr if there is none.
void NotePastTheEnd(const PastTheEnd& use);
const PastTheEnd* TakePastTheEnd();

// An index into a list of handles, and the source line that uses it.
struct HandleIndex {
  int64_t at;
  std::source_location where;
  template <std::integral Int>
  HandleIndex(Int at_in,
              std::source_location where_in = std::source_location::current())  // NOLINT: is an index
      : at(static_cast<int64_t>(at_in)), where(where_in) {}
};

// Returns the handle at an index of a list. If the index is past the end or below 0, records the access and returns an
// inert handle.
template <typename Handle>
Handle& HandleAt(Handle* handles, size_t size, const HandleIndex& index) {
  const auto count = static_cast<int64_t>(size);
  if (index.at >= 0 && index.at < count) return handles[index.at];
  NotePastTheEnd({index.at, count, index.where});
  thread_local std::remove_const_t<Handle> none;
  return none = {};
}

template <typename Handle>
class HandleList : public std::pmr::vector<Handle> {
  using Base = std::pmr::vector<Handle>;

 public:
  using Base::Base;

  Handle& operator[](HandleIndex index) { return HandleAt(this->data(), this->size(), index); }
  const Handle& operator[](HandleIndex index) const { return HandleAt(this->data(), this->size(), index); }

  using Where = std::source_location;
  Handle& front(Where where = Where::current()) { return (*this)[HandleIndex(0, where)]; }
  const Handle& front(Where where = Where::current()) const { return (*this)[HandleIndex(0, where)]; }
  Handle& back(Where where = Where::current()) { return (*this)[HandleIndex(Last(), where)]; }
  const Handle& back(Where where = Where::current()) const { return (*this)[HandleIndex(Last(), where)]; }

 private:
  int64_t Last() const { return static_cast<int64_t>(this->size()) - 1; }
};

// A list of handles with a fixed size; `const auto [a, b] = ...` unpacks it.
template <typename Handle, size_t N>
struct HandleArray {
  using value_type = Handle;
  static_assert(N > 0);

  Handle handles[N];

  Handle& operator[](HandleIndex index) { return HandleAt(handles, N, index); }
  const Handle& operator[](HandleIndex index) const { return HandleAt(handles, N, index); }
  template <size_t I>
  const Handle& get() const {
    static_assert(I < N);
    return handles[I];
  }
  const Handle& front() const { return handles[0]; }
  const Handle& back() const { return handles[N - 1]; }
  const Handle* begin() const { return handles; }
  const Handle* end() const { return handles + N; }
  static constexpr size_t size() { return N; }
};

template <typename T>
concept IsHandle = std::same_as<T, Block> || std::same_as<T, Loop> || std::same_as<T, Value>;

}  // namespace kiln

template <kiln::IsHandle Handle>
class std::vector<Handle> : public kiln::HandleList<Handle> {
 public:
  using kiln::HandleList<Handle>::HandleList;
};
template <kiln::IsHandle Handle, size_t N>
struct std::array<Handle, N> : kiln::HandleArray<Handle, N> {};

namespace kiln {

// A number that a step takes, such as a factor of Split: a number, a sampled value, which stands for all of its
// numbers, or (in Split and LoopPartition, at most once) kAuto for what remains.
inline constexpr int64_t kAuto = -1;
struct Factor {
  Operand operand;
  Factor(int64_t number) : operand{Operand::Kind::kInt, number} {}  // NOLINT: factors are written as numbers
  Factor(int number) : Factor(int64_t{number}) {}                   // NOLINT
  Factor(Value value) : operand{Operand::Kind::kValue, value.number} {}  // NOLINT
};

// Return handles and factors as operands of a step.
inline Operand OperandOf(Block block) { return {Operand::Kind::kBlock, block.number}; }
inline Operand OperandOf(Loop loop) { return {Operand::Kind::kLoop, loop.number}; }
inline Operand OperandOf(Value value) { return {Operand::Kind::kValue, value.number}; }
inline std::vector<Operand> OperandsOf(const std::vector<Factor>& factors) {
  std::vector<Operand> operands;
  for (const Factor& factor : factors) operands.push_back(factor.operand);
  return operands;
}

// A structural choice and the alternative that was picked: `picked` of 0 .. n-1.
struct StructuralChoice {
  std::string name;
  int n = 1, picked = 0;
  std::string alternative = {};  // its name, if the module gives one; not stored in traces
  friend bool operator==(const StructuralChoice& a, const StructuralChoice& b) {
    return a.name == b.name && a.n == b.n && a.picked == b.picked;
  }
};

}  // namespace kiln
