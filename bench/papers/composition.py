#!/usr/bin/env python3
"""Modules added one by one on fused dense (MetaSchedule, Fig. 10a).

  bench/papers/composition.py [--trials 64] [--seeds 3] [OPERATOR...]

Each space holds the modules of the one before and one more. The winners of all spaces and seeds are timed in turns, three
times with new processes: programs without tiles take what the pages of their process make of them. Told for each space:
the median, and its speed beside the first and beside the one before (95% bootstrap interval).
bench/results/composition.json and .svg. Continues when typed again.
"""
import statistics

import experiment
from experiment import operators

TILING = "multi-level-tiling structure=SSRSRS max-innermost=64"
RUNS = 3
LATE = "random-compute-location | parallelize-vectorize-unroll max-vector=64"
SPACES = {
    "vectorize and unroll": "parallelize-vectorize-unroll max-vector=64",
    "+ inline": "each-block(auto-inline) | parallelize-vectorize-unroll max-vector=64",
    "+ compute location": f"each-block(auto-inline) | {LATE}",
    "+ tiling with reuse": f"each-block(auto-inline | {TILING}) | {LATE}",
    "default space": "cpu",
}


def main():
    parser = experiment.start(__doc__, trials=64, seeds=3)
    parser.add_argument("operators", nargs="*", default=["FDN0"], metavar="OPERATOR")
    options = parser.parse_args()
    results = experiment.Results("composition")
    for name in options.operators:
        operator = operators.operators()[name]
        key = f"{name}/trials:{options.trials}/seeds:{options.seeds}"
        if key not in results.data["entries"]:
            folders = {(label, seed): experiment.run("composition", operator, label.replace(" ", "_"), seed, options.trials, "--space", space)
                       for label, space in SPACES.items() for seed in range(options.seeds)}
            runs = [experiment.in_turns(operator, list(folders.values()), options.core, seconds=60) for _ in range(RUNS)]
            results.put(key, {label: [run[folders[label, seed]] for run in runs for seed in range(options.seeds)] for label in SPACES})
        entry = results.data["entries"][key]
        first = before = entry[next(iter(SPACES))]
        for label in SPACES:
            low, high = experiment.interval([[old / new for old in before for new in entry[label]]])
            print(f"{name} {label:24} {statistics.median(entry[label]) * 1e6:10.1f} us  "
                  f"{statistics.median(first) / statistics.median(entry[label]):6.2f}x  beside the one before [{low:.2f}, {high:.2f}]")
            before = entry[label]

    def draw(figure):
        for i, name in enumerate(options.operators):
            entry = results.data["entries"][f"{name}/trials:{options.trials}/seeds:{options.seeds}"]
            axes = figure.add_subplot(1, len(options.operators), i + 1, title=name, xlabel="speed beside the first", xscale="log")
            medians = [statistics.median(entry[label]) for label in SPACES]
            axes.barh(list(SPACES), [medians[0] / m for m in medians])
            axes.invert_yaxis()

    results.plot(draw, figsize=(7 * len(options.operators), 3))


if __name__ == "__main__":
    main()
