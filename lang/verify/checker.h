// The base of the checks of the program verifier, which keep the first violation. Private to verify.cc and its parts
// pools.cc, tree.cc and blocks.cc.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lang/program/program.h"

namespace kiln {

// What all checks of a program share: `status` is OK, or tells the first invariant that does not hold. Checks stop
// after it, because later checks rely on earlier ones.
struct Violation {
  std::string where;  // a prefix of messages: the object that is checked
  absl::Status status;
};

class Checker {
 public:
  Checker(const Program& program, Violation& first) : p_(program), first_(first) {}

 protected:
  bool ok() const { return first_.status.ok(); }

  template <typename... Args>
  bool Require(bool condition, Args&&... message) {
    if (!condition && ok()) {
      first_.status = absl::InternalError(
          absl::StrCat("program \"", p_.name, "\": ", first_.where, std::forward<Args>(message)...));
    }
    return condition;
  }

  template <typename Pool>
  static bool In(Id id, const Pool& pool) {
    return id >= 0 && static_cast<size_t>(id) < pool.size();
  }
  template <typename Pool>
  static bool In(Range r, const Pool& pool) {
    return r.count >= 0 && r.begin >= 0 &&
           static_cast<size_t>(r.begin) + static_cast<size_t>(r.count) <= pool.size();
  }
  template <typename Pool>
  bool ListIn(Range r, const Pool& pool) const {
    if (!In(r, p_.lists)) return false;
    for (const int32_t id : p_.List(r)) {
      if (!In(id, pool)) return false;
    }
    return true;
  }

  bool ExtentOk(const Extent& e) const {
    return e.LowerBound() >= 1 && e.LowerBound() <= e.UpperBound() && e.divisor() >= 1 &&
           (e.constant() ? e.LowerBound() == e.UpperBound() : In(e.parameter(), p_.buffers));
  }

  const Program& p_;

 private:
  Violation& first_;
};

// Checks the vectors of a program, each entry alone: its index splits and marks, buffers with layouts and data,
// monoids, and expressions with their dtypes. They may refer only to existing entries, and operands come before their
// users.
void CheckPools(const Program& program, Violation& first);
// Checks the links of the program's tree, and that its loops and blocks refer only to existing entries of the program's
// vectors. Loops must not be empty, and only children of the root may be prepared. Each buffer must be a parameter
// once, but temporaries, the status and constants with data must not be. There is at most one status, an i32 of rank 0,
// and scalars have rank 0. CheckPools must have passed.
void CheckTree(const Program& program, Violation& first);
// Checks the bindings and the body of a block, and that another block, before it or in a common loop, writes each
// temporary or output that it reads. CheckPools and CheckTree must have passed.
void CheckBlock(const Program& program, Id block, Violation& first);

}  // namespace kiln
