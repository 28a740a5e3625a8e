#!/usr/bin/env python3
"""Times two exports of one model by different frameworks, in turns, in one process on one core.

    bench/models/exports.py torch_resnet50.mlir onnx_resnet50.mlir --results bench/results/exporters.jsonl

`kiln build` makes a library of each: with records of --db where there are any, and default schedules elsewhere. Both run
with one thread and drawn data. A round is one run of each, in an order that changes. Each pair is a line of JSON in
--results: the medians in milliseconds, and the median of the second one's time over the first one's in a round, with its
95% interval. Needs numpy. bench/models/workloads.py counts the tasks that both have.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from compare import KilnModel, median_interval, over_pairs, timed


def built(options, file, name, folder):
    command = [options.kiln, "build", file, "--inputs", options.inputs, "--name", name, "-o", folder,
               "--db", options.db or f"{folder}/none.db"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode != 0:
        sys.exit(said.stderr)
    return KilnModel(f"{folder}/{name}.so")


def compare(options, files):
    with tempfile.TemporaryDirectory() as folder:
        models = [built(options, file, name, folder) for file, name in zip(files, ("first", "second"))]
        for model in models * 2:
            model.run()
        rounds, until = [], time.time() + options.seconds
        while len(rounds) < 5 or time.time() < until:
            turn = len(rounds) % 2
            times = [timed(models[turn].run)[0], timed(models[1 - turn].run)[0]]
            rounds.append((times[turn], times[1 - turn]))
    first, second = (statistics.median(column) * 1e3 for column in zip(*rounds))
    return {"models": [pathlib.Path(file).stem for file in files], "threads": 1, "rounds": len(rounds),
            "ms": [first, second], "ratio": median_interval([b / a for a, b in rounds])}


def summary(line):
    return "{} {:.2f} ms, {} {:.2f} ms, ratio {:.3f} [{:.3f}, {:.3f}]".format(
        line["models"][0], line["ms"][0], line["models"][1], line["ms"][1], *line["ratio"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="pairs of files")
    parser.add_argument("--inputs", default="1", help="as in `kiln build`")
    over_pairs(parser, lambda options, *files: compare(options, files), summary)


if __name__ == "__main__":
    main()
