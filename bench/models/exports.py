#!/usr/bin/env python3
"""Times two exports of one model by different frameworks, or one export with other policies, in turns, in one process on one core.

    bench/models/exports.py torch_resnet50.mlir onnx_resnet50.mlir --results bench/results/exporters.jsonl
    bench/models/exports.py net.mlir net.mlir --without-second +channels-last --results bench/results/layouts.jsonl

`kiln build` makes a library of each: with records of --db where there are any, and default schedules elsewhere. Both run
with one thread and drawn data. A round is one run of each, in an order that changes. Each pair is a line of JSON in
--results: the medians in milliseconds, and the median of the second one's time over the first one's in a round, with its
95% interval, of wall time and of CPU time. Needs numpy. bench/models/workloads.py counts the tasks that both have.
"""
import argparse
import os
import pathlib
import statistics
import tempfile
import time

from compare import ROOT, built, median_interval, record, where
from peers.kiln import KilnModel


def timed(run):
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def model_of(options, file, folder, name):
    changed = {"without": options.without_second} if name == "second" and options.without_second else {}
    built(argparse.Namespace(**vars(options) | changed), file, folder, name)
    return KilnModel(f"{folder}/{name}.so")


def compare(options, files):
    with tempfile.TemporaryDirectory() as folder:
        models = [model_of(options, file, folder, name) for file, name in zip(files, ("first", "second"))]
        for model in models * 2:
            model.run()
        rounds, until = [], time.time() + options.seconds
        while len(rounds) < 5 or time.time() < until:
            turn = len(rounds) % 2
            times = [timed(models[turn].run), timed(models[1 - turn].run)]
            rounds.append((times[turn], times[1 - turn]))
    first, second = (statistics.median(wall for wall, _ in column) * 1e3 for column in zip(*rounds))
    ratio, cpu_ratio = (median_interval([b[k] / a[k] for a, b in rounds]) for k in (0, 1))
    return {"models": [pathlib.Path(file).stem for file in files], "threads": 1, "rounds": len(rounds), "ms": [first, second],
            "ratio": ratio, "cpu_ratio": cpu_ratio} | ({"without_second": options.without_second} if options.without_second else {})


def summary(line):
    return "{} {:.2f} ms, {} {:.2f} ms, ratio {:.3f} [{:.3f}, {:.3f}]".format(
        line["models"][0], line["ms"][0], line["models"][1], line["ms"][1], *line["ratio"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="pairs of files")
    parser.add_argument("--inputs", default="1", help="as in `kiln build`")
    parser.add_argument("--without", help="policies, as in `kiln build`")
    parser.add_argument("--without-second", metavar="POLICIES", help="for the second file of a pair")
    parser.add_argument("--kiln", default=str(ROOT / "build/release/kiln"))
    parser.add_argument("--db", help="records; without it all schedules are default ones")
    parser.add_argument("--seconds", type=float, default=10, help="for the rounds of a pair")
    parser.add_argument("--results", help="a file to append to")
    options = parser.parse_args()
    if len(options.files) % 2:
        parser.error("give pairs of files")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for pair in zip(options.files[::2], options.files[1::2]):
        line = compare(options, pair) | where()
        print(summary(line), flush=True)
        record(options, line)


if __name__ == "__main__":
    main()
