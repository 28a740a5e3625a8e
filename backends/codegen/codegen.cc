#include "backends/codegen/codegen.h"

#include <time.h>

#include <functional>
#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/context.h"
#include "backends/codegen/convert_to_llvm.h"
#include "backends/codegen/diagnostics.h"
#include "backends/codegen/pass_printer.h"
#include "backends/codegen/table_entry.h"
#include "backends/codegen/typed_arrays.h"
#include "backends/cpu/passes/expand_math.h"
#include "backends/cpu/passes/extrema.h"
#include "backends/cpu/passes/masked_memory.h"
#include "backends/cpu/passes/narrow_floats.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "backends/cpu/passes/step_pointers.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Export.h"

namespace kiln {
namespace {

// LLVM's passes for Pipeline::kMinimal. They split constant offsets off addresses before they hoist sums. Otherwise
// instruction selection spends half of its time simplifying the bits of index sums.
constexpr char kMinimalPipeline[] =
    "function(instsimplify,sroa,separate-const-offset-from-gep,early-cse<memssa>,loop-mssa(licm))";

// Returns the CPU time that this thread has used, in milliseconds.
double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// A function that receives the name of each pass and the text of the module after it.
using Sink = std::function<void(absl::string_view pass, const std::string& text)>;

// LLVM's code generator for one kind of file, objects or assembly. Codegen keeps those for objects, since the setup of
// one takes as long as compiling a small kernel.
class Generator {
 public:
  Generator(llvm::TargetMachine& target, llvm::CodeGenFileType type, bool quick) {
    static auto* const mutex = new std::mutex;
    const std::lock_guard<std::mutex> lock(*mutex);
    Switch(quick);
    emits_ = !target.addPassesToEmitFile(passes_, stream_, nullptr, type, /*DisableVerify=*/true);
    Switch(false);
  }

  bool emits() const { return emits_; }

  std::string Run(llvm::Module& module) {
    bytes_.clear();
    passes_.run(module);
    return std::string(bytes_.begin(), bytes_.end());
  }

 private:
  // If `quick`, turns off passes of the code generator that take a fifth of the time and gain nothing on kernels
  // (docs/decisions/0012); otherwise turns them on again. They are loop strength reduction, which StepPointers
  // replaces, and the scheduler after register allocation. Only LLVM's command-line switches turn them off. These
  // belong to the process and are read while passes are added.
  static void Switch(bool quick) {
    const auto& known = llvm::cl::getRegisteredOptions();
    for (const llvm::StringRef name : {"disable-lsr", "disable-post-ra"}) {
      const auto found = known.find(name);
      if (found == known.end()) continue;
      found->second->reset();
      if (quick) found->second->addOccurrence(1, name, "true");
    }
  }

  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_{bytes_};
  llvm::legacy::PassManager passes_;
  bool emits_;
};

// Lets an entry point return a status: func @f(...) { ... return } -> func @f(...) -> i32 { ... return 0 }. A function
// that returns an i32 stays. kInvalidArgument if it returns something else, or if the module does not define the entry
// point.
absl::Status ReturnStatus(mlir::ModuleOp module, const EntryPoint& entry) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(entry.name);
  if (!function || function.isExternal()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the module does not define the entry point \"", entry.name, "\""));
  }
  mlir::OpBuilder b(function);
  mlir::FunctionType type = function.getFunctionType();
  if (type.getNumResults() == 1 && type.getResult(0).isInteger(32)) return absl::OkStatus();
  if (type.getNumResults() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry point \"", entry.name, "\" must return nothing or an i32"));
  }
  function.setFunctionType(b.getFunctionType(type.getInputs(), {b.getI32Type()}));
  function.walk([&](mlir::func::ReturnOp ret) {
    b.setInsertionPoint(ret);
    ret->insertOperands(0, {mlir::arith::ConstantOp::create(b, ret.getLoc(), b.getI32IntegerAttr(0))});
  });
  return absl::OkStatus();
}

absl::Status ReturnStatuses(mlir::ModuleOp module, const std::vector<EntryPoint>& entries) {
  for (const EntryPoint& entry : entries) {
    if (absl::Status status = ReturnStatus(module, entry); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

const char* StageName(Stage stage) {
  switch (stage) {
    case Stage::kMlir:
      return "mlir";
    case Stage::kMath:
      return "math";
    case Stage::kLlvmDialect:
      return "llvm-dialect";
    case Stage::kLlvm:
      return "llvm";
    case Stage::kOptimized:
      return "optimized";
    case Stage::kAssembly:
      return "asm";
  }
  return "";
}

struct Codegen::Impl {
  MachineTarget machine;
  std::unique_ptr<llvm::TargetMachine> target;
  std::unique_ptr<Generator> quick_objects, full_objects;  // created on demand
  MathExpander math{Context()};
  LlvmConverter converter{Context()};

  absl::StatusOr<ObjectCode> Run(mlir::ModuleOp module, const CodegenOptions& options,
                                 std::optional<Stage> last, const Sink& sink);
  // True if code for exp and powf should read tables: the machine has vector registers of 64 bytes, which hold them,
  // and the policy power-tables is on.
  bool UsesTables(const CodegenOptions& options) const {
    return machine.vector_bytes == 64 && options.policies.Has(Policy::kPowerTables);
  }
  absl::StatusOr<bool> ToLlvmDialect(mlir::ModuleOp module, const std::vector<EntryPoint>& entries,
                                     Diagnostics& diagnostics,
                                     const std::function<void(const char* pass)>& after) const;
  absl::StatusOr<std::string> Assembly(const llvm::Module& module, bool quick) const;
  absl::StatusOr<std::string> Emit(llvm::Module& module, bool quick, Diagnostics& diagnostics);
  void Decorate(llvm::Module& module, const CodegenOptions& options) const;
  absl::Status Optimize(llvm::Module& module, const CodegenOptions& options, const Sink& sink) const;
};

void Codegen::Impl::Decorate(llvm::Module& module, const CodegenOptions& options) const {
  module.setTargetTriple(target->getTargetTriple());
  module.setDataLayout(target->createDataLayout());
  llvm::LLVMContext& context = module.getContext();
  std::set<std::string> exports;
  if (!options.entries.empty()) exports.insert(ThreadsSymbol(options.entries.front().name));
  for (const EntryPoint& entry : options.entries) {
    if (!entry.table) continue;
    AddTableEntry(*module.getFunction(entry.name));
    exports.insert(TableSymbol(entry.name));
  }
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    GiveArraysTheirType(function);
    function.addFnAttr("target-cpu", machine.cpu);
    function.addFnAttr("target-features", machine.features);
    function.addFnAttr("prefer-vector-width", std::to_string(machine.vector_bytes * 8));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    const auto entry =
        llvm::find_if(options.entries, [&](const EntryPoint& e) { return function.getName() == e.name; });
    if (entry == options.entries.end()) {
      if (!exports.contains(function.getName().str()))
        function.setLinkage(llvm::GlobalValue::InternalLinkage);
      continue;
    }
    for (llvm::Argument& argument : function.args()) {
      if (!argument.getType()->isPointerTy()) continue;
      if (entry->noalias) argument.addAttr(llvm::Attribute::NoAlias);
      if (entry->alignment > 1) {
        argument.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(entry->alignment)));
      }
    }
  }
}

absl::Status Codegen::Impl::Optimize(llvm::Module& module, const CodegenOptions& options,
                                     const Sink& sink) const {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  const bool full = options.pipeline == CodegenOptions::Pipeline::kO3;
  tuning.LoopVectorization = full;
  tuning.SLPVectorization = full;
  tuning.LoopUnrolling = full;
  const auto tell = [&](absl::string_view pass) {
    if (sink) sink(pass, Printed([&](auto& os) { module.print(os, nullptr); }));
  };
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::PassBuilder builder(target.get(), tuning, std::nullopt, &callbacks);
  if (sink) {
    callbacks.registerAfterPassCallback(
        [&](llvm::StringRef type, const llvm::Any&, const llvm::PreservedAnalyses&) {
          const llvm::StringRef pass = callbacks.getPassNameForClassName(type);
          if (!pass.empty()) tell(std::string(pass));
        });
  }
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (full) {
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  } else if (llvm::Error error = builder.parsePassPipeline(passes, kMinimalPipeline)) {
    return absl::InternalError(llvm::toString(std::move(error)));
  }
  passes.run(module, modules);
  const auto run_on_each = [&](const char* pass, auto run) {
    for (llvm::Function& function : module) {
      if (!function.isDeclaration()) run(function);
    }
    tell(pass);
  };
  if (!full) {
    run_on_each("step-pointers", [&](llvm::Function& function) {
      StepPointers(functions.getResult<llvm::LoopAnalysis>(function), machine.costs.stepping_pointers);
    });
  }
  run_on_each("extrema", [&](llvm::Function& function) {
    if (options.policies.Has(Policy::kShortExtrema))
      ShortenExtrema(function, *target, machine.costs.extremum_values);
  });
  run_on_each("masked-memory", [&](llvm::Function& function) { ExpandMaskedMemory(function, *target); });
  return absl::OkStatus();
}

absl::StatusOr<std::string> Codegen::Impl::Assembly(const llvm::Module& module, bool quick) const {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  Generator assembly(*target, llvm::CodeGenFileType::AssemblyFile, quick);
  if (!assembly.emits()) return absl::InternalError("LLVM prints no assembly for " + machine.triple);
  return assembly.Run(*copy);
}

// Lowers the module to the LLVM dialect. Returns whether it defines NAME_set_threads, as it does if loops run on
// threads. kInvalidArgument if an operation has no lowering.
absl::StatusOr<bool> Codegen::Impl::ToLlvmDialect(mlir::ModuleOp module,
                                                  const std::vector<EntryPoint>& entries,
                                                  Diagnostics& diagnostics,
                                                  const std::function<void(const char* pass)>& after) const {
  const auto promise_of = [&](const std::string& function) {
    const auto entry = llvm::find_if(entries, [&](const EntryPoint& e) { return e.name == function; });
    return entry == entries.end() ? Promise() : Promise{entry->noalias, entry->alignment};
  };
  const bool takes_threads =
      OutlineParallel(module, entries.empty() ? "kernel" : entries.front().name, promise_of);
  after("outline-parallel");
  const bool converted = mlir::succeeded(converter.Run(module, after));
  if (absl::Status status = OnlyLlvm(module); !status.ok() || !converted) {
    return absl::InvalidArgumentError(
        diagnostics.After(converted ? status.message() : "conversion to LLVM failed"));
  }
  return takes_threads;
}

absl::StatusOr<std::string> Codegen::Impl::Emit(llvm::Module& module, bool quick, Diagnostics& diagnostics) {
  std::unique_ptr<Generator>& objects = quick ? quick_objects : full_objects;
  if (objects == nullptr)
    objects = std::make_unique<Generator>(*target, llvm::CodeGenFileType::ObjectFile, quick);
  if (!objects->emits()) return absl::InternalError("LLVM emits no objects for " + machine.triple);
  std::string bytes = objects->Run(module);
  if (diagnostics.empty()) return bytes;
  objects.reset();  // discards the generator, which an error may leave in a bad state
  return absl::InternalError(diagnostics.After("LLVM"));
}

absl::StatusOr<ObjectCode> Codegen::Impl::Run(mlir::ModuleOp module, const CodegenOptions& options,
                                              std::optional<Stage> last, const Sink& sink) {
  ObjectCode result;
  double start = Now();
  const auto lap = [&](double& ms) { ms = Now() - start; };
  const auto done = [&](Stage stage, auto print) {
    if (sink) sink(StageName(stage), Printed(print));
    start = Now();
    return last == stage;
  };
  const auto print_mlir = [&](llvm::raw_ostream& os) { module.print(os); };
  const auto after_mlir = [&](const char* pass) {
    if (sink) sink(pass, Printed(print_mlir));
  };

  llvm::LLVMContext llvm_context;
  Diagnostics diagnostics(*module.getContext(), llvm_context);
  if (mlir::failed(mlir::verify(module)))
    return absl::InvalidArgumentError(diagnostics.After("the module does not verify"));
  lap(result.times.verify);
  if (done(Stage::kMlir, print_mlir)) return result;

  if (absl::Status status = ReturnStatuses(module, options.entries); !status.ok()) return status;
  ExpandNarrowFloats(module, machine.half);
  after_mlir("narrow-floats");
  if (mlir::failed(math.Run(module, options.polynomials, machine.fma, UsesTables(options))))
    return absl::InternalError(diagnostics.After("cannot expand math"));
  lap(result.times.math);
  if (done(Stage::kMath, print_mlir)) return result;

  const auto takes_threads = ToLlvmDialect(module, options.entries, diagnostics, after_mlir);
  if (!takes_threads.ok()) return takes_threads.status();
  result.takes_threads = *takes_threads;
  lap(result.times.convert);
  if (done(Stage::kLlvmDialect, print_mlir)) return result;

  const std::unique_ptr<llvm::Module> lowered =
      mlir::translateModuleToLLVMIR(module, llvm_context, "kiln", /*disableVerification=*/true);
  if (lowered == nullptr) return absl::InternalError(diagnostics.After("cannot translate to LLVM IR"));
  const auto print_llvm = [&](llvm::raw_ostream& os) { lowered->print(os, nullptr); };
  Decorate(*lowered, options);
  lap(result.times.translate);
  if (done(Stage::kLlvm, print_llvm)) return result;

  if (absl::Status status = Optimize(*lowered, options, sink); !status.ok()) return status;
  lap(result.times.optimize);
  if (done(Stage::kOptimized, print_llvm)) return result;

  const bool quick = options.pipeline == CodegenOptions::Pipeline::kMinimal;
  if (sink) {
    const auto assembly = Assembly(*lowered, quick);
    if (!assembly.ok()) return assembly.status();
    if (done(Stage::kAssembly, [&](llvm::raw_ostream& os) { os << *assembly; })) return result;
  }
  auto bytes = Emit(*lowered, quick, diagnostics);
  if (!bytes.ok()) return bytes.status();
  result.bytes = *std::move(bytes);
  lap(result.times.emit);
  return result;
}

Codegen::Codegen(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Codegen::~Codegen() = default;

absl::StatusOr<std::unique_ptr<Codegen>> Codegen::Create(const MachineTarget& machine) {
  Host();
  std::string error;
  const llvm::Triple triple(machine.triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("unknown target ", machine.triple, ": ", error));
  auto impl = std::make_unique<Impl>();
  impl->machine = machine;
  llvm::TargetOptions as_marked;
  as_marked.UseInitArray = true;  // loaders run no .ctors: a request for a matrix unit is a constructor
  as_marked.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  impl->target.reset(target->createTargetMachine(triple, machine.cpu, machine.features, as_marked,
                                                 llvm::Reloc::PIC_, std::nullopt,
                                                 llvm::CodeGenOptLevel::Default));
  if (impl->target == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("no code generator for ", machine.triple));
  return std::unique_ptr<Codegen>(new Codegen(std::move(impl)));
}

absl::StatusOr<ObjectCode> Codegen::Compile(mlir::ModuleOp module, const CodegenOptions& options) {
  if (options.print_after_all == nullptr) return impl_->Run(module, options, std::nullopt, nullptr);
  PassPrinter print(options.print_after_all);
  return impl_->Run(module, options, std::nullopt, [&](absl::string_view pass, const std::string& text) {
    print(pass, [&] { return text; });
  });
}

absl::StatusOr<std::string> Codegen::Text(mlir::ModuleOp module, const CodegenOptions& options, Stage stage) {
  std::string result;
  const auto ran = impl_->Run(module, options, stage, [&](absl::string_view pass, const std::string& text) {
    if (pass == StageName(stage)) result = text;
  });
  if (!ran.ok()) return ran.status();
  return result;
}

const MachineTarget& Codegen::machine() const { return impl_->machine; }

}  // namespace kiln
