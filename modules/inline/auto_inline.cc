// Auto-Inline: inlines elementwise blocks into their consumers, or into their producer.
//
//   B[i, j] = f(A[i, j]);  C[i, j] = g(B[i, j])      ->      C[i, j] = g(f(A[i, j]))
//
// Applies to: plain stores. A block that reads nothing is inlined into its consumers if compute-inline applies. Another
// block is inlined into its consumers if it is cheap to compute again, or if it has one reader that reads each element
// once. Otherwise it is inlined into its producer, if that is possible. A block that permutes what it reads is not
// inlined, since that would turn a contiguous access into a strided one. Under Policy::kInlinedConstants, a block that
// reads only constants may permute them, because prepacking fixes their layout later
// (modules/tiling/prepack_constants.h). Options switch these rules (default_modules.h); `injective` also requires that
// a block reads only at its iters plus constants. Structure: none.
#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lang/analysis/access.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/default_modules.h"

namespace kiln {
namespace {

absl::Status No(const Program& p, Id block, absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " ", why));
}

bool ReadsConstantsAlone(const Program& p, Id block) {
  return absl::c_all_of(ReadBuffers(p, block), [&](Id b) { return p.buffers[b].role == Role::kConstant; });
}

absl::Status CheckWanted(const Program& p, Id block, const AutoInlineOptions& options,
                         const Policies& policies) {
  const std::set<Op> ops = OpsOf(p, block);
  for (const absl::string_view op : absl::StrSplit(options.disallow, ',', absl::SkipEmpty())) {
    if (absl::c_any_of(ops, [&](Op has) { return ToString(has) == op; }))
      return No(p, block, absl::StrCat("has ", op, " in its body"));
  }
  if (options.ordered != 0 && !KeepsOrder(p, block) &&
      !(policies.Has(Policy::kInlinedConstants) && ReadsConstantsAlone(p, block)))
    return No(p, block, "permutes what it reads");
  if (options.injective != 0 && !ReadsAtIters(p, block, true))
    return No(p, block, "reads at more than its iters and offsets");
  return absl::OkStatus();
}

Allowed Operations() {
  const auto known = [](absl::string_view name) {
    int op = 0;
    while (op < kNumOps && ToString(static_cast<Op>(op)) != name) ++op;
    return op < kNumOps;
  };
  return {.text = [=](const std::string& text) { return absl::c_all_of(absl::StrSplit(text, ','), known); },
          .texts = "names of operations as in the text of programs, such as exp,tanh, with commas between"};
}

}  // namespace

BlockModule AutoInline(AutoInlineOptions options) {
  return {"auto-inline", [options](Schedule& s, Block block) {
            if (!s.ok()) return;
            const Program& p = s.program();
            const Id node = s.node(block);
            const absl::Status into = options.into_consumer != 0
                                          ? CheckComputeInline(p, node)
                                          : No(p, node, "is not to go into its consumers");
            const bool reads = !ReadBuffers(p, node).empty();
            if (into.ok() && options.constants != 0 && !reads) return s.ComputeInline(block);
            if (s.Skip(CheckWanted(p, node, options, s.target().policies))) return;
            const bool cheap = options.cheap == 0 || IsCheap(p, node) || IsReadOnce(p, node);
            if (into.ok() && cheap) return s.ComputeInline(block);
            const absl::Status onto = options.into_producer != 0
                                          ? CheckReverseComputeInline(p, node)
                                          : No(p, node, "is not to go into its producer");
            if (onto.ok()) return s.ReverseComputeInline(block);
            s.Skip(into.ok() ? No(p, node, "costs much and is read more than once") : into);
          }};
}

KILN_MODULE("auto-inline", AutoInline,
            Option("into-consumer", &AutoInlineOptions::into_consumer, Between(0, 1)),
            Option("into-producer", &AutoInlineOptions::into_producer, Between(0, 1)),
            Option("constants", &AutoInlineOptions::constants, Between(0, 1)),
            Option("cheap", &AutoInlineOptions::cheap, Between(0, 1)),
            Option("ordered", &AutoInlineOptions::ordered, Between(0, 1)),
            Option("injective", &AutoInlineOptions::injective, Between(0, 1)),
            Option("disallow", &AutoInlineOptions::disallow, Operations()));

}  // namespace kiln
