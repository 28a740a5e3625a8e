// Copies expressions to another program, or within one. Shared ones are copied once and stay shared, so that
// time grows with the number of nodes.
//
//   ExprCopier copier(from, to, {.mark = [&](Id mark) { return ... }});
//   block.values = copier.Copy(block.values);
//
// Rules say what becomes of what a node names. One that is absent keeps it as it is; then the copy of an
// expression in its own program is the expression itself.
#pragma once

#include <functional>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "lang/program/program.h"

namespace kiln {

class ExprCopier {
 public:
  struct Rules {
    std::function<Id(Id expr)> replace{};  // of `to`, instead of a copy; kNone: copy
    std::function<Id(Id buffer)> buffer{};
    std::function<Id(Id mark)> mark{};  // kNone: cannot be said in `to`
    // The whole index of a load of a buffer of `from`, instead of its marks one by one.
    std::function<Range(Id buffer, Range index)> index{};
    // An expression of at most so many nodes, counted once for each use, is copied as a tree instead. Its
    // text then names no values.
    int64_t written_out = 0;
  };
  ExprCopier(const Program& from, Program& to, Rules rules)
      : from_(from), to_(to), rules_(std::move(rules)) {}

  // kNone if a mark cannot be said. The pools may hold leftovers then.
  Id Copy(Id expr);
  Range Copy(Range exprs);
  // Rules answer otherwise from now on.
  void Forget() { copies_.clear(); }

 private:
  Id CopyNode(Id expr);
  Id Made(Id expr);
  int64_t TreeSize(Id expr);
  Id Buffer(Id buffer) const { return rules_.buffer ? rules_.buffer(buffer) : buffer; }
  std::optional<Range> Marks(Range marks);
  std::optional<Expr> Named(const Expr& node);

  const Program& from_;
  Program& to_;
  const Rules rules_;
  bool shares_ = true;
  absl::flat_hash_map<Id, Id> copies_;
  absl::flat_hash_map<Id, int64_t> sizes_;  // as trees, of those that are looked at
};

}  // namespace kiln
