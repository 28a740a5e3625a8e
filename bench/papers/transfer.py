#!/usr/bin/env python3
"""Transfer from C1 .. C6 to C7, C8 and C9 (AutoTVM, Fig. 8): a plot of what bench/papers/transfer_bench.cc measures.

  bench/papers/transfer.py [--cpu] [OPTION OF transfer_bench...]

Runs build/release/bench/transfer_bench with these options, which goes on where it was stopped and writes
bench/results/transfer-cpu.json (or -simulated.json), and draws the .svg beside it: after each trial, the speed found so far
beside the best that any search of the operator found.
"""
import collections
import json
import statistics
import subprocess
import sys

import experiment


def curve(run, best):
    """Speed beside the best after each trial; 0 before the first that ran."""
    speeds, steps = [0.0] * run["trials"], [*run["best"], [run["trials"] + 1, 0]]
    for (trial, seconds), (until, _) in zip(steps, steps[1:]):
        speeds[trial - 1:until - 1] = [best / seconds] * (until - trial)
    return speeds


def main():
    options = sys.argv[1:]
    experiment.start(__doc__, searches=False).parse_known_args()
    subprocess.run([experiment.ROOT / "build/release/bench/transfer_bench", *options], check=True, cwd=experiment.ROOT)
    machine = "cpu" if "--cpu" in options else "simulated"
    results = experiment.Results(f"transfer-{machine}")
    folder = options[options.index("--folder") + 1] if "--folder" in options else "build/papers/transfer" + "-cpu" * (machine == "cpu")
    runs = [json.loads(line) for line in (experiment.ROOT / folder / "runs.jsonl").read_text().splitlines()]
    runs = [run for run in runs if run["trials"] == results.data["trials"] and run["seed"] < results.data["seeds"]]
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for run in runs:
        found[run["operator"]][run["model"]].append(run)

    def draw(figure):
        for i, (operator, models) in enumerate(sorted(found.items())):
            best = min(run["best"][-1][1] for of_model in models.values() for run in of_model)
            axes = figure.add_subplot(1, len(found), i + 1, title=operator, ylim=(0, 1.02), xlabel="trials")
            for model, of_model in models.items():
                axes.plot([statistics.fmean(at) for at in zip(*(curve(run, best) for run in of_model))], label=model)
        figure.axes[0].set_ylabel("speed / best known")
        figure.axes[0].legend()

    results.plot(draw, figsize=(14, 3.2))


if __name__ == "__main__":
    main()
