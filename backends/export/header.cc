#include "backends/export/header.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "backends/export/export.h"
#include "backends/export/signs.h"
#include "build_info.h"

namespace kiln {
namespace {

// Returns the C type of an element. An integer is signed unless the program reads it as unsigned; u8 is always
// unsigned. f16 and bf16 are uint16_t, and i1 is uint8_t.
std::string CType(DType type, Sign sign = Sign::kUnsaid) {
  if (sign == Sign::kUnsigned) return absl::StrCat("u", CType(type));
  switch (type) {
    case DType::kF64:
      return "double";
    case DType::kF32:
      return "float";
    case DType::kF16:
    case DType::kBF16:
      return "uint16_t";
    case DType::kI1:
    case DType::kU8:
      return "uint8_t";
    case DType::kI8:
      return "int8_t";
    case DType::kI16:
      return "int16_t";
    case DType::kI32:
      return "int32_t";
    case DType::kI64:
    case DType::kIndex:
      return "int64_t";
  }
  return "void";
}

bool HasUnsaidSign(DType type, Sign sign) {
  return sign == Sign::kUnsaid && absl::StartsWith(CType(type), "int") && type != DType::kIndex;
}

std::string HowStored(DType type, Sign sign = Sign::kUnsaid) {
  if (sign != Sign::kUnsaid) return sign == Sign::kSigned ? " (signed)" : " (unsigned)";
  switch (type) {
    case DType::kF16:
      return " (bits of IEEE binary16)";
    case DType::kBF16:
      return " (bits of bfloat16)";
    case DType::kI1:
      return " (0 or 1)";
    default:
      return "";
  }
}

std::string ShapeOf(const Program& program, const Buffer& buffer) {
  const auto dims = program.Dims(buffer.shape);
  return absl::StrCat(
      "[",
      absl::StrJoin(dims, ", ", [](std::string* out, const Extent& e) { absl::StrAppend(out, e.Known()); }),
      "]");
}

constexpr absl::string_view kChecks =
    "Functions return 0 if all is well, and otherwise 1:\n * an assertion of the model does not hold, and "
    "outputs mean nothing.";

bool HasStatus(const Program& program) {
  return std::any_of(program.buffers.begin(), program.buffers.end(),
                     [](const Buffer& buffer) { return buffer.role == Role::kStatus; });
}

}  // namespace

std::string Prototype(const std::string& function, const std::vector<std::string>& parameters) {
  const std::string start = absl::StrCat("int ", function, "(");
  return absl::StrCat(start, absl::StrJoin(parameters, absl::StrCat(",\n", std::string(start.size(), ' '))),
                      parameters.empty() ? "void" : "", ");\n");
}

absl::string_view RoleWord(Role role) {
  switch (role) {
    case Role::kInput:
      return "input";
    case Role::kOutput:
      return "output";
    case Role::kConstant:
      return "constant";
    case Role::kScalar:
      return "scalar";
    case Role::kTemporary:
    case Role::kStatus:
      break;
  }
  return "temporary";
}

std::vector<std::string> ParameterNames(const Program& program, size_t prepared) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  const auto add = [&](absl::string_view wanted) {
    std::string name = SafeIdentifier(wanted);
    while (!taken.insert(name).second) name += "_";
    names.push_back(std::move(name));
  };
  for (const Id id : program.parameters) add(program.Text(program.buffers[id].name));
  for (size_t i = 0; i < prepared; ++i) add(absl::StrCat("prepared_", i));
  return names;
}

std::vector<HeaderParam> HeaderParams(const Program& program, const BuildResult& built) {
  std::vector<HeaderParam> params;
  const std::vector<std::string> names = ParameterNames(program, built.prepared.size());
  const std::vector<Sign> signs = SignsOf(program);
  for (const Id id : program.parameters) {
    const Buffer& buffer = program.buffers[id];
    const bool is_output = buffer.role == Role::kOutput;
    params.push_back({names[params.size()],
                      absl::StrCat(is_output ? "" : "const ", CType(buffer.dtype, signs[id]), "*"),
                      absl::StrCat(RoleWord(buffer.role), " ", ToString(buffer.dtype),
                                   ShapeOf(program, buffer), HowStored(buffer.dtype, signs[id]))});
  }
  for (const PreparedParam& prepared : built.prepared) {
    const DType dtype = ParseDType(prepared.dtype).value_or(DType::kI8);
    params.push_back(
        {names[params.size()], absl::StrCat(CType(dtype), "*"),
         absl::StrCat("prepared ", prepared.dtype, "[", prepared.elements, "]", HowStored(dtype))});
  }
  return params;
}

std::string HeaderText(const Program& program, const BuildResult& built, const std::string& name,
                       const std::string& made_for, const std::string& checked) {
  const std::vector<HeaderParam> params = HeaderParams(program, built);
  size_t width = 0;
  std::vector<std::string> parameters;
  for (const HeaderParam& param : params) {
    width = std::max(width, param.name.size());
    parameters.push_back(absl::StrCat(param.type, " ", param.name));
  }
  std::string text = absl::StrCat("/* ", name, ": made by Kiln ", KILN_VERSION, " for ", made_for, ".\n *\n");
  for (const HeaderParam& param : params)
    absl::StrAppend(&text, " *   ", param.name, std::string(width + 2 - param.name.size(), ' '), param.note,
                    "\n");
  absl::StrAppend(&text,
                  " *\n * The caller allocates all arrays: contiguous, row-major, and none overlaps "
                  "another. Any alignment will do;\n * 64 bytes is fastest. ",
                  HasStatus(program) ? kChecks : "Functions return 0.",
                  built.takes_threads ? "" : " They keep no state.",
                  " Any may be called from several threads at once.\n");
  const std::vector<Sign> signs = SignsOf(program);
  if (std::any_of(program.parameters.begin(), program.parameters.end(),
                  [&](Id id) { return HasUnsaidSign(program.buffers[id].dtype, signs[id]); })) {
    text +=
        " *\n * Integers called neither signed nor unsigned are bits: no operation here reads them as one "
        "of the two, or\n * several differ. Their C types are signed.\n";
  }
  if (built.takes_threads) {
    absl::StrAppend(
        &text, " *\n * ", name,
        "_set_threads says how many threads share the work of a call, 1 at first. lib", name,
        ".so starts them itself.\n * With ", name,
        ".o, compile kiln_pool.c into the program, once for all that Kiln exported; without it calls\n"
        " * use the caller's thread alone, and so does a call while another one uses the pool.\n");
  }
  if (built.has_prepare) {
    absl::StrAppend(&text, " *\n * ", name,
                    "_prepare reads the constants and writes the prepared arrays. Call it before ", name,
                    ",\n * and again when a constant changed; it does not touch inputs and outputs, which "
                    "may be null there.\n");
  }
  if (!checked.empty())
    absl::StrAppend(&text, " *\n * Beside the original: ", absl::StrReplaceAll(checked, {{"\n", "\n *   "}}),
                    "\n");
  const std::string guard = absl::StrCat("KILN_", absl::AsciiStrToUpper(name), "_H");
  absl::StrAppend(&text, " */\n#ifndef ", guard, "\n#define ", guard,
                  "\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  if (built.has_prepare) absl::StrAppend(&text, Prototype(absl::StrCat(name, "_prepare"), parameters), "\n");
  if (built.takes_threads) absl::StrAppend(&text, "void ", ThreadsSymbol(name), "(int threads);\n\n");
  absl::StrAppend(&text, Prototype(name, parameters), "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  return text;
}

}  // namespace kiln
