// Copies expressions to another program, or within one. A shared expression is copied once and stays shared (except by
// the rule `written_out`), so the time is linear in the number of nodes.
//
//   ExprCopier copier(from, to, {.mark = [&](Id mark) { return ... }});
//   block.values = copier.Copy(block.values);
//
// Rules replace expressions, buffers and marks by those of the copy. Without a rule, the copy uses the same
// ones. Without any rules, copying within one program returns the expression itself.
#pragma once

#include <functional>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "lang/program/program.h"

namespace kiln {

class ExprCopier {
 public:
  struct Rules {
    std::function<Id(Id expr)> replace{};  // an expression of `to` to use instead of a copy; kNone: copy
    std::function<Id(Id buffer)> buffer{};
    std::function<Id(Id mark)> mark{};  // kNone: the mark cannot be expressed in `to`
    // Returns the whole index for a load of a buffer of `from`, in place of the rule `mark` for each index.
    std::function<Range(Id buffer, Range index)> index{};
    // If an expression, as a tree, has at most this many nodes, each occurrence of a shared part is copied anew. Copies
    // with new marks or indices are nodes of their own, so the text of the copy names no shared values. 0: always copy
    // shared parts once.
    int64_t written_out = 0;
  };
  ExprCopier(const Program& from, Program& to, Rules rules)
      : from_(from), to_(to), rules_(std::move(rules)) {}

  // Return a copy of the expression, or of each expression of a list. The copy of an expression is kNone if one of its
  // marks cannot be expressed in `to`; the pools of `to` may then contain unused entries.
  Id Copy(Id expr);
  Range Copy(Range exprs);
  // Forgets the copies made so far. Call it when the rules begin to give other answers.
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
  absl::flat_hash_map<Id, int64_t> sizes_;  // the TreeSize of each expression that was asked for
};

}  // namespace kiln
