// kiln_lower_fuzz [--gpu] [--programs N] [--seed N] [--processes N] [--results FILE] [--summary FILE] [--commit ID]
//
// A random test of lowering: applies random steps of every primitive but `bind` and sampling steps to random programs,
// compiles and runs those that the validator accepts, until N have run, and expects that each output element equals the
// interpreter's, but for NaNs and unspecified signs of zeros (tests/support/exact_results.h). The data are small
// integers, so that floats are exact in any order. A few policies of lowering are switched at random. Parallel loops
// run on two threads, with two adjacent iterations at the same time. tests/support/forked_chunks.h explains the
// options. With --gpu, schedules are for a GPU (gpu_fuzz.h).

#include <atomic>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/runner/kiln_pool.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/compiled/run_program.h"
#include "testing/random_program.h"
#include "tests/backends/gpu_fuzz.h"
#include "tests/support/exact_results.h"
#include "tests/support/forked_chunks.h"
#include "tests/support/random_steps.h"
#include "validator/validate.h"

// Runs a parallel loop of compiled code on two threads, so that iterations 2n and 2n + 1 begin at the same time.
// Replaces Kiln's thread pool, which would run short loops on the calling thread alone.
void kiln_parallel_for(int /*threads*/, int64_t total, int64_t /*chunk*/,
                       void (*body)(int64_t, int64_t, void**), void** args) {
  std::atomic<int64_t> begun{0};
  const auto run = [&](int64_t first) {
    for (int64_t i = first; i < total; i += 2) {
      const int64_t both = i / 2 * 2 + 2;
      ++begun;
      for (int spin = 0; begun < both && both <= total; ++spin) {
        if (spin > 1000) std::this_thread::yield();
      }
      body(i, i + 1, args);
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

namespace kiln {
namespace {

constexpr size_t kParameters = 12;  // programs with more parameters are not called
constexpr double kMinShare = 0.08;  // share of the seeds whose program must run

constexpr const char* kClasses[] = {"vectorized", "unrolled", "parallel", "pipelined",
                                    "prepared",   "left-out", "shared"};

void Classify(const Program& p, SeedResult& ran) {
  constexpr LoopKind kKinds[] = {LoopKind::kVectorized, LoopKind::kUnrolled, LoopKind::kParallel,
                                 LoopKind::kPipelined};
  for (const Id loop : LoopsBelow(p, kRoot)) {
    for (size_t k = 0; k < std::size(kKinds); ++k) ran.of_class[k] |= p.loop(loop).kind == kKinds[k];
    ran.of_class[std::size(kKinds)] |= p.nodes[loop].prepare;
  }
  for (const Id block : Blocks(p)) {
    const std::vector<Id> body = BodyExprs(p, block);
    ran.of_class[std::size(kKinds) + 1] |=
        p.block(block).monoid != kNone && AnnotationOf(p, p.block(block).annotations, kAssumeFinite) != 0 &&
        absl::c_any_of(body, [&](Id e) { return p.exprs[e].op == Op::kWithin; });
  }
}

// Returns options of lowering for this machine with each policy switched with probability 0.1. For half of the seeds,
// buffers from 64 bytes on are prefetched.
LowerOptions DrawLowering(uint64_t seed) {
  LowerOptions lowering = LoweringFor(Host());
  if (seed % 2 == 0) lowering.stream_bytes = 64;
  RandomDice dice(Engine({seed, 91}));
  for (const PolicyRow& row : PolicyRows())
    if (dice.Flip(0.1)) lowering.policies.Switch(row.policy);
  return lowering;
}

SeedResult RunSeed(uint64_t seed) {
  RandomDice dice(Engine({seed, 78}));
  State state;
  state.program = RandomProgram(dice, {.types = true});
  const Program& p = state.program;
  const std::vector<std::string> inputs = RandomInputs(p, dice);
  const auto defined = Run(p, inputs, {.only_defined = true});
  if (!defined.ok()) return {};
  const std::vector<std::string>& wanted = *defined;
  std::string steps;
  for (int tries = 0; tries < 30; ++tries) {
    RefreshHandles(state);
    const Step step = RandomStep(state, {}, false, dice);
    if (absl::string_view(step.primitive->name) == "bind") continue;  // binds to axes that a CPU lacks
    if (Run(state, Target(), step, 0, nullptr, nullptr, nullptr).ok())
      absl::StrAppend(&steps, ToString(step), "\n");
  }
  if (dice.Flip(0.5)) {  // all data are finite, so the assumption is true
    for (const Id block : Blocks(p))
      SetAnnotation(state.program, state.program.block(block).annotations, kAssumeFinite, 1);
  }
  if (!Validate(p, Target()).ok) return {};
  LowerOptions lowering = DrawLowering(seed);
  const auto told = [&](absl::string_view what) {
    return SeedResult{true, absl::StrCat(what, ", without \"", lowering.policies.WithoutText(), "\"\n", steps,
                                         ToString(p))};
  };
  std::vector<size_t> prepared;
  std::ostringstream passes;
  lowering.print_after_all = &passes;
  const auto loaded = BuildProgram(p, lowering, &prepared);
  if (absl::IsFailedPrecondition(loaded.status())) return {};  // the program uses storages of a GPU
  if (!loaded.ok()) return told(loaded.status().ToString());
  if (p.parameters.size() + prepared.size() > kParameters) return {};
  std::vector<Array<char>> buffers;
  std::vector<void*> arguments;
  const std::set<Id> either_zero = EitherZero(p);
  size_t input = 0, output = 0;
  for (const Id parameter : p.parameters) {
    buffers.emplace_back(BytesOf(p, parameter));
    if (p.buffers[parameter].role == Role::kOutput) continue;
    std::memcpy(buffers.back().data(), inputs[input].data(), inputs[input].size());
    ++input;
  }
  for (Array<char>& buffer : buffers) arguments.push_back(buffer.data());
  if (CallProgram(*loaded, p, arguments, prepared) != 0)
    return told("the kernel returned a status that is not zero");
  for (size_t i = 0; i < p.parameters.size(); ++i) {
    if (p.buffers[p.parameters[i]].role != Role::kOutput) continue;
    const DType type = p.buffers[p.parameters[i]].dtype;
    const std::string difference =
        Difference(type, buffers[i].data(), wanted[output++], either_zero.count(p.parameters[i]) != 0);
    if (!difference.empty()) return told(absl::StrCat("parameter ", i, ": ", difference));
  }
  SeedResult ran{true};
  Classify(p, ran);
  ran.of_class[std::size(kClasses) - 1] = absl::StrContains(passes.str(), ", in the memory of ");
  return ran;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  const bool gpu = argc > 1 && absl::string_view(argv[1]) == "--gpu";
  if (gpu) return kiln::RunForkedChunks(argc - 1, argv + 1, kiln::GpuFuzz());
  return kiln::RunForkedChunks(argc, argv,
                               {.program = "kiln_lower_fuzz",
                                .about = "Compiled random programs beside the interpreter",
                                .things = "programs",
                                .run = "compiled programs",
                                .classes = {std::begin(kiln::kClasses), std::end(kiln::kClasses)},
                                .least_share = kiln::kMinShare,
                                .run_seed = kiln::RunSeed});
}
