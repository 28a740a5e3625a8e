#include <algorithm>
#include <iterator>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/export/gpu_files.h"
#include "backends/export/header.h"
#include "build_info.h"

namespace kiln {
namespace {

constexpr const char* kOurNames[] = {"stream", "workspace", "pointers", "kiln_this", "kiln_call"};

constexpr absl::string_view kTensorType =
    R"(/* A tensor of DLPack. Include dlpack.h before this header to pass its DLTensor. */
#ifndef KILN_DLTENSOR
#define KILN_DLTENSOR
#ifdef DLPACK_DLPACK_H_
typedef DLTensor KilnDLTensor;
#else
typedef struct {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} KilnDLTensor;
#endif
#endif
)";

std::string Comment(const std::string& name, const GpuProduct& product, const std::string& checked,
                    const std::vector<HeaderParam>& params, bool has_prepare) {
  size_t width = 0;
  for (const HeaderParam& param : params) width = std::max(width, param.name.size());
  std::string text = absl::StrCat("/* ", name, ": kernels made by Kiln ", KILN_VERSION,
                                  " for GPUs of NVIDIA (", product.chip, ").\n *\n");
  for (const HeaderParam& param : params)
    absl::StrAppend(&text, " *   ", param.name, std::string(width + 2 - param.name.size(), ' '), param.note,
                    "\n");
  absl::StrAppend(
      &text,
      " *\n * The caller allocates all arrays in the memory of the GPU: contiguous, row-major, aligned to 16 bytes, "
      "and none\n * overlaps another. `workspace` has ",
      name,
      "_workspace_bytes() bytes, and may be null if these are 0. `stream` is a\n * CUstream or cudaStream_t; null is "
      "the default stream. A context must be current. Functions put kernels on the stream and\n * return at once; "
      "any may be called from several threads, with a workspace for each stream. They return 0, the CUresult of\n"
      " * the driver, -1 without a driver, or -2 for a wrong argument; ",
      name, "_error() then says what was wrong, for the last\n * failure of this thread. ", name,
      "_dl takes tensors instead: those of the parameters in order, then the workspace if it has\n * bytes. It checks "
      "their devices, types, shapes, strides and alignment.\n");
  if (has_prepare)
    absl::StrAppend(&text, " *\n * ", name,
                    "_prepare reads the constants and writes the prepared arrays. Call it before ", name,
                    ", and again when a\n * constant changed; inputs and outputs may be null there.\n");
  if (!checked.empty())
    absl::StrAppend(&text, " *\n * Beside the original: ", absl::StrReplaceAll(checked, {{"\n", "\n *   "}}),
                    "\n");
  return text + " */\n";
}

}  // namespace

std::vector<HeaderParam> GpuHeaderParams(const Program& program, const GpuProduct& product) {
  BuildResult built;
  built.prepared = product.prepared;
  std::vector<HeaderParam> params = HeaderParams(program, built);
  std::set<std::string> taken(std::begin(kOurNames), std::end(kOurNames));
  for (const HeaderParam& param : params) taken.insert(param.name);
  for (HeaderParam& param : params) {
    const bool is_ours = absl::c_any_of(kOurNames, [&](const char* name) { return param.name == name; });
    while (is_ours && !taken.insert(param.name).second) param.name += "_";
  }
  return params;
}

std::string GpuHeaderText(const Program& program, const std::string& name, const GpuProduct& product,
                          const std::string& checked) {
  const std::vector<HeaderParam> params = GpuHeaderParams(program, product);
  const bool has_prepare = std::any_of(product.launches.launches.begin(), product.launches.launches.end(),
                                       [](const Launch& launch) { return launch.prepare; });
  std::vector<std::string> parameters = {"void* stream"};
  for (const HeaderParam& param : params)
    parameters.push_back(
        absl::StrCat(absl::StartsWith(param.type, "const") ? "const void* " : "void* ", param.name));
  parameters.emplace_back("void* workspace");
  const std::vector<std::string> tensors = {"void* stream", "KilnDLTensor* const* tensors"};

  std::string functions = Prototype(name, parameters);
  if (has_prepare) absl::StrAppend(&functions, Prototype(name + "_prepare", parameters));
  absl::StrAppend(&functions, Prototype(name + "_dl", tensors));
  if (has_prepare) absl::StrAppend(&functions, Prototype(name + "_prepare_dl", tensors));
  absl::StrAppend(&functions, "int64_t ", name, "_workspace_bytes(void);\nconst char* ", name,
                  "_error(void);\n");
  const std::string guard = absl::StrCat("KILN_", absl::AsciiStrToUpper(name), "_H");
  return absl::StrCat(Comment(name, product, checked, params, has_prepare), "#ifndef ", guard, "\n#define ",
                      guard, "\n\n#include <stdint.h>\n\n", kTensorType,
                      "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", functions,
                      "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

}  // namespace kiln
