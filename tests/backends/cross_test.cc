// Exports random schedules of operators for other machines (Arm, old and new x86), runs them in a C program, for Arm
// under qemu, and compares the results with the interpreter.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <sstream>

#include "absl/strings/str_join.h"
#include "backends/cpu/targets.h"
#include "backends/export/export.h"
#include "backends/import/import.h"
#include "backends/runner/data.h"
#include "build_info.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "modules/space.h"
#include "search/propose/prefilter.h"
#include "search/sampler/chain.h"
#include "tests/backends/shrunken.h"
#include "tests/backends/workers.h"
#include "tests/support/run_kiln.h"
#include "trace/enumerate.h"
#include "trace/text.h"

namespace kiln {
namespace {

struct Machine {
  const char *target, *compile, *run;  // no `run`: this machine cannot run its code
  int traces;                          // number of traces of each operator
};

bool IsX86() { return Host().triple.rfind("x86_64", 0) == 0; }

std::string Shell(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  return pclose(pipe) == 0 ? text : absl::StrCat(command, " fails: ", text);
}

// Returns C code of a main function that reads all parameters from the file "inputs", calls the exported functions f0,
// f1, .. on copies of them, and writes the outputs of each to standard output.
std::string MainText(const Program& p, int functions) {
  std::string text = "#include <stdio.h>\n#include <string.h>\n", arguments, before, after;
  int64_t at = 0;
  for (const Id id : p.parameters) {
    absl::StrAppend(&arguments, arguments.empty() ? "" : ", ", "(void*)(memory + ", at, ")");
    if (p.buffers[id].role == Role::kOutput)
      absl::StrAppend(&after, "    fwrite(memory + ", at, ", 1, ", BytesOf(p, id), ", stdout);\n");
    at += (BytesOf(p, id) + 63) / 64 * 64;
  }
  for (int f = 0; f < functions; ++f) absl::StrAppend(&text, "#include \"f", f, ".h\"\n");
  absl::StrAppend(&text, "static _Alignas(64) char start[", at, "], memory[", at, "];\nint main(void) {\n",
                  "  FILE* file = fopen(\"inputs\", \"rb\");\n",
                  "  if (file == 0 || fread(start, 1, sizeof start, file) != sizeof start) return 2;\n");
  for (int f = 0; f < functions; ++f) {
    absl::StrAppend(&text, "  {\n    memcpy(memory, start, sizeof start);\n    if (f", f, "(", arguments,
                    ") != 0) return 3;\n", after, "  }\n");
  }
  return text + "  return 0;\n}\n";
}

SearchSpace SpaceOf(const Program& program, const std::string& machine) {
  SearchSpace space;
  space.original = program;
  space.target = NamedTarget(machine).value();
  const Target& target = space.target;
  space.make_prefilter = [target] { return MakePrefilter(target); };
  const auto sketches = Enumerate(ParseSpace(DefaultSpace(target)).value(), program, target);
  EXPECT_TRUE(sketches.ok()) << sketches.status();
  for (const Sketch& sketch : sketches->sketches) space.sketches.push_back(sketch.trace);
  return space;
}

// Expects that each trace's kernel computed `wanted`, but for rounding. `outputs` are the bytes of the outputs of all
// kernels, one after the other.
void ExpectOutputs(const std::string& outputs, const std::vector<std::string>& traces,
                   const std::vector<std::string>& wanted) {
  size_t at = 0;
  for (const std::string& trace : traces) {
    for (const std::string& want : wanted) {
      ASSERT_LE(at + want.size(), outputs.size());
      for (size_t e = 0; e < want.size() / sizeof(float); ++e) {
        const double right = LoadElement("f32", want.data(), e),
                     got = LoadElement("f32", outputs.data() + at, e);
        ASSERT_TRUE(std::isfinite(right)) << "element " << e;
        ASSERT_LE(std::fabs(got - right), 1e-4 * (1 + std::fabs(right))) << "element " << e << " of\n"
                                                                         << trace;
      }
      at += want.size();
    }
  }
  EXPECT_EQ(at, outputs.size());
}

void Runs(const Machine& machine, const std::string& name) {
  SCOPED_TRACE(absl::StrCat(name, " for ", machine.target));
  const TemporaryFolder folder;
  const auto imported = ImportLinalg(
      Shrunken(ReadText(absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/ops/", name)), kSmaller), name);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const SearchSpace space = SpaceOf(imported->program, machine.target);
  const Prefilter prefilter = space.make_prefilter();
  static BuilderPool& builders = *StartBuilders().release();
  RandomDice dice(Engine({11}));
  std::vector<std::string> traces;
  for (int draws = 0; static_cast<int>(traces.size()) < machine.traces && draws < 1000; ++draws) {
    const absl::StatusOr<Point> point = DrawPoint(space, prefilter, dice);
    if (!point.ok()) continue;
    const auto exported =
        Export(point->replayed.program(), absl::StrCat("f", traces.size()), folder.path(), builders,
               {.triple = space.target.triple, .cpu = space.target.cpu, .features = space.target.features});
    ASSERT_TRUE(exported.ok()) << exported.status();
    traces.push_back(Print(*point->replayed.trace));
  }
  ASSERT_EQ(static_cast<int>(traces.size()), machine.traces);
  if (machine.run == nullptr) return;

  const Program& p = imported->program;
  std::string memory;
  std::vector<std::string> inputs;
  for (const Id id : p.parameters) {
    const std::string dtype(ToString(p.buffers[id].dtype));
    std::string bytes(BytesOf(p, id), '\xA5');
    if (p.buffers[id].role != Role::kOutput) {
      FillInput(7, static_cast<int>(inputs.size()), dtype, 0, bytes.size() / DTypeBytes(dtype), bytes.data());
      inputs.push_back(bytes);
    }
    memory += bytes + std::string((bytes.size() + 63) / 64 * 64 - bytes.size(), '\0');
  }
  const auto wanted = Run(p, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  folder.Write("inputs", memory);
  folder.Write("main.c", MainText(p, machine.traces));
  const std::string in = absl::StrCat("cd ", folder.path(), " && ");
  ASSERT_EQ(Shell(absl::StrCat(in, KILN_CXX_COMPILER, " ", machine.compile,
                               " -nostdlib++ -Wall -Werror -x c main.c -x none f*.o -lm -o main")),
            "");
  ASSERT_EQ(Shell(absl::StrCat(in, machine.run, " ./main > outputs")), "");
  ExpectOutputs(ReadText(folder / "outputs"), traces, *wanted);
}

void OperatorsRun(const Machine& machine) {
  for (const char* name : {"torch_matmul_1024", "jax_conv2d_nhwc_3x3_bias_relu", "torch_softmax",
                           "torch_layernorm", "torch_dense_bias_gelu"})
    Runs(machine, absl::StrCat(name, ".mlir"));
}

TEST(Cross, OperatorsForArmRunUnderQemu) {
  OperatorsRun({"aarch64", "--target=aarch64-linux-gnu -fuse-ld=lld -static", "qemu-aarch64", 4});
}

TEST(Cross, OperatorsForOldX86RunHere) {
  if (!IsX86()) GTEST_SKIP() << "another kind of machine";
  OperatorsRun({"x86-64-v2", "", "", 2});
}

TEST(Cross, OperatorsForAvx2CompileAndRunWhereTheyCan) {
  OperatorsRun({"x86-64-v3", "", IsX86() && Host().fma && Host().vector_bytes >= 32 ? "" : nullptr, 4});
}

TEST(Cross, OperatorsForAvx512CompileAndRunWhereTheyCan) {
  OperatorsRun({"x86-64-v4", "", IsX86() && Host().vector_bytes == 64 ? "" : nullptr, 2});
}

}  // namespace
}  // namespace kiln
