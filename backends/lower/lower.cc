#include "backends/lower/lower.h"

#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "backends/codegen/pass_printer.h"
#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/decompose_reductions.h"
#include "backends/lower/passes/plan.h"
#include "backends/lower/passes/share_storage.h"
#include "backends/lower/passes/unroll_short_loops.h"
#include "backends/lower/rematerialize_loads.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/lowerable.h"
#include "lang/schedule/inline_nested_blocks.h"
#include "lang/text/text.h"
#include "mlir/IR/Verifier.h"

namespace kiln {
namespace {

absl::Status Supported(const Program& p) {
  if (absl::Status status = CheckConstantExtents(p, "lowering"); !status.ok()) return status;
  for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
    if (!p.IsLoop(node)) continue;
    const LoopNode& loop = p.loop(node);
    if (loop.kind > LoopKind::kPipelined) {
      return absl::FailedPreconditionError(absl::StrCat("loop ", p.Text(loop.name), " is ",
                                                        ToString(loop.kind), ", which a CPU does not have"));
    }
  }
  return absl::OkStatus();
}

// For each call of an intrinsic: the outermost loop inside it, and the intrinsic's name.
std::unordered_map<Id, std::string> Calls(const Program& p) {
  std::unordered_map<Id, std::string> calls;
  for (const Id block : Blocks(p)) {
    if (p.block(block).intrinsic != kNone)
      calls[p.nodes[block].first] = std::string(p.Text(p.block(block).intrinsic));
  }
  return calls;
}

bool HasPrepare(const Program& p) {
  for (Id child = p.nodes[kRoot].first; child != kNone; child = p.nodes[child].next) {
    if (p.nodes[child].prepare) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> EntryPoints(const Program& program) {
  std::vector<std::string> names{program.name};
  if (HasPrepare(program)) names.push_back(absl::StrCat(program.name, "_prepare"));
  return names;
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Lower(const Program& program, mlir::MLIRContext& context,
                                                        const LowerOptions& options) {
  if (absl::Status status = Supported(program); !status.ok()) return status;
  LoopNestSummary nests;
  nests.Read(program);
  if (absl::Status status = VerifyLowerable(nests); !status.ok()) return status;
  PassPrinter print(options.print_after_all);
  Program p = program;
  print("program", [&] { return ToString(p); });
  const std::unordered_map<Id, std::string> calls = Calls(p);
  InlineNestedBlocks(p);
  print("inline-nested-blocks", [&] { return ToString(p); });
  DecomposeReductions(p);
  print("decompose-reductions", [&] { return ToString(p); });
  Plan plan = MakePlan(p, {.drops_terms = options.policies.Has(Policy::kDroppableTerms)});
  if (options.policies.Has(Policy::kShortLoops))
    UnrollShortLoops(p, plan, options.vector_bytes, options.costs);
  print("unroll-short-loops", [&] { return ToString(p); });
  ShareStorage(p, plan);
  print("plan", [&] { return ToString(p, plan); });

  std::vector<Id> parameters = p.parameters;
  for (size_t id = 0; id < plan.buffers.size(); ++id) {
    if (plan.buffers[id].crosses) parameters.push_back(static_cast<Id>(id));
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  for (const std::string& name : EntryPoints(p)) {
    Emitter(p, plan, calls, options, *module).EmitFunction(name, parameters, name != program.name);
  }
  const auto text = [&] {
    std::string result;
    llvm::raw_string_ostream stream(result);
    module->print(stream);
    return result;
  };
  print("emit", text);
  if (options.policies.Has(Policy::kRematerializedLoads))
    RematerializeLoads(*module, options.vector_registers);
  print("rematerialize-loads", text);
  return module;
}

}  // namespace kiln
