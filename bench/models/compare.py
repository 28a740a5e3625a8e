#!/usr/bin/env python3
"""Times whole models beside another framework, in turns, in one process on one core.

Each pair is a model as linalg on tensors or TOSA, and the same network for the framework (peers.py). `kiln build` makes its library: with records of
--db where there are any, and default schedules elsewhere. Both sides run with one thread and drawn data. A round is
one run of each. Each pair is a line of JSON in --results: the medians in milliseconds by the clock and by CPU time,
and the median of the framework's time over Kiln's in a round, with its 95% interval. With --check both sides must get the
same data, and results are compared: the error is the greatest difference over the greatest element of a result, and
must not exceed --tolerance.

  bench/models/compare.py tests/inputs/models/onnx_resnet50.mlir resnet50.onnx --results bench/results/models.jsonl
"""
import argparse
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

from peers import NUMPY, drawn, peer_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
def aligned(size):
    memory = numpy.zeros(size + 64, numpy.uint8)
    offset = -memory.ctypes.data % 64
    return memory[offset:offset + size]


class KilnModel:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        stem = pathlib.Path(path).stem
        said = ctypes.c_char.in_dll(self.library, stem + "_metadata")
        metadata = json.loads(ctypes.string_at(ctypes.addressof(said)))
        generator = numpy.random.default_rng(0)
        self.arrays, self.given, self.results = [], [], []
        for p in metadata["parameters"]:
            value = drawn(p["shape"], p["dtype"], generator, p["role"] == "constant")
            memory = aligned(value.nbytes)
            memory[:] = numpy.frombuffer(value.tobytes(), numpy.uint8)
            self.arrays.append(memory)
            if p["role"] == "output":
                self.results.append(memory.view(NUMPY[p["dtype"]]).reshape(p["shape"]))
            else:
                self.given.append((p["role"], value))
        self.arrays += [aligned(max(1, metadata["weights_bytes"])), aligned(max(1, metadata["arena_bytes"]))]
        self.table = (ctypes.c_void_p * len(self.arrays))(*[a.ctypes.data for a in self.arrays])
        prepared = pathlib.Path(path).with_suffix(".weights")
        if prepared.exists():  # of the constants that the model's file holds
            self.arrays[-2][:] = numpy.fromfile(prepared, numpy.uint8)[-metadata["weights_bytes"]:]
        elif self.library[stem + "_prepare_by_table"](self.table) != 0:
            sys.exit(f"{path}: the weights cannot be prepared")
        self.function = self.library[stem + "_by_table"]

    def run(self):
        self.function(self.table)


def error_of(found, wanted):
    """The greatest difference of any result over its greatest element."""
    errors = [numpy.abs(one.astype("f8") - other.astype("f8")).max() / max(numpy.abs(other).max(), 1e-300)
              for one, other in zip(found, wanted, strict=True)]
    return float(max(errors))


def timed(run):
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def median_interval(values):
    """The median, and the order statistics that hold it in 95 of 100 cases."""
    values = sorted(values)
    half = 0.98 * len(values) ** 0.5
    at = [len(values) // 2, int(len(values) / 2 - half), int(len(values) / 2 + half)]
    return [values[min(max(k, 0), len(values) - 1)] for k in at]


def compare(options, mlir, twin, folder):
    name = pathlib.Path(mlir).stem
    command = [options.kiln, "build", mlir, "--name", "model", "-o", folder, "--json"]
    if options.inputs:
        command += ["--inputs", options.inputs]
    built = subprocess.run(command + ["--db", options.db or f"{folder}/none.db"], capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(built.stderr)
    report = json.loads(built.stdout)
    kiln = KilnModel(f"{folder}/model.so")
    peer = peer_of(twin, kiln.given, int(options.inputs or len(kiln.given)))
    for side in (kiln, peer) * 2:
        side.run()
    error = error_of(kiln.results, peer.results) if peer.same else None
    if options.check and (error is None or not error <= options.tolerance):
        sys.exit(f"{name}: " + ("both sides have other arguments" if error is None else
                                f"the error is {error:.1e}, above {options.tolerance:.1e}"))
    rounds, until = [], time.time() + options.seconds
    while len(rounds) < 5 or time.time() < until:
        rounds.append(timed(kiln.run) + timed(peer.run))
    wall, cpu, peer_wall, peer_cpu = (statistics.median(column) * 1e3 for column in zip(*rounds))
    tuned = sum(task["record"] > 0 for task in report["tasks"])
    return {"model": name, "peer": peer.name, "threads": 1, "rounds": len(rounds),
            "kiln_ms": wall, "kiln_cpu_ms": cpu, "peer_ms": peer_wall, "peer_cpu_ms": peer_cpu,
            "ratio": median_interval([r[2] / r[0] for r in rounds]), "build_seconds": report["seconds"],
            "arena_bytes": report["arena_bytes"], "weights_bytes": report["weights_bytes"],
            "tasks": len(report["tasks"]), "tuned": tuned, **({} if error is None else {"error": error})}


def over_pairs(parser, compare_pair, tell):
    """Adds the options that comparisons of pairs of files have, and compares each pair on one core. `compare_pair(options,
    first, second)` returns a line, which `tell` prints, and which is appended to the results with machine and commit."""
    parser.add_argument("--kiln", default=str(ROOT / "build/release/kiln"))
    parser.add_argument("--db", help="records; without it all schedules are default ones")
    parser.add_argument("--seconds", type=float, default=10, help="for the rounds of a pair")
    parser.add_argument("--results", help="a file to append to")
    options = parser.parse_args()
    if len(options.files) % 2:
        parser.error("give pairs of files")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "")
    for first, second in zip(options.files[::2], options.files[1::2]):
        line = {**compare_pair(options, first, second), "cpu": cpu, "commit": commit}
        print(tell(line), flush=True)
        if options.results:
            with open(options.results, "a") as file:
                file.write(json.dumps(line) + "\n")


def in_folder(options, mlir, twin):
    with tempfile.TemporaryDirectory() as folder:
        return compare(options, mlir, twin, folder)


def summary(line):
    error = f" error {line['error']:.1e}" if "error" in line else ""
    return (f"{line['model']}: Kiln {line['kiln_ms']:.2f} ms, {line['peer']} {line['peer_ms']:.2f} ms, ratio "
            "{:.3f} [{:.3f}, {:.3f}]".format(*line["ratio"]) + error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="MODEL.mlir MODEL.onnx (or .tflite, .pt2, StableHLO as .mlir), in pairs")
    parser.add_argument("--inputs", default="1", help="as in `kiln build`, a number; '': as the file says")
    parser.add_argument("--check", action="store_true", help="compare the results")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    over_pairs(parser, in_folder, summary)


if __name__ == "__main__":
    main()
