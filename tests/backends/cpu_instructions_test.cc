// Tests every CPU instruction in the table of lang/intrinsics/cpu_instructions.h: compiled calls compute what the
// interpreter computes from the description. Calls run here as loops, and as the instruction if this machine has it. A
// product of calls is also compiled for a machine that has the instruction. It runs under qemu (Arm) or, on x86-64 with
// AVX2, with C functions in place of the instruction.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "backends/codegen/codegen.h"
#include "backends/codegen/context.h"
#include "build_info.h"
#include "lang/intrinsics/cpu_instructions.h"
#include "lang/patterns/match.h"
#include "testing/compiled/run_program.h"
#include "testing/random_program.h"
#include "tests/support/instructions_in_c.h"
#include "tests/support/run_kiln.h"
#include "tests/support/tensorized.h"

namespace kiln {
namespace {

// Returns the program that describes the instruction, with one call of the instruction in place of the loops.
Program CallOf(const CpuInstruction& row) {
  Program p = ParseProgram(row.description()).value();
  BlockNode call;
  call.name = p.Intern("call");
  call.intrinsic = p.Intern(row.intrinsic());
  const Id block = p.AddBlock(call), loop = LoopsOf(p)[0];
  p.Replace(loop, block);
  p.Append(block, loop);
  EXPECT_TRUE(Verify(p).ok()) << Verify(p);
  return p;
}

// Returns a product in tiles, each a call of the instruction that adds to sums. If the instruction needs it, B has an
// interleaved layout.
Program CallsOf(const CpuInstruction& row) {
  Program p = Product(row);
  if (row.interleave < row.k) {
    const std::string before =
        absl::Substitute("buffer B: $0[$1, $2] input", row.factor, 2 * row.n, 3 * row.k);
    const std::string layout = absl::Substitute(" layout (d1/$0 < $1, d0 < $2, d1%$0 < $0)", row.interleave,
                                                3 * row.k / row.interleave, 2 * row.n);
    p = ParseProgram(absl::StrReplaceAll(ToString(p), {{before, before + layout}})).value();
  }
  return Tensorized(p, "product", FamilyOf(row));
}

// Returns random inputs for the program: small whole numbers, so that no sum is rounded, or any bytes if the factors
// are i8.
std::vector<std::string> InputsOf(const Program& p, const CpuInstruction& row) {
  RandomDice dice(Engine({3}));
  std::vector<std::string> inputs = RandomInputs(p, dice);
  for (std::string& bytes : inputs) {
    if (row.factor != "i8") continue;
    for (char& byte : bytes) byte = static_cast<char>(dice.Below(256));
  }
  return inputs;
}

// Returns the bytes of the inputs as they lie in memory: those of B are permuted if B has an interleaved layout.
std::vector<std::string> InMemory(std::vector<std::string> inputs, const Program& p,
                                  const CpuInstruction& row) {
  if (p.buffers[p.parameters[1]].layout.axes.count == 0) return inputs;
  const std::string logical = inputs[1];
  const int64_t columns = 2 * row.n, depth = 3 * row.k, t = row.interleave;
  const int64_t size = std::ssize(logical) / (columns * depth);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t k = 0; k < depth; ++k)
      inputs[1].replace(((k / t * columns + j) * t + k % t) * size, size, logical, (j * depth + k) * size,
                        size);
  return inputs;
}

std::string Bytes(const std::string& bytes) {
  return absl::StrJoin(bytes, ",",
                       [](std::string* out, char c) { absl::StrAppend(out, int{static_cast<uint8_t>(c)}); });
}

// Returns C code of a main function that calls the compiled program on these inputs and returns 0 if the output is
// `wanted`.
std::string MainOf(const Program& p, const std::vector<std::string>& inputs, const std::string& wanted) {
  return absl::Substitute(R"(
int $0(void*, void*, void*);
static _Alignas(64) unsigned char a[] = {$1}, b[] = {$2}, wanted[] = {$3}, c[sizeof wanted];
int main(void) { return $0(a, b, c) != 0 || __builtin_memcmp(c, wanted, sizeof wanted) != 0; }
)",
                          p.name, Bytes(inputs[0]), Bytes(inputs[1]), Bytes(wanted));
}

LowerOptions For(const MachineTarget& machine) {
  return {.vector_bytes = machine.vector_bytes,
          .vector_registers = machine.vector_registers,
          .features = machine.features};
}

// Returns a machine, x86 with AVX2 or Arm, that has the instruction: of alternative sets of features that provide it,
// the first.
MachineTarget MachineWith(const CpuInstruction& row) {
  const std::vector<std::string> alternatives = absl::StrSplit(row.feature, '|');
  const std::string features = absl::StrCat("+", absl::StrReplaceAll(alternatives[0], {{"+", ",+"}}));
  return absl::StartsWith(row.llvm, "llvm.x86.")
             ? Named("x86_64-pc-linux-gnu", "x86-64-v3", features).value()
             : Named("aarch64-unknown-linux-gnu", "generic", features).value();
}

void ExpectHere(const Program& p, const std::vector<std::string>& inputs, const std::string& wanted,
                const std::string& features) {
  const auto loaded = BuildProgram(p, {.features = features});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::vector<Array<char>> memory;
  for (const std::string& bytes : {inputs[0], inputs[1], wanted}) memory.emplace_back(bytes.size(), '\xA5');
  for (size_t i = 0; i < 2; ++i) std::memcpy(memory[i].data(), inputs[i].data(), inputs[i].size());
  ASSERT_EQ(CallKernel(*loaded, p.name, {memory[0].data(), memory[1].data(), memory[2].data()}), 0);
  EXPECT_EQ(std::memcmp(memory[2].data(), wanted.data(), wanted.size()), 0) << "with " << features;
}

void ExpectUnderQemu(const std::string& object, const std::string& c) {
  const TemporaryFolder folder;
  folder.Write("program.o", object);
  folder.Write("main.c", c);
  const std::string in = absl::StrCat("cd ", folder.path(), " && ");
  const std::string compile = absl::StrCat(
      in, KILN_CXX_COMPILER,
      " --target=aarch64-linux-gnu -fuse-ld=lld -static -nostdlib++ -x c main.c -x none program.o -o main");
  ASSERT_EQ(std::system(compile.c_str()), 0);
  EXPECT_EQ(std::system(absl::StrCat(in, "qemu-aarch64 -cpu max ./main").c_str()), 0);
}

// Compiles the program for a machine that has the instruction and expects that the code uses it. Then runs the code and
// expects `wanted`: under qemu for Arm, and on x86-64 with AVX2 with C functions in place of the instruction. Elsewhere
// the code is not run.
void ExpectInstruction(const CpuInstruction& row, const Program& p, const std::vector<std::string>& inputs,
                       const std::string& wanted) {
  const MachineTarget machine = MachineWith(row);
  const auto codegen = Codegen::Create(machine).value();
  const auto lower = [&] { return Lower(p, Context(), For(machine)).value(); };
  const CodegenOptions options{.entries = {{.name = p.name, .noalias = true}}};
  const std::string ir = codegen->Text(*lower(), options, Stage::kOptimized).value();
  ASSERT_TRUE(absl::StrContains(ir, absl::StrCat("@", row.llvm))) << ir;
  if (absl::StartsWith(row.llvm, "llvm.aarch64.")) {
    ExpectUnderQemu(codegen->Compile(*lower(), options)->bytes, MainOf(p, inputs, wanted));
  } else if (absl::StrContains(Host().triple, "x86_64") && Host().vector_bytes >= 32) {
    EXPECT_EQ(RunWithC(WithCFunctions(ir, row), CFunctions(row) + MainOf(p, inputs, wanted)), 0);
  }
}

TEST(CpuInstructions, ComputeTheirDescriptions) {
  for (const CpuInstruction& row : CpuInstructions()) {
    SCOPED_TRACE(row.family);
    for (const Program& p : {CallOf(row), CallsOf(row)}) {
      const std::vector<std::string> inputs = InputsOf(p, row);
      const std::string wanted = kiln::Run(p, inputs).value()[0];
      const std::vector<std::string> memory = InMemory(inputs, p, row);
      ExpectHere(p, memory, wanted, "");
      if (row.IsIn(Host().features)) ExpectHere(p, memory, wanted, Host().features);
      if (p.name == "product") ExpectInstruction(row, p, memory, wanted);
    }
  }
}

}  // namespace
}  // namespace kiln
