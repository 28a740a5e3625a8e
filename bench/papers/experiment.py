"""What the experiments share: runs of `kiln tune` that continue where they were stopped, their trials, winners timed in
turns, JSON that grows, and plots."""
import argparse
import datetime
import json
import math
import os
import pathlib
import random
import sqlite3
import statistics
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "bench/versus"), str(ROOT / "bench/operators")]
import compare  # noqa: E402
import operators  # noqa: E402

WORK = ROOT / "build" / "papers"
PACKAGES = ["numpy", "matplotlib"]


def start(document, searches=True, trials=256, seeds=5):
    """A parser of the experiment's options (those of searches, if it makes any), in an environment that has what plots need."""
    venv = WORK / "venv"
    if pathlib.Path(sys.prefix) != venv:
        if not (venv / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([venv / "bin/pip", "install", "--quiet", *PACKAGES], check=True)
            (venv / "ready").touch()
        os.execv(venv / "bin/python", [venv / "bin/python", *sys.argv])
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    if searches:
        parser.add_argument("--trials", type=int, default=trials)
        parser.add_argument("--seeds", type=int, default=seeds)
        parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    return parser


def kiln(*arguments):
    subprocess.run([ROOT / "scripts/kiln", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def run(experiment, operator, label, seed, trials, *options):
    """The folder with the database and the library of one run; a run that was stopped goes on."""
    folder = WORK / experiment / f"{operator.name}-{label}-{trials}-{seed}"
    if not (folder / "finished").exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{operator.name} {label} seed {seed}", flush=True)
        kiln("tune", operator.file, "--trials", trials, "--seed", seed, "--db", folder / "kiln.db", "-o", folder, *options)
        (folder / "finished").touch()
    return folder


def trials(folder):
    """Seconds of each trial of the newest run, in order; infinity where a candidate failed or was stopped early."""
    database = sqlite3.connect(f"file:{folder / 'kiln.db'}?mode=ro", uri=True)
    rows = database.execute("SELECT samples, status, lower_bound, flags FROM record WHERE run = (SELECT max(run) FROM record) "
                            "ORDER BY round, trial").fetchall()
    database.close()
    found = []
    for samples, status, bound, flags in rows:
        if "race" in flags.split():
            continue
        values = struct.unpack(f"<{len(samples) // 8}d", samples)
        found.append(statistics.median(values) if status == "ok" and not bound and values else math.inf)
    return found


def best_so_far(times):
    best, out = math.inf, []
    for time in times:
        best = min(best, time)
        out.append(best)
    return out


def in_turns(operator, folders, core, rounds=40, least=5, seconds=180):
    """Median seconds of the kernel of each folder: all of them in each round, in changing order, in one run. Fewer rounds where
    they take longer than so many seconds, but not less than five."""
    servers = {}
    try:
        for folder in folders:
            servers[folder] = compare.Server("kiln", operator, folder, core)
        repeats = max(1, int(compare.SHORTEST / max(server.seconds(1) for server in servers.values())))
        times = {folder: [] for folder in folders}
        until = time.monotonic() + seconds
        for i in range(rounds):
            if i >= least and time.monotonic() > until:
                break
            for folder in random.sample(folders, len(folders)):
                times[folder].append(servers[folder].seconds(repeats))
    finally:
        for server in servers.values():
            server.close()
    return {folder: statistics.median(values) for folder, values in times.items()}


def compared(operator, folders, options):
    """Of runs, {(label, seed): folder}, whose winners are timed in turns in one run, the fastest of which is the best known:
    for each label a list of {seconds, beside_best, curve, arrived: {percent: trials}}. The curve is the speed beside the best
    after each trial, and a run arrives at its first program within so many percent of the best; one that never does counts
    as twice the budget. A run's own times are scaled by what its winner takes in turns."""
    latencies = in_turns(operator, list(folders.values()), options.core)
    best = min(latencies.values())
    found = {}
    for (label, _), folder in folders.items():
        times = best_so_far(trials(folder))
        correction = latencies[folder] / times[-1]
        curve = [best / (time * correction) for time in times]
        arrived = {f"{percent}": next((i + 1 for i, speed in enumerate(curve) if speed >= percent / 100), 2 * options.trials)
                   for percent in (90, 95)}
        found.setdefault(label, []).append({"seconds": latencies[folder], "beside_best": latencies[folder] / best,
                                            "arrived": arrived, "curve": [round(speed, 4) for speed in curve]})
    return found


def mean_arrival(entries, label, percent):
    """Geometric mean of the trials over operators and seeds."""
    return geometric_mean([run["arrived"][f"{percent}"] for entry in entries.values() for run in entry[label]])


def draw_curves(figure, entries, labels):
    """The mean curve of each label, a plot for each operator."""
    rows = -(-len(entries) // 4)
    for i, (name, entry) in enumerate(entries.items()):
        axes = figure.add_subplot(rows, -(-len(entries) // rows), i + 1, title=name, ylim=(0, 1.02), xlabel="trials")
        for label in labels:
            axes.plot([statistics.fmean(at) for at in zip(*(run["curve"] for run in entry[label]))], label=label)
    figure.axes[0].set_ylabel("speed / best known")
    figure.axes[0].legend()
    figure.set_size_inches(14, 3.2 * rows)


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def interval(groups):
    """95% of the geometric mean over groups of each group's geometric mean, by resampling within groups."""
    draws = sorted(geometric_mean([geometric_mean(random.choices(group, k=len(group))) for group in groups]) for _ in range(2000))
    return draws[50], draws[1949]


class Results:
    """A JSON file of entries with keys, a line each; each is written when it is there."""

    def __init__(self, name):
        self.path = ROOT / "bench/results" / f"{name}.json"
        self.data = json.loads(self.path.read_text()) if self.path.exists() else {"context": {}, "entries": {}}

    def put(self, key, entry):
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], check=True, capture_output=True, text=True)
        cpu = next(line for line in open("/proc/cpuinfo") if line.startswith("model name")).split(":")[1].strip()
        self.data["context"] = {"date": datetime.datetime.now().isoformat(timespec="seconds"), "cpu": cpu}
        self.data["entries"][key] = {**entry, "commit": commit.stdout.strip()}
        entries = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in self.data["entries"].items())
        self.path.write_text(f'{{"context": {json.dumps(self.data["context"])}, "entries": {{\n{entries}\n}}}}\n')

    def of(self, options):
        """Operator -> entry, of this many trials and seeds."""
        tail = f"/trials:{options.trials}/seeds:{options.seeds}"
        return {key.removesuffix(tail): entry for key, entry in self.data["entries"].items() if key.endswith(tail)}

    def plot(self, draw, **size):
        """Writes the SVG beside the JSON: draw(figure)."""
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import pyplot
        figure = pyplot.figure(layout="constrained", **size)
        draw(figure)
        figure.savefig(self.path.with_suffix(".svg"), metadata={"Date": None})
        print(f"wrote {self.path.with_suffix('.svg').relative_to(ROOT)}")
