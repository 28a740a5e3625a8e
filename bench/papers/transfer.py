#!/usr/bin/env python3
"""Transfer from C1 .. C6 to C7, C8 and C9 on this machine (AutoTVM, Fig. 8).

  bench/papers/transfer.py [--trials 256] [--seeds 10] [--source-trials 512] [OPERATOR...]

C1 to C6 are tuned, and a global model is trained of their records. Every operator is tuned with it, with neither it nor
the roofline ("alone"), and as Kiln does by default, with every seed; all winners of an operator are timed in turns in
one run, and the fastest is the best known. Told for each: the trials until a run first measured a program within 5% and
within 10% of the best known (geometric means over operators and seeds; runs that never do count as twice the budget).
bench/results/transfer.json and .svg. Continues when typed again. On the simulated machine:
bench/papers/transfer_bench.cc.
"""
import experiment
from experiment import operators

SOURCES = [f"C{i}" for i in range(1, 7)]


def global_model(options):
    """The file of the model; each source has a run of its own in one database."""
    folder = experiment.WORK / f"transfer/source-{options.source_trials}"
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "model.kiln"
    if not model.exists():
        for name in SOURCES:
            if not (folder / name).exists():
                print(f"{name} for the model", flush=True)
                experiment.kiln("tune", operators.operators()[name].file, "--trials", options.source_trials, "--seed", 1000,
                                "--db", folder / "kiln.db")
                (folder / name).touch()
        experiment.kiln("train", "--db", folder / "kiln.db", "-o", model)
    return model


def main():
    parser = experiment.start(__doc__, seeds=10)
    parser.add_argument("operators", nargs="*", default=["C7", "C8", "C9"], metavar="OPERATOR")
    parser.add_argument("--source-trials", type=int, default=512)
    options = parser.parse_args()
    results = experiment.Results("transfer")
    models = {"transfer": ["--transfer", global_model(options)], "alone": ["--cost-model", "trees-alone"], "default": []}
    for name in options.operators:
        if name not in results.of(options):
            operator = operators.operators()[name]
            folders = {(label, seed): experiment.run("transfer", operator, label, seed, options.trials, *extra)
                       for seed in range(options.seeds) for label, extra in models.items()}
            results.put(f"{name}/trials:{options.trials}/seeds:{options.seeds}", experiment.compared(operator, folders, options))
    entries = results.of(options)
    for label in models:
        latency = experiment.geometric_mean([run["beside_best"] for entry in entries.values() for run in entry[label]])
        to = {percent: f"{experiment.mean_arrival(entries, label, percent):.0f}" for percent in (90, 95)}
        each = ", ".join(f"{name} {experiment.mean_arrival({name: entry}, label, 95):.0f}" for name, entry in entries.items())
        print(f"{label:10} trials to 95% of the best known {to[95]} ({each}), to 90% {to[90]}; latency / best known {latency:.3f}")
    results.plot(lambda figure: experiment.draw_curves(figure, entries, models))


if __name__ == "__main__":
    main()
