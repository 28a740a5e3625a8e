#include "backends/measure/kernel.h"

#include "absl/strings/str_cat.h"
#include "backends/codegen/table_entry.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "backends/lower/lower.h"
#include "backends/runner/data.h"
#include "lang/base/check.h"
#include "lang/program/layout.h"
#include "lang/reference/trial_data.h"
#include "lang/text/serialize.h"
#include "validator/numeric/tolerance.h"

namespace kiln {
namespace {

static_assert(kManyParameters <= kMaxKernelParams, "kernels with more parameters have tables");

KernelParam::Role RoleOf(Role role) {
  switch (role) {
    case Role::kInput:
      return KernelParam::kInput;
    case Role::kOutput:
      return KernelParam::kOutput;
    case Role::kConstant:
      return KernelParam::kConstant;
    case Role::kScalar:
      return KernelParam::kScalar;
    case Role::kTemporary:
    case Role::kStatus:
      break;
  }
  KILN_CHECK(false, "a temporary is not a parameter");
  return KernelParam::kWorkspace;
}

void AddPrepared(const std::vector<PreparedParam>& prepared, KernelObject* kernel) {
  for (const PreparedParam& param : prepared)
    kernel->params.push_back(
        {.dtype = param.dtype, .elements = param.elements, .role = KernelParam::kPrepared});
}

}  // namespace

std::vector<Tolerance> TolerancesOf(const Program& original) {
  std::vector<Tolerance> tolerances;
  for (const OutputTolerance& t : ToleranceFor(original))
    tolerances.push_back({.relative = t.relative, .absolute = t.absolute});
  return tolerances;
}

std::vector<DataRange> RangesOf(const Program& original, uint64_t data_seed) {
  const auto drawn = [](const TrialData& data) {
    std::vector<DataRange> ranges;
    for (const auto& range : data)
      ranges.push_back(range ? DataRange{range->min, range->max, range->zero} : DataRange{});
    return ranges;
  };
  const auto known = TrialRanges(
      original, [&](const TrialData& data) { return TrialInputs(original, data_seed, drawn(data)); });
  return drawn(known.ok() ? *known : TrialData(original.parameters.size()));
}

std::vector<std::string> TrialInputs(const Program& original, uint64_t data_seed,
                                     const std::vector<DataRange>& ranges) {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < original.parameters.size(); ++i) {
    const Buffer& buffer = original.buffers[original.parameters[i]];
    if (!IsGiven(buffer.role)) continue;
    const int64_t elements = ElementsOf(original, original.parameters[i]);
    std::string bytes(elements * SizeOf(buffer.dtype), '\0');
    FillInput(data_seed, static_cast<int>(i), std::string(ToString(buffer.dtype)), 0, elements, bytes.data(),
              ranges[i]);
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

std::vector<KernelParam> ParamsOf(const Program& program, const std::vector<Tolerance>& tolerances,
                                  const std::vector<DataRange>& ranges) {
  std::vector<KernelParam> params;
  size_t output = 0;
  for (const Id id : program.parameters) {
    const Buffer& buffer = program.buffers[id];
    KernelParam& param = params.emplace_back();
    param.dtype = std::string(ToString(buffer.dtype));
    param.elements = ElementsOf(program, id);
    param.role = RoleOf(buffer.role);
    if (params.size() <= ranges.size()) param.range = ranges[params.size() - 1];
    if (param.role == KernelParam::kOutput) param.tolerance = tolerances.at(output++);
  }
  return params;
}

KernelObject KernelOf(const Program& program, const BuildResult& built, const std::string& symbol,
                      const std::vector<Tolerance>& tolerances, const std::vector<DataRange>& ranges) {
  KernelObject kernel;
  kernel.shared_object = built.outputs.front();
  const auto entry = [&](const std::string& name) { return built.has_table ? TableSymbol(name) : name; };
  kernel.takes_table = built.has_table;
  kernel.symbol = entry(symbol);
  if (built.has_prepare) kernel.prepare_symbol = entry(absl::StrCat(symbol, "_prepare"));
  if (built.takes_threads) kernel.threads_symbol = ThreadsSymbol(symbol);
  kernel.params = ParamsOf(program, tolerances, ranges);
  kernel.heap_alignment = kHeapAlignment;
  AddPrepared(built.prepared, &kernel);
  return kernel;
}

BuildRequest GpuKernelBuild(const Target& target, const Program& program, BuildOutput output) {
  return {.program = Serialize(program),
          .symbol = "kernel",
          .outputs = {output},
          .contract = target.contract,
          .policies = target.policies,
          .triple = target.triple,
          .cpu = target.cpu};
}

KernelObject GpuKernelOf(const Program& program, const std::string& cubin, const LaunchList& launches,
                         const std::vector<PreparedParam>& prepared, const std::vector<Tolerance>& tolerances,
                         const std::vector<DataRange>& ranges) {
  KernelObject kernel;
  kernel.shared_object = cubin;
  kernel.params = ParamsOf(program, tolerances, ranges);
  AddPrepared(prepared, &kernel);
  kernel.fields.push_back({kLaunchListField, Encode(launches)});
  return kernel;
}

}  // namespace kiln
