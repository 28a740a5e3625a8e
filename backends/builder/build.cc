#include "backends/builder/build.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <sstream>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/builder/build_kernels.h"
#include "backends/builder/compile.h"
#include "backends/builder/identity.h"
#include "backends/builder/object_cache.h"
#include "backends/codegen/context.h"
#include "backends/lower/lift_allocations.h"
#include "backends/lower/lower_foreign.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

namespace kiln {
namespace {

absl::StatusOr<Codegen*> CodegenFor(const BuildRequest& request) {
  static auto* const made =
      new std::map<std::tuple<std::string, std::string, std::string>, std::unique_ptr<Codegen>>;
  std::unique_ptr<Codegen>& codegen = (*made)[{request.triple, request.cpu, request.features}];
  if (codegen == nullptr) {
    auto machine = request.triple.empty() ? absl::StatusOr<MachineTarget>(Host())
                                          : Named(request.triple, request.cpu, request.features);
    if (!machine.ok()) return machine.status();
    auto created = Codegen::Create(*machine);
    if (!created.ok()) return created.status();
    codegen = *std::move(created);
  }
  return codegen.get();
}

std::string NameOf(mlir::Type type) {
  if (type.isIndex()) return "index";
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

class Job {
 public:
  explicit Job(const BuildRequest& request) : request_(request) {}

  absl::Status Run(BuildResult* result) {
    auto program = Deserialize(request_.program);
    if (!program.ok()) return program.status();
    program_ = *std::move(program);
    program_.name = request_.symbol;
    auto codegen = CodegenFor(request_);
    if (!codegen.ok()) return codegen.status();
    codegen_ = *codegen;
    std::optional<ObjectCache> cache;
    if (!request_.object_folder.empty() && IsCacheable()) cache.emplace(request_.object_folder);
    if (cache && FindResult(*cache, Key(), result)) return absl::OkStatus();
    for (const BuildOutput output : request_.outputs) {
      auto made = Make(output);
      if (!made.ok()) return made.status();
      result->outputs.push_back(*std::move(made));
    }
    result->has_prepare = EntryPoints(program_).size() > 1;
    result->prepared = prepared_;
    result->workspaces = workspaces_;
    result->takes_threads = object_ && object_->takes_threads;
    result->has_table = object_ && HasTable();
    result->passes = passes_.str();
    if (cache) KeepResult(*cache, Key(), result);
    return absl::OkStatus();
  }

 private:
  bool IsCacheable() const {
    return !request_.print_after_all &&
           std::all_of(request_.outputs.begin(), request_.outputs.end(), [](BuildOutput output) {
             return output == BuildOutput::kSharedObject || output == BuildOutput::kObject;
           });
  }

  Hash128 Key() const {
    const MachineTarget& machine = codegen_->machine();
    std::string key =
        absl::StrCat(BuilderIdentity(), "|", ToString(HashOf(program_)), "|", request_.symbol, "|",
                     request_.contract, "|", request_.policies.switched, "|", request_.alignment, "|",
                     request_.lifts_allocations ? request_.pieces : 0, "|", request_.stands_alone, "|",
                     request_.table_above, "|", machine.triple, "|", machine.cpu, "|", machine.features, "|",
                     machine.vector_bytes, "|", machine.l2_bytes);
    for (const BuildOutput output : request_.outputs) absl::StrAppend(&key, "|", static_cast<int>(output));
    return HashOf(key);
  }

  absl::StatusOr<std::string> Make(BuildOutput output) {
    switch (output) {
      case BuildOutput::kProgram:
        return ToString(program_);
      case BuildOutput::kPlan:
        return PlanText(program_, Lowering());
      case BuildOutput::kMlir:
        return TextOf(Stage::kMlir);
      case BuildOutput::kLlvm:
        return TextOf(Stage::kOptimized);
      case BuildOutput::kAssembly:
        return TextOf(Stage::kAssembly);
      case BuildOutput::kObject:
        return Object();
      case BuildOutput::kSharedObject:
        break;
      default:
        return absl::InvalidArgumentError("of a CPU's program there is no such output");
    }
    auto object = Object();
    if (!object.ok()) return object.status();
    return LinkKernel(program_, *object_, request_.stands_alone, HasTable());
  }

  LowerOptions Lowering() const {
    LowerOptions options = LoweringFor(codegen_->machine());
    options.contract = request_.contract;
    options.policies = request_.policies;
    options.alignment = request_.alignment;
    return options;
  }

  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Lowered() {
    LowerOptions options = Lowering();
    if (printing()) options.print_after_all = &passes_;
    auto module = Lower(program_, Context(), options);
    if (module.ok()) NotePrepared(**module);
    if (module.ok() && request_.lifts_allocations)
      workspaces_ = LiftAllocations(**module, program_.name, request_.pieces);
    return module;
  }

  void NotePrepared(mlir::ModuleOp module) {
    prepared_.clear();
    auto entry = module.lookupSymbol<mlir::func::FuncOp>(program_.name);
    for (const mlir::Type type : llvm::drop_begin(entry.getArgumentTypes(), program_.parameters.size())) {
      const auto memref = mlir::cast<mlir::MemRefType>(type);
      prepared_.push_back({NameOf(memref.getElementType()), memref.getNumElements()});
    }
  }

  absl::StatusOr<std::string> TextOf(Stage stage) {
    auto module = Lowered();
    if (!module.ok()) return module.status();
    return codegen_->Text(**module, Options(), stage);
  }

  absl::StatusOr<std::string> Object() {
    if (object_) return object_->bytes;
    auto module = Lowered();
    if (!module.ok()) return module.status();
    auto object = codegen_->Compile(**module, Options());
    if (!object.ok()) return object.status();
    object_ = *std::move(object);
    return object_->bytes;
  }

  CodegenOptions Options() {
    CodegenOptions options = CodegenFor(program_, HasTable());
    options.policies = request_.policies;
    for (EntryPoint& entry : options.entries) entry.alignment = request_.alignment;
    if (printing()) options.print_after_all = &passes_;
    printed_ = true;
    return options;
  }

  // Returns whether parameters and prepared arrays together are more than the request's table_above. Then each entry
  // point also gets a version that takes a table of pointers (SYMBOL_by_table). Call it after lowering, which finds the
  // prepared arrays.
  bool HasTable() const {
    return static_cast<int64_t>(program_.parameters.size() + prepared_.size()) > request_.table_above;
  }

  bool printing() const { return request_.print_after_all && !printed_; }

  const BuildRequest& request_;
  Program program_;
  std::vector<PreparedParam> prepared_;
  std::vector<int64_t> workspaces_;
  std::optional<ObjectCode> object_;
  std::ostringstream passes_;
  bool printed_ = false;
  Codegen* codegen_ = nullptr;
};

// Compiles an MLIR module that calls functions of other objects, such as the driver of a model, to an object.
// kInvalidArgument if the request asks for anything but exactly one output, kObject, or if the module does not parse;
// also the errors of Codegen.
absl::Status CompileModule(const BuildRequest& request, BuildResult* result) {
  if (request.outputs != std::vector<BuildOutput>{BuildOutput::kObject})
    return absl::InvalidArgumentError("of a module there is an object only");
  const auto codegen = CodegenFor(request);
  if (!codegen.ok()) return codegen.status();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(request.module, &Context());
  if (!module) return absl::InvalidArgumentError("the module does not parse");
  CodegenOptions options;
  for (const std::string& entry : request.entries) options.entries.push_back({.name = entry, .alignment = 1});
  const auto object = (*codegen)->Compile(*module, options);
  if (!object.ok()) return object.status();
  result->outputs.push_back(object->bytes);
  return absl::OkStatus();
}

// Compiles a function on tensors that could not be imported as a Program (BuildRequest::foreign) to an object, with
// LLVM's O3 passes. Also sets the result's `workspaces` and `has_status`.
absl::Status CompileForeign(const BuildRequest& request, BuildResult* result) {
  const auto codegen = CodegenFor(request);
  if (!codegen.ok()) return codegen.status();
  auto lowered = LowerForeign(request.module, request.symbol, Context(), request.doubles);
  if (!lowered.ok()) return lowered.status();
  CodegenOptions options;
  options.entries = {{.name = request.symbol, .noalias = true, .alignment = request.alignment}};
  options.pipeline = CodegenOptions::Pipeline::kO3;
  const auto object = (*codegen)->Compile(*lowered->module, options);
  if (!object.ok()) return object.status();
  result->outputs.push_back(object->bytes);
  result->workspaces = std::move(lowered->workspaces);
  result->has_status = lowered->has_status;
  return absl::OkStatus();
}

absl::Status Compile(const BuildRequest& request, BuildResult* result) {
  if (IsForGpu(request)) return BuildKernels(request, result);
  if (request.module.empty()) return Job(request).Run(result);
  return request.foreign ? CompileForeign(request, result) : CompileModule(request, result);
}

}  // namespace

BuildResult Build(const BuildRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  BuildResult result{.status = BuildStatus::kOk};
  const absl::Status status = Compile(request, &result);
  if (!status.ok()) result = {.status = BuildStatus::kBuildFailed, .error = std::string(status.message())};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kiln
