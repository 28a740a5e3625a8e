// Compiles and runs two draws from each sketch of the default space for matrix products whose extents have few
// divisors, and expects exact results: the inputs are small integers.
#include "lang/text/text.h"
#include "modules/default_modules.h"
#include "testing/compiled/run_program.h"
#include "testing/matmul.h"
#include "trace/enumerate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

class CompiledSpace : public testing::TestWithParam<std::array<int64_t, 3>> {};

TEST_P(CompiledSpace, EverySketchComputesTheProduct) {
  const auto [m, n, k] = GetParam();
  const Program original = Matmul(m, n, k);
  auto a = Random<float>(m * k, 1), b = Random<float>(k * n, 2);
  Array<float> wanted(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) wanted[i * n + j] += a[i * k + l] * b[l * n + j];
  const auto sketches = Enumerate(CpuSpace, original, Target());
  ASSERT_TRUE(sketches.ok()) << sketches.status();
  for (const Sketch& sketch : sketches->sketches) {
    for (uint64_t seed = 0; seed < 2; ++seed) {
      RandomDice dice(Engine{seed});
      RandomChooser chooser(dice);
      const auto replayed = Replay(sketch.trace, original, Target(), chooser);
      ASSERT_TRUE(replayed.ok()) << replayed.status();
      const auto loaded = BuildProgram(replayed->program());
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      Array<float> found(m * n, -7);
      CallKernel(*loaded, "matmul", {a.data(), b.data(), found.data()});
      for (int64_t i = 0; i < m * n; ++i)
        ASSERT_EQ(found[i], wanted[i]) << i << ToString(replayed->program());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CompiledSpace,
                         testing::Values(std::array<int64_t, 3>{48, 64, 32},
                                         std::array<int64_t, 3>{37, 69, 23},
                                         std::array<int64_t, 3>{7, 109, 40},
                                         std::array<int64_t, 3>{32, 7, 24}));

}  // namespace
}  // namespace kiln
