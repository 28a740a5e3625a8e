// Handles of blocks, loops and sampled values, and lists of them: what schedules give to modules.
//
// Lists of handles check their indices. An index past the end is noted with the caller's line, and the next
// step of a schedule of the same thread makes that schedule inert. The lists are std::vector<Loop>,
// std::array<Loop, 2> and so on. The standard allows a program to specialize these for its own types
// ([namespace.std]), so no module can avoid the check by accident.
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

// An index with the line that asks.
struct HandleIndex {
  int64_t at;
  std::source_location where;
  template <std::integral Int>
  HandleIndex(Int at_in,
              std::source_location where_in = std::source_location::current())  // NOLINT: is an index
      : at(static_cast<int64_t>(at_in)), where(where_in) {}
};

// The handle at the index; past the end one that is inert, which is noted.
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

// Of a fixed size; `const auto [a, b] = ...` takes it apart.
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
