#include "backends/export/model_header.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/export/header.h"
#include "build_info.h"

namespace kiln {
namespace {

class Writer {
 public:
  Writer(const Program& model, const ModelPlan& plan, const ModelHeader& header)
      : plan_(plan), header_(header), upper_(absl::AsciiStrToUpper(header.name)) {
    const std::vector<HeaderParam> all = HeaderParams(model, BuildResult());
    for (size_t i = 0; i < all.size(); ++i) {
      const bool is_constant = model.buffers[model.parameters[i]].role == Role::kConstant;
      (is_constant ? constants_ : others_).push_back(all[i]);
      width_ = std::max(width_, all[i].name.size());
    }
  }

  std::string Write() const {
    return absl::StrCat(Comment(), "#ifndef KILN_", upper_, "_H\n#define KILN_", upper_,
                        "_H\n\n#include <stdint.h>\n\n", Sizes(),
                        "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", Prototypes(),
                        "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  }

 private:
  std::string Lines(const std::vector<HeaderParam>& params) const {
    return absl::StrJoin(params, "", [&](std::string* out, const HeaderParam& p) {
      absl::StrAppend(out, " *   ", p.name, std::string(width_ + 2 - p.name.size(), ' '), p.note, "\n");
    });
  }

  std::string Comment() const {
    std::string text = absl::StrCat("/* ", header_.name, ": a model, made by Kiln ", KILN_VERSION, " for ",
                                    header_.made_for, ".\n *\n", Lines(others_));
    if (!constants_.empty()) {
      absl::StrAppend(&text, " *\n * Constants, in the order of the table that ", header_.name,
                      "_prepare takes:\n", Lines(constants_));
    }
    absl::StrAppend(
        &text,
        " *\n * The caller allocates all arrays: contiguous, row-major, and none overlaps another. `weights` and `arena`"
        "\n * have the sizes and the alignment below. ",
        header_.name,
        " keeps no state and allocates nothing: several threads may call it\n * at once, each with an arena of its "
        "own, and with the same weights. It returns 0 if all is well, and 1 if an assertion\n * of the model does "
        "not hold; results then mean nothing.\n");
    if (plan_.weights_bytes > 0) {
      absl::StrAppend(&text, " *\n * ", header_.name,
                      "_prepare writes the weights from the constants. Call it once, and again if a "
                      "constant changed.\n * The constants are not needed afterwards.\n");
    }
    if (header_.weights_offset > 0) {
      absl::StrAppend(&text, " *\n * ", header_.name, ".weights holds the prepared weights, at ", upper_,
                      "_WEIGHTS_OFFSET: map it, and processes share one copy.\n");
    }
    if (header_.takes_threads) {
      absl::StrAppend(
          &text, " *\n * ", header_.name,
          "_set_threads says how many threads share the work of a call, 1 at first. A program that links\n * ",
          header_.name,
          ".a compiles kiln_pool.c into itself, once for all that Kiln exported; without it calls use the "
          "caller's\n * thread alone.\n");
    }
    if (!header_.notes.empty())
      absl::StrAppend(&text, " *\n * ", absl::StrReplaceAll(header_.notes, {{"\n", "\n * "}}), "\n");
    return absl::StrCat(text, " */\n");
  }

  std::string Sizes() const {
    std::string text =
        absl::StrCat("#define ", upper_, "_WEIGHTS_BYTES INT64_C(", plan_.weights_bytes, ")\n");
    if (header_.weights_offset > 0)
      absl::StrAppend(&text, "#define ", upper_, "_WEIGHTS_OFFSET INT64_C(", header_.weights_offset, ")\n");
    return absl::StrCat(text, "#define ", upper_, "_ARENA_BYTES INT64_C(", plan_.arena_bytes, ")\n#define ",
                        upper_, "_ALIGNMENT ", kModelAlignment, "\n");
  }

  std::string Prototypes() const {
    std::vector<std::string> parameters = {"const void* weights"};
    for (const HeaderParam& p : others_) parameters.push_back(absl::StrCat(p.type, " ", p.name));
    parameters.emplace_back("void* arena");
    std::string text = absl::StrCat(
        Prototype(header_.name, parameters), "\n",
        Prototype(absl::StrCat(header_.name, "_prepare"), {"const void* const* constants", "void* weights"}));
    if (header_.takes_threads)
      absl::StrAppend(&text, "\n", Prototype(absl::StrCat(header_.name, "_set_threads"), {"int threads"}));
    return text;
  }

  const ModelPlan& plan_;
  const ModelHeader& header_;
  const std::string upper_;
  std::vector<HeaderParam> constants_, others_;
  size_t width_ = 0;
};

}  // namespace

std::string ModelHeaderText(const Program& model, const ModelPlan& plan, const ModelHeader& header) {
  return Writer(model, plan, header).Write();
}

}  // namespace kiln
