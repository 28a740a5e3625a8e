"""Kiln: what `kiln tune` finds in the default space."""
import ctypes
import os
import re
import subprocess
import time

from peers import arrays, loops

PACKAGES = ["numpy"]
ROOT = arrays.HERE.parents[2]


def covers(operator):
    return True


def tune(operator, trials, seed, folder, space="cpu"):
    """Seconds that it took; the shared library is in `folder`."""
    start = time.perf_counter()
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    subprocess.run([ROOT / "scripts/kiln", "tune", operator.file, "--trials", str(trials), "--seed", str(seed), "--db", folder / "kiln.db",
                    "-o", folder, "--space", space], check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def make(operator, folder):
    library = ctypes.CDLL(str(folder / f"lib{operator.name}.so"))
    kernel = getattr(library, operator.name)
    given, out = arrays.inputs(operator), arrays.empty_result(operator)
    header = (folder / f"{operator.name}.h").read_text()
    prepared = [arrays.aligned((int(size),), dtype) for dtype, size in re.findall(r"prepared_\d+ +prepared (\w+)\[(\d+)\]", header)]
    pointers = [arrays.pointer(array) for array in (*given, out, *prepared)]
    if prepared:
        getattr(library, f"{operator.name}_prepare")(*pointers)

    return loops.repeated(kernel, pointers, keep=(given, prepared)), lambda: out
