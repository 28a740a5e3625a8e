"""The multiply-adds of the operator and nothing else: whole vectors that never leave registers, in enough chains to hide the
latency. The ratio is the share of the core's peak that Kiln reaches, in the same minutes."""
import ctypes

from peers import loops

PACKAGES, ENVIRONMENT = ["numpy"], "kiln"
SOURCE = """
#ifdef __AVX512F__
typedef float vector __attribute__((vector_size(64)));
#else
typedef float vector __attribute__((vector_size(32)));
#endif
enum { kChains = 12 };
vector start[kChains], end[kChains];
void multiply_add(double flops) {
  const long rounds = flops / (2 * kChains * (sizeof(vector) / sizeof(float)));
  vector chains[kChains], by = start[0] + 0.5f, more = start[1] + 1.0f;
  for (int i = 0; i < kChains; ++i) chains[i] = start[i];
  for (long round = 0; round < rounds; ++round) {
    for (int i = 0; i < kChains; ++i) chains[i] = chains[i] * by + more;
    asm volatile("");
  }
  for (int i = 0; i < kChains; ++i) end[i] = chains[i];
}
"""


def covers(operator):
    return operator.kind in ("conv", "transposed", "matmul", "capsule") and not operator.narrow


def make(operator, folder):
    import numpy as np
    multiply_add = loops.compiled(SOURCE, "-mprefer-vector-width=512", "-ffp-contract=fast").multiply_add
    return loops.repeated(multiply_add, [ctypes.c_double(operator.flops)]), lambda: np.empty(0)
