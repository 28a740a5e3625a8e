#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/export/gpu_files.h"
#include "backends/export/header.h"

namespace kiln {
namespace {

// How DLPack may describe a type: the mask of accepted type codes (1 << code), and the size of an element in bits.
struct DlType {
  int codes = 0, bits = 0;
};

DlType DlTypeOf(DType type) {
  constexpr int kInt = 1 << 0, kUInt = 1 << 1, kFloat = 1 << 2, kBFloat = 1 << 4, kBool = 1 << 6;
  const int bits = 8 * static_cast<int>(SizeOf(type));
  if (type == DType::kBF16) return {kBFloat, bits};
  if (IsFloat(type)) return {kFloat, bits};
  if (type == DType::kI1) return {kBool | kInt | kUInt, bits};
  return {kInt | kUInt, bits};
}

class SourceWriter {
 public:
  SourceWriter(const Program& program, const std::string& name, const GpuProduct& product)
      : program_(program), name_(name), product_(product) {
    for (const HeaderParam& param : GpuHeaderParams(program, product)) names_.push_back(param.name);
  }

  std::string Write() {
    size_t most = 1;
    for (const Launch& launch : product_.launches.launches) most = std::max(most, launch.arguments.size());
    return absl::StrCat("#define KILN_MOST_ARGUMENTS ", most, "\n#include \"", name_, ".h\"\n\n",
                        GpuCallsSource(), "\n/* --- ", name_, " */\n\n", Parameters(), "\n", Launches(), "\n",
                        Bytes(), "\n", Product(), "\n", Functions());
  }

 private:
  std::string Parameters() const {
    std::string shapes, rows;
    const auto add = [&](size_t at, DType type, const std::vector<int64_t>& shape) {
      const DlType dl = DlTypeOf(type);
      int64_t bytes = SizeOf(type);
      for (const int64_t extent : shape) bytes *= extent;
      absl::StrAppend(&shapes, "static const int64_t kiln_shape_", at, "[] = {", absl::StrJoin(shape, ", "),
                      shape.empty() ? "1" : "", "};\n");
      absl::StrAppend(&rows, "    {\"", names_[at], "\", \"", ToString(type), "\", ", shape.size(),
                      ", kiln_shape_", at, ", ", bytes, ", ", dl.codes, ", ", dl.bits, "},\n");
    };
    size_t at = 0;
    for (const Id id : program_.parameters) {
      const Buffer& buffer = program_.buffers[id];
      std::vector<int64_t> shape;
      for (const Extent& extent : program_.Dims(buffer.shape)) shape.push_back(extent.Known());
      add(at++, buffer.dtype, shape);
    }
    for (const PreparedParam& prepared : product_.prepared)
      add(at++, ParseDType(prepared.dtype).value_or(DType::kI8), {prepared.elements});
    return absl::StrCat(shapes, "static const kiln_parameter kiln_parameters[] = {\n", rows,
                        "    {\"\", \"\", 0, 0, ", product_.launches.workspace_bytes, ", 0, 0}};\n");
  }

  std::string Launches() const {
    std::string arguments, rows;
    for (size_t l = 0; l < product_.launches.launches.size(); ++l) {
      const Launch& launch = product_.launches.launches[l];
      absl::StrAppend(&arguments, "static const kiln_argument kiln_arguments_", l, "[] = {",
                      absl::StrJoin(launch.arguments, ", ",
                                    [](std::string* out, const LaunchArgument& a) {
                                      a.is_workspace ? absl::StrAppend(out, "{-1, ", a.value, "}")
                                                     : absl::StrAppend(out, "{", a.value, ", 0}");
                                    }),
                      launch.arguments.empty() ? "{0, 0}" : "", "};\n");
      absl::StrAppend(&rows, "    {\"", launch.kernel, "\", ", launch.prepare ? 1 : 0, ", ", launch.blocks,
                      ", ", launch.threads, ", ", launch.shared_bytes, ", ", launch.arguments.size(),
                      ", kiln_arguments_", l, "},\n");
    }
    return absl::StrCat(arguments, "static const kiln_launch kiln_launches[] = {\n", rows, "};\n");
  }

  std::string Bytes() const {
    constexpr size_t kRow = 32;
    std::string text = "static const unsigned char kiln_cubin[] __attribute__((aligned(64))) = {";
    for (size_t at = 0; at < product_.cubin.size(); ++at)
      absl::StrAppend(&text, at % kRow == 0 ? "\n" : "",
                      static_cast<int>(static_cast<unsigned char>(product_.cubin[at])), ",");
    return text + "};\n";
  }

  std::string Product() const {
    const size_t launches = product_.launches.launches.size();
    return absl::StrCat("static void* kiln_kernels[", launches, "];\nstatic kiln_product kiln_this = {\"",
                        name_, "\", \"", product_.chip, "\", kiln_cubin, ", names_.size(),
                        ", kiln_parameters, ", launches,
                        ", kiln_launches, kiln_kernels, 0, 0, PTHREAD_MUTEX_INITIALIZER};\n");
  }

  std::string Functions() const {
    std::string text = Calls("", 0);
    const bool has_prepare = std::any_of(product_.launches.launches.begin(), product_.launches.launches.end(),
                                         [](const Launch& launch) { return launch.prepare; });
    if (has_prepare) absl::StrAppend(&text, Calls("_prepare", 1));
    return absl::StrCat(text, "int64_t ", name_, "_workspace_bytes(void) { return ",
                        product_.launches.workspace_bytes, "; }\nconst char* ", name_,
                        "_error(void) { return kiln_message; }\n");
  }

  std::string Calls(absl::string_view suffix, int prepare) const {
    std::string heads, values;
    for (size_t at = 0; at < names_.size(); ++at) {
      const bool writes =
          at >= program_.parameters.size() || program_.buffers[program_.parameters[at]].role == Role::kOutput;
      absl::StrAppend(&heads, writes ? "void* " : "const void* ", names_[at], ", ");
      absl::StrAppend(&values, "(void*)", names_[at], ", ");
    }
    return absl::StrCat(
        "int ", name_, suffix, "(void* stream, ", heads, "void* workspace) {\n  void* const pointers[] = {",
        values, "workspace};\n  return kiln_call(&kiln_this, stream, pointers, ", prepare, ");\n}\nint ",
        name_, suffix, "_dl(void* stream, KilnDLTensor* const* tensors) {\n  void* pointers[",
        names_.size() + 1, "];\n  return kiln_call_dl(&kiln_this, stream, tensors, pointers, ", prepare,
        ");\n}\n");
  }

  const Program& program_;
  const std::string name_;
  const GpuProduct& product_;
  std::vector<std::string> names_;  // of parameters
};

}  // namespace

std::string GpuSourceText(const Program& program, const std::string& name, const GpuProduct& product) {
  return SourceWriter(program, name, product).Write();
}

}  // namespace kiln
