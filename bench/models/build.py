#!/usr/bin/env python3
"""Builds models with `kiln build` and compares the CPU time with a budget: 5 s, and 20 ms for each distinct task.

Without files it builds all of tests/inputs: models, operators, and those that only whole models can hold. Each file is a
line of JSON in --results: CPU and wall seconds (the builders' included), tasks, foreign calls, calls, and bytes of the
arena and the weights; or the refusal. The exit code is 1 if a file is over its budget or is refused.

  bench/models/build.py --results bench/results/build.jsonl
  bench/models/build.py resnet50.mlir --inputs 1
"""
import argparse
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def build(kiln, file, inputs):
    with tempfile.TemporaryDirectory() as folder:
        command = [kiln, "build", str(file), "-o", folder, "--name", "model", "--db", folder + "/none.db", "--json"]
        if inputs:
            command += ["--inputs", inputs]
        cpu, wall = cpu_seconds(), time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True)
        row = {"file": file.name, "cpu_s": round(cpu_seconds() - cpu, 3), "wall_s": round(time.monotonic() - wall, 3)}
    if done.returncode != 0:
        return row | {"refused": done.stderr.strip()}
    report = json.loads(done.stdout)
    foreign = sum(1 for task in report["tasks"] if task["schedule"] == "foreign")
    tasks = len(report["tasks"]) - foreign
    row |= {"tasks": tasks, "foreign": foreign, "calls": report["calls"], "arena_bytes": report["arena_bytes"],
            "alive_bytes": report["alive_bytes"], "weights_bytes": report["weights_bytes"]}
    row["budget_s"] = round(5 + 0.02 * len(report["tasks"]), 2)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--kiln", default=str(ROOT / "build/release/kiln"))
    parser.add_argument("--inputs", help="as for kiln build, for all files")
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    folders = [ROOT / "tests/inputs" / name for name in ("models", "ops", "unsupported")]
    files = options.files or [file for folder in folders for file in sorted(folder.glob("*.mlir"))]
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    over = 0
    for file in files:
        row = build(options.kiln, file, options.inputs)
        row |= {"commit": commit.stdout.strip(), "cores": os.cpu_count(), "machine": platform.machine()}
        wrong = "refused" in row or row["cpu_s"] > row["budget_s"]
        over += wrong
        print(f"{row['cpu_s']:7.2f} s CPU {row['wall_s']:7.2f} s {'OVER' if wrong else '    '} {file.name} "
              f"{row.get('refused', '')}", flush=True)
        if options.results:
            with options.results.open("a") as results:
                results.write(json.dumps(row) + "\n")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
