#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/builder/compile.h"
#include "backends/codegen/context.h"
#include "backends/cpu/targets.h"
#include "backends/import/import.h"
#include "bench/random_candidates.h"
#include "lang/base/check.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "test_paths.h"
#include "tests/baseline/parts.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln::baseline {
namespace {

constexpr int kDrawsPerOperator = 63;
constexpr std::array<const char*, 3> kMachines = {"x86-64-v3", "x86-64-v4", "aarch64"};

struct Machine {
  MachineTarget machine;
  std::unique_ptr<Codegen> codegen;
};

Machine MachineNamed(const std::string& name) {
  const Target target = NamedTarget(name).value();
  MachineTarget machine = Named(target.triple, target.cpu).value();
  machine.l2_bytes = target.l2_bytes;
  return {machine, Codegen::Create(machine).value()};
}

// Returns the hash of a program's object code, or the status code of the error that refuses the program.
std::string ObjectOf(Program program, const Machine& on) {
  program.name = "kernel";
  const auto module = Lower(program, Context(), LoweringFor(on.machine));
  if (!module.ok()) return std::string(absl::StatusCodeToString(module.status().code()));
  const auto object = on.codegen->Compile(**module, CodegenFor(program));
  if (!object.ok()) return std::string(absl::StatusCodeToString(object.status().code()));
  return HashOfBytes(object->bytes).substr(0, 16);
}

// Takes programs in turn and hands those of one shard, every `shards`-th, to `use`. Does not make the others.
class Turns {
 public:
  using Use = std::function<void(const std::string& name, const Program& program)>;
  Turns(int shard, int shards, Use use) : shard_(shard), shards_(shards), use_(std::move(use)) {}

  template <typename Make>
  void Take(const std::string& name, const Make& make) {
    if (next_++ % shards_ == shard_) use_(name, make());
  }

 private:
  int next_ = 0;
  const int shard_, shards_;
  const Use use_;
};

void RandomTraces(const Target& target, Turns& turns) {
  for (const char* name : kEightOperators) {
    RandomCandidates candidates(name, target);
    for (int draw = 0; draw < kDrawsPerOperator; ++draw)
      turns.Take(absl::StrCat("draw ", name, " ", draw),
                 [&] { return candidates.Draw(draw).replayed.program(); });
  }
}

// Hands the program of the first sketch of the first task of each MLIR file in tests/inputs/ops and bench/operators to
// `turns`. Leaves out files that cannot be imported.
void FirstSketches(const Target& target, Turns& turns) {
  const SpaceFunction space = ParseSpace(DefaultSpace(target)).value();
  std::string last;
  for (const char* folder : {"tests/inputs/ops", "bench/operators"}) {
    for (const auto& [file, task] : TasksOf(folder, nullptr)) {
      if (file == last) continue;
      last = file;
      turns.Take(absl::StrCat("sketch ", file), [&, &program = task.program] {
        const auto sketches = Enumerate(space, program, target);
        KILN_CHECK(sketches.ok() && !sketches->sketches.empty(), file);
        return Program(Replay(sketches->sketches[0].trace, program, target).value().program());
      });
    }
  }
}

void GoldenTraces(const Target& target, Turns& turns) {
  const std::string root = absl::StrCat(KILN_SOURCE_DIR, "/");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root + "tests/golden/trace"))
    if (entry.path().extension() == ".trace") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::string file;
    if (absl::StartsWith(name, "tvm_")) file = absl::StrCat("bench/operators/", name.substr(4), ".mlir");
    if (absl::StartsWith(name, "by_hand_")) file = absl::StrCat("tests/inputs/ops/", name.substr(8), ".mlir");
    if (file.empty() || !std::filesystem::exists(root + file)) continue;
    turns.Take(absl::StrCat("trace ", name), [&] {
      std::ifstream text(absl::StrCat(root, "tests/golden/trace/", name, ".trace"));
      const Trace trace = ParseTrace(std::string(std::istreambuf_iterator<char>(text), {})).value();
      return Program(Replay(trace, ImportFile(root + file).value().program, target).value().program());
    });
  }
}

// Hands the stored random programs to `turns`. They are stored as text, because newly drawn programs differ with every
// new primitive.
void RandomPrograms(Turns& turns) {
  std::ifstream file(absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/before/programs.txt"));
  const std::string all(std::istreambuf_iterator<char>(file), {});
  int number = 0;
  for (const absl::string_view text : absl::StrSplit(all, "---\n", absl::SkipEmpty()))
    turns.Take(absl::StrCat("random ", number++), [&] { return ParseProgram(text).value(); });
}

}  // namespace

void PrintObjects(std::ostream& out, int shard, int shards) {
  std::vector<Machine> machines;
  for (const char* name : kMachines) machines.push_back(MachineNamed(name));
  Turns turns(shard, shards, [&](const std::string& name, const Program& program) {
    out << name << ": " << HashOfBytes(ToString(program)).substr(0, 16);
    for (const Machine& machine : machines) out << " " << ObjectOf(program, machine);
    out << "\n";
  });
  const Target target = NamedTarget("x86-64-v3").value();
  RandomTraces(target, turns);
  FirstSketches(target, turns);
  GoldenTraces(target, turns);
  RandomPrograms(turns);
}

}  // namespace kiln::baseline
