#!/usr/bin/env python3
"""Tunes whole models on one core for each of --budgets seconds in all, and compares them with the peers after each.

  bench/models/tuned.py exports/*.mlir --work build/models/tuned --results bench/results/tuned_models.jsonl

A step of a model goes on with the database of the step before, in --work, for the seconds that are left of its budget. Its lines
are those of compare.py, with `budget`, `tuned_seconds`, the wall seconds of all `kiln tune` for the model so far, and `raced_layouts`,
how the step chose the layout of the model, if it did. They are appended when the
step is over; the same command goes on after the last one, and a search that was stopped goes on too. The files of a
library are in --work, MODEL.BUDGET.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import compare


def tune(options, mlir, budget, step, spent):
    """(the library that `kiln tune` ends with, what it says of it, wall seconds of all steps), on the cores of the comparison."""
    folder = options.work / f"{mlir.stem}.{budget}"
    command = [options.kiln, "tune", mlir, "--time", budget - spent, "--trials", 100000000, "--seed", step, "--threads", options.threads,
               "--db", options.work / f"{mlir.stem}.db", "-o", folder, "--quiet", "--json"]
    command += compare.choices(options)
    start, spans = time.monotonic(), options.work / f"{mlir.stem}.seconds"
    try:
        with open(options.work / f"{mlir.stem}.log", "a") as log:
            done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=log, text=True,
                                  preexec_fn=lambda: os.sched_setaffinity(0, options.cores))
    finally:
        with open(spans, "a") as file:
            file.write(f"{time.monotonic() - start}\n")
    if done.returncode != 0:
        sys.exit(f"{mlir.stem}: kiln tune ended with {done.returncode}; see {log.name}")
    said = json.loads(done.stdout)
    report = said["whole"] | {"raced_layouts": said.get("raced_layouts")}
    return folder / f"{report['symbol']}.so", report, sum(map(float, spans.read_text().split()))


def steps(options, mlir, lines):
    """Tunes and compares for each budget of which the results have no line."""
    before = 0
    for step, budget in enumerate(options.budgets):
        wanted = (mlir.stem, budget, options.threads, options.without)
        mine = [line for line in lines if (line["model"], line.get("budget"), line["threads"], line.get("without")) == wanted]
        if not mine:
            print(f"{mlir.stem}: tuning for {budget - before} s", flush=True)
            library, report, seconds = tune(options, mlir, budget, step, before)
            for line in list(compare.compare(options, mlir, library, report)):
                line |= {"budget": budget, "tuned_seconds": seconds, "raced_layouts": report["raced_layouts"]} | compare.where()
                print(f"{budget} s:", compare.summary(line), flush=True)
                compare.record(options, line)
        before = budget


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL.mlir")
    parser.add_argument("--budgets", type=lambda text: [int(part) for part in text.split(",")], default=[120, 1200],
                        metavar="SECONDS,...", help="of tuning in all, in ascending order; by default 120,1200")
    parser.add_argument("--work", type=pathlib.Path, default=compare.ROOT / "build/models/tuned", help="databases and libraries")
    compare.add_options(parser)
    options = compare.parsed(parser)
    options.work.mkdir(parents=True, exist_ok=True)
    there = options.results and os.path.exists(options.results)
    lines = [json.loads(text) for text in open(options.results)] if there else []
    for mlir in options.models:
        steps(options, mlir, lines)


if __name__ == "__main__":
    main()
