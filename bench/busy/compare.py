#!/usr/bin/env python3
"""What a search finds beside endless loops, compared with what it finds alone.

Each operator is tuned with each seed alone and beside --loops endless loops, each in a database of its own. Then the
two winners are timed in turns, alone. A pair's ratio is the time of the winner found alone over that of the other: 1
is as good, less is worse. Each pair is a line of JSON in --results as soon as it is known, and the same command typed
again goes on after it. The end is a summary: it fails if the geometric mean is under 0.95, or if a result was told
fast without a word ("noisy") whose time in turns is 1.3 times as long.

  bench/busy/compare.py --results build/busy.jsonl
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATORS = ["torch_matmul_128x3072x768", "torch_conv2d_nchw_3x3_bias", "torch_conv2d_depthwise", "torch_softmax",
             "torch_layernorm", "torch_dense_bias_gelu"]
LEAST_MEAN, MOST_SLOWER = 0.95, 1.3
# A program that keeps a core busy until its parent process ends, even if the parent is killed.
LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n  for i in range(1000000): pass\n"


@contextmanager
def endless_loops(count):
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def kiln(options, *arguments):
    command = [options.kiln, *map(str, arguments), "--json"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with status {ran.returncode}:\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout)


def path_of(operator):
    path = pathlib.Path(operator)
    return path if path.suffix == ".mlir" else ROOT / "tests/inputs/ops" / f"{operator}.mlir"


def tuned(options, operator, seed, database):
    result = kiln(options, "tune", path_of(operator), "--trials", options.trials, "--seed", seed, "--db", database,
                  "--quiet")
    if len(result["tasks"]) != 1:
        sys.exit(f"{operator} has {len(result['tasks'])} tasks; give files of one")
    return result["tasks"][0]


def measure_pair(options, operator, seed):
    with tempfile.TemporaryDirectory() as folder:
        databases = {"quiet": f"{folder}/quiet.db", "busy": f"{folder}/busy.db"}
        told = {"quiet": tuned(options, operator, seed, databases["quiet"])}
        with endless_loops(options.loops):
            told["busy"] = tuned(options, operator, seed, databases["busy"])
        seconds = {"quiet": [], "busy": []}
        for turn in range(options.turns):
            for name in sorted(seconds, reverse=turn % 2 == 0):
                replayed = kiln(options, "replay", told[name]["record"], "--db", databases[name])
                seconds[name].append(replayed["seconds"])
    pair = {"operator": operator, "seed": seed, "trials": options.trials, "loops": options.loops,
            "ratio": statistics.median(q / b for q, b in zip(seconds["quiet"], seconds["busy"]))}
    for name in told:
        pair[name] = {"told": told[name]["seconds"], "noisy": told[name]["noisy"], "noise": told[name].get("noise", ""),
                      "in_turns": seconds[name]}
    return pair


def is_silently_slower(result):
    return not result["noisy"] and statistics.median(result["in_turns"]) > MOST_SLOWER * result["told"]


def summary(pairs):
    mean = math.exp(statistics.mean(math.log(pair["ratio"]) for pair in pairs))
    silent = [f"{pair['operator']} seed {pair['seed']} ({name})" for pair in pairs for name in ("quiet", "busy")
              if is_silently_slower(pair[name])]
    flagged = sum(pair["busy"]["noisy"] for pair in pairs)
    print(f"{len(pairs)} pairs: geometric mean {mean:.3f} (at least {LEAST_MEAN}), least "
          f"{min(pair['ratio'] for pair in pairs):.3f}; {flagged} of the busy ones are noisy, "
          f"{sum(pair['quiet']['noisy'] for pair in pairs)} of the quiet ones")
    print("told fast without a word: " + (", ".join(silent) or "none"))
    return mean >= LEAST_MEAN and not silent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", default=OPERATORS, help="names in tests/inputs/ops, or files")
    parser.add_argument("--results", required=True, help="a file of JSON lines, to which pairs are added")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=128)
    parser.add_argument("--loops", type=int, default=os.cpu_count() + 1, help="endless loops beside busy searches")
    parser.add_argument("--turns", type=int, default=3, help="of the two winners")
    parser.add_argument("--kiln", default=str(ROOT / "build/release/kiln"))
    options = parser.parse_args()
    results = pathlib.Path(options.results)
    results.parent.mkdir(parents=True, exist_ok=True)
    lines = results.read_text().splitlines() if results.exists() else []
    key = lambda pair: (pair["operator"], pair["seed"], pair["trials"], pair["loops"])
    pairs = {key(pair): pair for pair in map(json.loads, filter(None, lines))}
    wanted = [(operator, seed, options.trials, options.loops) for operator in options.operators
              for seed in range(1, options.seeds + 1)]
    with results.open("a") as file:
        for want in wanted:
            if want not in pairs:
                pairs[want] = measure_pair(options, *want[:2])
                file.write(json.dumps(pairs[want]) + "\n")
                file.flush()
                os.fsync(file.fileno())
            pair = pairs[want]
            print(f"{pair['operator']} seed {pair['seed']}: {pair['ratio']:.3f}", flush=True)
    return 0 if summary([pairs[want] for want in wanted]) else 1


if __name__ == "__main__":
    sys.exit(main())
