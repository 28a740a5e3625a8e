"""Kiln: what `kiln tune` finds in the default space."""
import ctypes
import os
import subprocess
import time

from peers import arrays

PACKAGES = ["numpy"]
ROOT = arrays.HERE.parents[2]


def covers(operator):
    return True


def tune(operator, trials, seed, folder):
    """Seconds that it took; the shared library is in `folder`."""
    start = time.perf_counter()
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    subprocess.run([ROOT / "scripts/kiln", "tune", operator.file, "--trials", str(trials), "--seed", str(seed), "--db", folder / "kiln.db",
                    "-o", folder], check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def make(operator, folder):
    kernel = getattr(ctypes.CDLL(str(folder / f"lib{operator.name}.so")), operator.name)
    given, out = arrays.inputs(operator), arrays.empty_result(operator)
    pointers = [arrays.pointer(array) for array in (*given, out)]

    def call(times, keep=given):
        for _ in range(times):
            kernel(*pointers)

    return call, lambda: out
