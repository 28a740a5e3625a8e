#!/usr/bin/env python3
"""Strategies side by side on this machine (AutoTVM, Fig. 4: cost model against genetic algorithm and random search).

  bench/papers/strategies.py [--trials 256] [--seeds 5] [--strategies annealed,random,genetic,simulated-annealing] [OPERATOR...]

Every strategy tunes every operator with every seed; then all winners of an operator are timed in turns in one run, and
the fastest is the best known. Told for each strategy: the latency beside the best known (geometric mean over seeds and
operators, with a 95% bootstrap interval beside random), and the trials until a run first measured a program within 5%
of its best known (runs that never do count as twice the budget). bench/results/strategies.json and .svg. Continues when
typed again.
"""
import statistics

import experiment
from experiment import operators

OPERATORS = ["GMM0", "MM_1024x1024x1024", "C2D2", "DEP0", "GRP0", "T2D0", "SFM0", "FDN0"]
STRATEGIES = ["annealed", "random", "genetic", "simulated-annealing"]


def summary(entries, strategies):
    for strategy in strategies:
        ratios = [[run["beside_best"] for run in entry[strategy]] for entry in entries.values()]
        line = f"{strategy:20} latency / best known {experiment.geometric_mean(sum(ratios, [])):.3f}"
        if strategy != "random" and all("random" in entry for entry in entries.values()):
            beside = [[run["seconds"] / other["seconds"] for run in entry[strategy] for other in entry["random"]] for entry in entries.values()]
            low, high = experiment.interval(beside)
            line += f"  beside random {experiment.geometric_mean(sum(beside, [])):.3f} [{low:.3f}, {high:.3f}]"
        print(f"{line}  trials to 95% {experiment.mean_arrival(entries, strategy, 95):.0f}")
    for name, entry in entries.items():
        print(f"  {name:20}", "  ".join(f"{s} {statistics.median(r['beside_best'] for r in entry[s]):.3f}" for s in strategies))


def main():
    parser = experiment.start(__doc__)
    parser.add_argument("operators", nargs="*", default=OPERATORS, metavar="OPERATOR")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    options = parser.parse_args()
    results = experiment.Results("strategies")
    strategies = options.strategies.split(",")
    for name in options.operators:
        if set(strategies) - set(results.of(options).get(name, {})):
            operator = operators.operators()[name]
            folders = {(strategy, seed): experiment.run("strategies", operator, strategy, seed, options.trials, "--strategy", strategy)
                       for strategy in strategies for seed in range(options.seeds)}
            results.put(f"{name}/trials:{options.trials}/seeds:{options.seeds}", experiment.compared(operator, folders, options))
    entries = results.of(options)
    summary(entries, strategies)
    results.plot(lambda figure: experiment.draw_curves(figure, entries, strategies))


if __name__ == "__main__":
    main()
