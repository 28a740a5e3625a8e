#!/usr/bin/env python3
"""Races two kernels that `kiln tune -o DIR` or `kiln export` wrote for one program.

  bench/race.py ONE.h OTHER.h [--pairs 50]

Both are called in turns, in one process and on one core, on the same data, and their results are compared. It prints
the time of each and how many times as long ONE takes as OTHER: the median of the ratios of pairs, with a 95% bootstrap
interval. Times are CPU times of the calling thread, which programs that share the core disturb less. It knows float
arrays only.
"""
import argparse
import ctypes
import math
import os
import pathlib
import random
import re
import statistics
import sys
import time

SHORTEST = 2e-3  # seconds of a sample
ARRAY = re.compile(r"^ \*   (\w+) +(input|constant|output|prepared) (f32|f64|u8|i8)\[([\d, ]*)\]")
TYPES = {"f32": ctypes.c_float, "f64": ctypes.c_double, "u8": ctypes.c_uint8, "i8": ctypes.c_int8}


class Kernel:
    def __init__(self, header, given):
        library = ctypes.CDLL(str(header.with_name(f"lib{header.stem}.so").resolve()))
        self.run = getattr(library, header.stem)
        arrays = [match.groups() for match in map(ARRAY.match, header.read_text().splitlines()) if match]
        self.arrays, self.result = [], None
        for name, role, dtype, shape in arrays:
            size = math.prod(map(int, shape.split(",")))
            values = (TYPES[dtype] * size)()
            if role in ("input", "constant"):
                values = given.setdefault(name, values)
                if not any(values[:8]):
                    values[:] = [random.uniform(-1, 1) for _ in range(size)]
            elif role == "output":
                self.result = values
            self.arrays.append(values)
        if any(role == "prepared" for _, role, _, _ in arrays):
            getattr(library, f"{header.stem}_prepare")(*self.arrays)

    def seconds(self, repeats):
        begin = time.thread_time()
        for _ in range(repeats):
            self.run(*self.arrays)
        return (time.thread_time() - begin) / repeats


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs=2, type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=50)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    random.seed(0)
    given = {}
    one, other = (Kernel(header, given) for header in options.headers)
    repeats = [max(1, round(SHORTEST / kernel.seconds(1))) for kernel in (one, other)]
    far = max(abs(a - b) for a, b in zip(one.result, other.result))
    if far > 1e-3 * max(map(abs, other.result)):
        sys.exit(f"the results differ by {far}")
    times = []
    for pair in range(options.pairs):
        if pair % 2:
            times.append((one.seconds(repeats[0]), other.seconds(repeats[1])))
        else:
            times.append((other.seconds(repeats[1]), one.seconds(repeats[0]))[::-1])
    ratios = [a / b for a, b in times]
    draws = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(1000))
    for header, seconds in zip(options.headers, zip(*times)):
        print(f"{header}: {statistics.median(seconds) * 1e6:.1f} us")
    print(f"ratio {statistics.median(ratios):.3f} [{draws[25]:.3f}, {draws[974]:.3f}]")


if __name__ == "__main__":
    main()
