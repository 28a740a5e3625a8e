// Cpu: the default space. It is for CPUs. It leaves out terms that multiply zeros, inlines cheap blocks, offers partial
// results (rfactor) and padding, tiles blocks that reuse data, offers non-temporal stores and blocks of rows, places
// the remaining blocks, vectorizes rows, then parallelizes, vectorizes and unrolls.
//
// A module is in the default space if it rarely applies or nearly always gains, since each extra choice costs the
// search trials. dots=1: tile contractions of bytes, bf16 and f16 with the target's intrinsics too. with=a,b: the
// modules a and b get each block after a first auto-inline of all blocks, and before the block is tiled. Auto-inline
// thus never visits the copies that they make.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lang/intrinsics/cpu_instructions.h"
#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"

namespace kiln {

std::string CpuText(const Target& target, const CpuOptions& options) {
  const auto families = target.matrix_intrinsics();
  const bool dots = options.dots != 0 && std::any_of(families.begin(), families.end(),
                                                     [](const IntrinsicFamily* f) { return f->k > 1; });
  return absl::StrCat(
      "skip-zeros | drop-padded-terms | each-block(inline-constant-scalars | auto-inline) | "
      "each-block(",
      options.with.empty() ? "" : absl::StrReplaceAll(options.with, {{",", " | "}}) + " | ",
      "auto-inline | add-rfactor | pad-to-tile | ",
      dots ? absl::StrCat("multi-level-tiling-with-intrinsic families=",
                          absl::StrJoin(CpuInstructionGroups(), ","), " | ")
           : "",
      "multi-level-tiling) | each-block(non-temporal-stores | row-blocking) | random-compute-location | "
      "vectorize-rows | parallelize-vectorize-unroll");
}

namespace {

Allowed NamesOfModules() {
  const auto is_name = [](absl::string_view name) {
    return !name.empty() && absl::c_all_of(name, [](char c) { return absl::ascii_isalnum(c) || c == '-'; });
  };
  return {.text = [=](const std::string& text) { return absl::c_all_of(absl::StrSplit(text, ','), is_name); },
          .texts = "names of modules of a block, without options, with commas between"};
}

}  // namespace

Space Cpu(CpuOptions options) {
  return internal::SpaceOfText([options](const Target& target) { return CpuText(target, options); });
}

void CpuSpace(Schedule& s) { Cpu()(s); }

KILN_MODULE("cpu", CpuText, Option("dots", &CpuOptions::dots, Between(0, 1)),
            Option("with", &CpuOptions::with, NamesOfModules()));

}  // namespace kiln
