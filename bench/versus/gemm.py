#!/usr/bin/env python3
"""Kiln's matrix products beside MKL's and OpenBLAS's, on one core, in one process, in turns.

  bench/versus/gemm.py [--trials 1000] [--seed 0] [--results bench/results/versus_gemm.json] [MxNxK...]

For each shape: `kiln tune` finds a kernel in the default space, with packing inside of it; then pairs of calls in
alternating order give ratios (peer's time / Kiln's time), in three runs of 50 pairs; the median of the three runs'
medians is reported with a 95% bootstrap interval. The peers are installed in a virtual environment below build/.
Results are in Google Benchmark's format and written after each shape; a shape of the same commit, trials and seed
that is there already is not run again.
"""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "versus"
SHAPES = ["128x128x128", "1024x1024x1024", "512x768x3072", "128x3072x768", "2048x2048x2048", "197x769x1023", "1x4096x4096"]
RUNS, PAIRS, SHORTEST = 3, 50, 2e-4


def enter_environment():
    """Runs this script again in an environment that has the peers, on one thread."""
    venv = WORK / "venv"
    if os.environ.get("KILN_VERSUS") == str(venv):
        return
    if not (venv / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", "mkl", "numpy"], check=True)
        (venv / "ready").touch()
    threads = {name: "1" for name in ("MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    environment = {**os.environ, **threads, "KILN_VERSUS": str(venv), "LD_LIBRARY_PATH": str(venv / "lib")}
    os.execve(venv / "bin/python", [venv / "bin/python", *sys.argv], environment)


def peers():
    """Name -> cblas_sgemm."""
    mkl = next((WORK / "venv/lib").glob("libmkl_rt.so*"))
    openblas = next(WORK.glob("venv/lib/python*/site-packages/numpy.libs/libscipy_openblas64_*"))
    return {"mkl": ctypes.CDLL(str(mkl), ctypes.RTLD_GLOBAL).cblas_sgemm,
            "openblas": ctypes.CDLL(str(openblas)).scipy_cblas_sgemm64_}


def tuned(shape, options):
    """The kernel that `kiln tune` finds."""
    m, n, k = shape
    name = f"gemm_{m}x{n}x{k}"
    source = WORK / f"{name}.mlir"
    a, b, c = (f"tensor<{x}x{y}xf32>" for x, y in ((m, k), (k, n), (m, n)))
    source.write_text(f"""func.func @{name}(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {c}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
  %c = linalg.matmul ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}
  return %c : {c}
}}
""")
    out = WORK / f"out-{options.seed}"
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    subprocess.run([ROOT / "scripts/kiln", "tune", source, "--trials", str(options.trials), "--seed", str(options.seed),
                    "--db", WORK / "kiln.db", "-o", out], check=True, env=environment, stdout=subprocess.DEVNULL)
    return getattr(ctypes.CDLL(str(out / f"lib{name}.so")), name)


def timed(call, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def interval(runs):
    """95% of the median of the runs' medians, by resampling pairs."""
    draws = sorted(statistics.median(statistics.median(random.choices(run, k=len(run))) for run in runs)
                   for _ in range(1000))
    return draws[25], draws[974]


def compare(shape, options):
    import numpy as np
    m, n, k = shape
    generator = np.random.default_rng(1)

    def aligned(rows, columns):  # to cache lines, as allocators of tensors do
        memory = np.zeros(rows * columns + 16, np.float32)
        start = -memory.ctypes.data % 64 // 4
        return memory[start:start + rows * columns].reshape(rows, columns)

    a, b, found, wanted = aligned(m, k), aligned(k, n), aligned(m, n), aligned(m, n)
    for array in (a, b):
        array[:] = generator.uniform(-1, 1, array.shape)
    kernel = tuned(shape, options)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    pointer_a, pointer_b, pointer_found, pointer_wanted = (
        array.ctypes.data_as(ctypes.c_void_p) for array in (a, b, found, wanted))
    ours = lambda: kernel(pointer_a, pointer_b, pointer_found)
    results = []
    for peer, sgemm in peers().items():
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        sizes = [ctypes.c_int64(x) for x in (m, n, k)]  # of which MKL reads the lower halves
        arguments = [ctypes.c_int(101), ctypes.c_int(111), ctypes.c_int(111), *sizes, one, pointer_a, sizes[2], pointer_b,
                     sizes[1], zero, pointer_wanted, sizes[1]]
        theirs = lambda: sgemm(*arguments)
        ours(), theirs()
        if not np.allclose(found, wanted, rtol=1e-4, atol=1e-4 * k):
            sys.exit(f"{shape}: Kiln and {peer} differ")
        repeats = max(1, int(SHORTEST / timed(theirs, 5)))
        runs, kiln_times = [], []
        for _ in range(RUNS):
            ratios = []
            for pair in range(PAIRS):
                first, second = (ours, theirs) if pair % 2 else (theirs, ours)
                times = timed(first, repeats), timed(second, repeats)
                mine, other = times if pair % 2 else times[::-1]
                ratios.append(other / mine)
                kiln_times.append(mine)
            runs.append(ratios)
        low, high = interval(runs)
        seconds = statistics.median(kiln_times)
        results.append({"name": f"gemm/{m}x{n}x{k}/{peer}", "run_name": f"trials:{options.trials}/seed:{options.seed}",
                        "iterations": RUNS * PAIRS, "real_time": seconds * 1e6, "cpu_time": seconds * 1e6,
                        "time_unit": "us", "gflops": 2e-9 * m * n * k / seconds,
                        "ratio": statistics.median(statistics.median(run) for run in runs),
                        "ratio_low": low, "ratio_high": high})
        print("{name:32} {gflops:6.1f} GFLOP/s  ratio {ratio:.3f} [{ratio_low:.3f}, {ratio_high:.3f}]".format(**results[-1]),
              flush=True)
    os.sched_setaffinity(0, cores)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", default=SHAPES, metavar="MxNxK")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results/versus_gemm.json")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    enter_environment()
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    model = next(line for line in open("/proc/cpuinfo") if line.startswith("model name")).split(":")[1].strip()
    report = json.loads(options.results.read_text()) if options.results.exists() else {"context": {}, "benchmarks": []}
    for text in options.shapes:
        shape = [int(x) for x in text.split("x")]
        same = [b for b in report["benchmarks"] if b["name"].startswith(f"gemm/{text}/") and b["commit"] == commit and
                b["run_name"] == f"trials:{options.trials}/seed:{options.seed}"]
        if same:
            continue
        found = compare(shape, options)
        for benchmark in found:
            benchmark["commit"] = commit
        report["context"] = {"date": datetime.datetime.now().isoformat(timespec="seconds"), "cpu": model,
                             "load_avg": list(os.getloadavg())}
        report["benchmarks"] += found
        options.results.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
