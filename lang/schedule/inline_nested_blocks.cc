#include "lang/schedule/inline_nested_blocks.h"

#include <algorithm>

#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

class Dissolver {
 public:
  Dissolver(Program& program, Id around) : p_(program), around_(around) {}

  void Run() {
    for (const Id block : BlocksBelow(p_, around_)) {
      if (EnclosingBlock(p_, block) == around_) Rebind(block);
    }
    Id after = around_;
    while (p_.nodes[around_].first != kNone) {
      const Id child = p_.nodes[around_].first;
      p_.Detach(child);
      p_.InsertAfter(after, child);
      p_.nodes[child].prepare = p_.nodes[around_].prepare;
      after = child;
    }
    if (p_.block(around_).dests.count == 0) p_.Kill(around_);
  }

 private:
  Id BindingOf(Source iter) const { return p_.iters[p_.block(around_).iters.begin + iter.id].binding; }

  IndexSum Outside(IndexSum sum) {
    for (IndexSplit& split : sum.splits) {
      if (split.source.kind == Source::Kind::kIter) {
        used_.push_back(split.source.id);
        split.source = Source::Mark(BindingOf(split.source));
      } else if (split.source.kind == Source::Kind::kMark) {
        split.source = Source::Mark(Outside(split.source.id));
      }
    }
    return sum;
  }
  Id Outside(Id mark) { return p_.AddMark(Outside(p_.SumOf(mark)), p_.marks[mark].extent); }

  // Binds a block's iters to the loops outside of the enclosing block. An instance exists only if the enclosing block's
  // iters lie in their extents. For an iter that no binding uses, this is kept by adding it to a binding with scale 0.
  void Rebind(Id block) {
    used_.clear();
    const Range own = p_.block(block).iters;
    std::vector<Iter> iters;
    for (int i = 0; i < own.count; ++i) {
      iters.push_back(p_.iters[own.begin + i]);
      iters.back().binding = Outside(iters.back().binding);
    }
    const auto must_hold = [&](IterKind kind, Id mark) {
      auto at = std::find_if(iters.begin(), iters.end(), [&](const Iter& i) { return i.kind == kind; });
      if (at == iters.end()) {
        const Iter unit{p_.AddName("u"), Extent(1), kind, p_.AddMark(IndexSum::Constant(0), 1)};
        at = iters.insert(iters.end(), unit);
      }
      IndexSum sum = p_.SumOf(at->binding);
      sum.splits.push_back({Source::Mark(mark), 0});
      at->binding = p_.AddMark(sum, at->extent);
    };
    const bool reduces = p_.block(block).monoid != kNone;
    const Range outer = p_.block(around_).iters;
    for (int i = 0; i < outer.count; ++i) {
      if (std::find(used_.begin(), used_.end(), i) != used_.end()) continue;
      const Iter iter = p_.iters[outer.begin + i];
      must_hold(reduces ? iter.kind : IterKind::kSpatial, iter.binding);
    }
    const std::vector<int32_t> domain(p_.List(p_.block(around_).domain).begin(),
                                      p_.List(p_.block(around_).domain).end());
    for (const Id mark : domain) must_hold(IterKind::kSpatial, Outside(mark));
    p_.block(block).iters = {static_cast<int32_t>(p_.iters.size()), static_cast<int32_t>(iters.size())};
    p_.iters.insert(p_.iters.end(), iters.begin(), iters.end());
  }

  Program& p_;
  Id around_;
  std::vector<int32_t> used_;
};

}  // namespace

void InlineNestedBlocks(Program& program) {
  for (const Id block : Blocks(program)) {  // enclosing blocks come first
    if (program.nodes[block].first != kNone) Dissolver(program, block).Run();
  }
}

}  // namespace kiln
