#include <vector>

#include "lang/verify/checker.h"

namespace kiln {
namespace {

class TreeChecker : public Checker {
 public:
  using Checker::Checker;

  void Run() {
    if (!Require(!p_.nodes.empty() && p_.nodes[0].kind == Node::Kind::kRoot, "node 0 is not the root"))
      return;
    CheckChildren(kRoot, 0);
    if (ok()) CheckParameters();
  }

 private:
  void CheckChildren(Id parent, size_t depth) {
    if (!Require(depth <= p_.nodes.size(), "the tree has a cycle at node ", parent)) return;
    Id prev = kNone;
    size_t count = 0;
    for (Id n = p_.nodes[parent].first; ok() && n != kNone; prev = n, n = p_.nodes[n].next) {
      if (!Require(In(n, p_.nodes) && ++count <= p_.nodes.size(), "node ", parent,
                   " has a child out of range"))
        return;
      const Node& node = p_.nodes[n];
      Require(node.parent == parent && node.prev == prev, "node ", n, " has wrong links");
      Require(!node.prepare || parent == kRoot, "node ", n, " is prepared, but is not a child of the root");
      if (node.kind == Node::Kind::kLoop) {
        if (!Require(In(node.index, p_.loops) && In(p_.loops[node.index].name, p_.names), "node ", n,
                     " is not a loop"))
          return;
        Require(ExtentOk(p_.loop(n).extent), "loop ", p_.Text(p_.loop(n).name), " has an extent of ",
                p_.loop(n).extent.UpperBound());
        Require(node.first != kNone, "loop ", p_.Text(p_.loop(n).name), " is empty");
        const Id pipeline = p_.loop(n).pipeline;
        if (!Require(pipeline == kNone ||
                         (In(pipeline, p_.pipelines) && In(p_.pipelines[pipeline].stages, p_.stages) &&
                          In(p_.pipelines[pipeline].rings, p_.rings)),
                     "loop ", p_.Text(p_.loop(n).name), " has a pipeline out of range"))
          return;
        for (const Ring& ring : p_.Rings(p_.loop(n)))
          Require(In(ring.buffer, p_.buffers), "a ring of loop ", p_.Text(p_.loop(n).name), " has no buffer");
      } else {
        if (!Require(node.kind == Node::Kind::kBlock && In(node.index, p_.blocks), "node ", n,
                     " in the tree is neither a loop nor a block"))
          return;
        const BlockNode& b = p_.block(n);
        Require(In(b.name, p_.names) && In(b.iters, p_.iters) && ListIn(b.domain, p_.marks) &&
                    In(b.dests, p_.accesses) && ListIn(b.values, p_.exprs) && ListIn(b.initial, p_.exprs) &&
                    ListIn(b.provenance.map, p_.marks) &&
                    (b.intrinsic == kNone || In(b.intrinsic, p_.names)) &&
                    (b.monoid == kNone || In(b.monoid, p_.monoids)),
                "block node ", n, " has ids out of range");
      }
      if (ok()) CheckChildren(n, depth + 1);
    }
    Require(p_.nodes[parent].last == prev, "node ", parent, " has a wrong last child");
  }

  void CheckParameters() {
    std::vector<int> count(p_.buffers.size(), 0);
    int statuses = 0;
    for (const Id b : p_.parameters) {
      if (Require(In(b, p_.buffers), "parameter ", b, " is not a buffer")) ++count[b];
    }
    for (size_t b = 0; b < p_.buffers.size() && ok(); ++b) {
      const Buffer& buffer = p_.buffers[b];
      const bool local = buffer.role == Role::kTemporary || buffer.role == Role::kStatus;
      const int wanted = !local && buffer.data == kNone ? 1 : 0;
      if (buffer.role == Role::kScalar)
        Require(buffer.shape.count == 0, "scalar ", p_.Text(buffer.name), " has dimensions");
      if (buffer.role == Role::kStatus) {
        Require(buffer.shape.count == 0 && buffer.dtype == DType::kI32 && ++statuses == 1, "buffer ",
                p_.Text(buffer.name), " is not an i32 of rank 0, or is a second status");
      }
      Require(count[b] == wanted, "buffer ", p_.Text(buffer.name), " is ", count[b],
              " times among the parameters, wanted ", wanted);
    }
  }
};

}  // namespace

void CheckTree(const Program& program, Violation& first) { TreeChecker(program, first).Run(); }

}  // namespace kiln
