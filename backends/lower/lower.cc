#include "backends/lower/lower.h"

#include "absl/strings/str_cat.h"
#include "backends/codegen/pass_printer.h"
#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/build.h"
#include "backends/lower/passes/plan_loops.h"
#include "backends/lower/rematerialize_loads.h"
#include "backends/lower/text/loop_plan_parse.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/lowerable.h"
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

absl::Status CheckLowers(const Program& program) {
  if (absl::Status status = Supported(program); !status.ok()) return status;
  LoopNestSummary nests;
  nests.Read(program);
  return VerifyLowerable(nests);
}

}  // namespace

std::vector<std::string> EntryPoints(const Program& program) { return plan::EntryNames(program); }

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Lower(const Program& program, mlir::MLIRContext& context,
                                                        const LowerOptions& options) {
  if (absl::Status status = CheckLowers(program); !status.ok()) return status;
  PassPrinter print(options.print_after_all);
  print("program", [&] { return ToString(program); });
  const auto [p, planned] = plan::PlanLoops(
      program, options,
      [&](absl::string_view pass, absl::FunctionRef<std::string()> after) { print(pass, after); });

  std::vector<Id> parameters = p.parameters;
  for (size_t id = 0; id < planned.indices.buffers.size(); ++id) {
    if (planned.indices.buffers[id].crosses) parameters.push_back(static_cast<Id>(id));
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  for (const plan::Entry& entry : planned.entries)
    Emitter(p, planned.indices, options, *module).EmitFunction(entry, parameters);
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

absl::StatusOr<std::string> PlanText(const Program& program, const LowerOptions& options) {
  if (absl::Status status = CheckLowers(program); !status.ok()) return status;
  return plan::Text(plan::PlanLoops(program, options));
}

}  // namespace kiln
