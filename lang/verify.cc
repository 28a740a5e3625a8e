#include "absl/strings/str_cat.h"
#include "lang/program.h"

namespace kiln {
namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program) {}

  absl::Status Run() {
    CheckPools();
    if (ok()) CheckTree();
    return status_;
  }

 private:
  bool ok() const { return status_.ok(); }

  template <typename... Args>
  void Require(bool condition, Args&&... message) {
    if (condition || !ok()) return;
    status_ = absl::InternalError(absl::StrCat("program \"", p_.name, "\": ", std::forward<Args>(message)...));
  }

  template <typename Pool>
  static bool In(Id id, const Pool& pool) {
    return id >= 0 && static_cast<size_t>(id) < pool.size();
  }
  template <typename Pool>
  static bool In(Range r, const Pool& pool) {
    return r.count >= 0 && r.begin >= 0 && static_cast<size_t>(r.begin) + static_cast<size_t>(r.count) <= pool.size();
  }

  void CheckPools() {
    for (size_t i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      Require(In(b.name, p_.names) && In(b.shape, p_.dims), "buffer ", i, " has ids out of range");
      if (!ok()) return;
      for (const Extent& e : p_.Dims(b.shape)) Require(e.max >= 1, "buffer ", p_.Text(b.name), " has extent ", e.max);
    }
    for (size_t i = 0; i < p_.marks.size(); ++i) Require(In(p_.marks[i].splits, p_.splits), "mark ", i, " has splits out of range");
    for (Id b : p_.parameters) Require(In(b, p_.buffers), "parameter ", b, " is no buffer");
  }

  void CheckTree() {
    Require(!p_.nodes.empty() && p_.nodes[0].kind == Node::Kind::kRoot, "node 0 is not the root");
    if (ok()) CheckChildren(kRoot, 0);
  }

  void CheckChildren(Id parent, size_t depth) {
    Require(depth <= p_.nodes.size(), "the tree has a cycle at node ", parent);
    Id prev = kNone;
    for (Id n = p_.nodes[parent].first; ok() && n != kNone; prev = n, n = p_.nodes[n].next) {
      Require(In(n, p_.nodes), "node ", parent, " has a child out of range");
      if (!ok()) return;
      const Node& node = p_.nodes[n];
      Require(node.parent == parent && node.prev == prev, "node ", n, " has wrong links");
      Require(node.kind == Node::Kind::kLoop ? In(node.index, p_.loops)
                                             : node.kind == Node::Kind::kBlock && In(node.index, p_.blocks),
              "node ", n, " in the tree is no loop or block");
      if (ok()) CheckChildren(n, depth + 1);
    }
    Require(p_.nodes[parent].last == prev, "node ", parent, " has a wrong last child");
  }

  const Program& p_;
  absl::Status status_;
};

}  // namespace

absl::Status Verify(const Program& program) { return Verifier(program).Run(); }

}  // namespace kiln
