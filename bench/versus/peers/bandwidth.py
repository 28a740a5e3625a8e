"""What reading the inputs once takes at least, for operators that do little else: sums in four streams, fetched ahead, which
is the fastest of the ways that were tried (a dot product of numpy's BLAS takes 1.2 times as long). The ratio is the share
of the core's memory bandwidth that Kiln reaches."""
import ctypes
import subprocess
import tempfile

from peers import arrays

PACKAGES, ENVIRONMENT = ["numpy"], "kiln"
SOURCE = """
float read_once(const float* p, long n) {
  float sums[4][16] = {{0}};
  for (long i = 0; i < n / 4; i += 16)
    for (int s = 0; s < 4; ++s) {
      const float* at = p + s * (n / 4) + i;
      __builtin_prefetch(at + 256);
      for (int j = 0; j < 16; ++j) sums[s][j] += at[j];
    }
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += sums[i / 16][i % 16];
  return sum;
}
"""


def covers(operator):
    return operator.kind == "matmul" and operator.shape["m"] == 1


def make(operator, folder):
    a, b = arrays.inputs(operator)
    with tempfile.TemporaryDirectory() as made:
        subprocess.run(["cc", "-x", "c", "-", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-o", f"{made}/read.so"],
                       input=SOURCE, text=True, check=True)
        read_once = ctypes.CDLL(f"{made}/read.so").read_once
    read_once.restype = ctypes.c_float
    arguments = [(arrays.pointer(array), ctypes.c_long(array.size)) for array in (a, b)]

    def call(times):
        for _ in range(times):
            for each in arguments:
                read_once(*each)

    return call, lambda: a @ b
