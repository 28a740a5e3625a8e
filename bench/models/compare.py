#!/usr/bin/env python3
"""Times whole models beside other frameworks, in turns, with the same arguments on all sides.

  bench/models/compare.py exports/resnet50.mlir --peers onnxruntime,openvino --results bench/results/models.jsonl

`kiln build` makes the library of a model: with records of --db where there are any, and default schedules elsewhere. A
peer (peers/) reads the same network from the file of --twins (the model's folder by default) that has the model's name and
the ending that the peer reads: .onnx, .pt2 (torch.export.save), .tflite, .stablehlo.mlir. bench/models/export.py writes such
files. A peer whose file is not there is left out. All data are drawn. Weights are constants on all sides.

Each side is a process with an environment of its own below --environments, which is made on first use. A round is a turn
of each side, in an order that changes, and all other sides stand still meanwhile. A turn is a run that is not counted and
then runs for --turn seconds. What peers converted, compiled or tuned is kept below --kept, for the same file.

Each peer is a line of JSON in --results: the medians in milliseconds by the clock and by CPU time, and the medians of the
peer's time over Kiln's in a round, with their 95% intervals. If both sides got the same data, `error` is the greatest
difference of a result over its greatest element. `ready_seconds` are those until the peer's first run was over, and
`tuning_seconds` those of a peer that tunes, with --trials. The line of a peer that cannot read or run the model, or whose
error is above --tolerance, has `failed`, the reason; the exit code is then 1.
"""
import argparse
import importlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
PEERS = ["onnxruntime", "openvino", "litert", "litert_torch", "ncnn", "torch", "torch_compile", "iree", "xla", "tvm"]


def environment_of(options, name):
    """The peer's virtual environment."""
    peer = importlib.import_module(f"peers.{name}")
    return environment(options, getattr(peer, "ENVIRONMENT", name), peer.PACKAGES)


def environment(options, name, packages):
    folder = options.environments / name
    if not (folder / "ready").exists():
        print(f"installing {name}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        groups = [p.split() for p in packages] if any(" " in p for p in packages) else [packages]
        for group in groups:
            subprocess.run([folder / "bin/pip", "install", "--quiet", *group], check=True)
        (folder / "ready").touch()
    return folder


def started(options, name, job, *rest):
    """The process of serve.py. What the peer prints is in log.txt of the job's folder."""
    venv = environment_of(options, name)
    threads = {variable: str(job["threads"]) for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TVM_NUM_THREADS")}
    variables = {**os.environ, **threads, "TVM_BIND_THREADS": "0", "PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}
    with open(pathlib.Path(job["folder"]) / "log.txt", "w") as log:
        return subprocess.Popen([venv / "bin/python", HERE / "serve.py", name, json.dumps(job), *map(str, rest)], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=variables)


class Failed(RuntimeError):
    pass


class Side:
    """A framework that is ready to be timed. It stands still while it has no turn."""

    def __init__(self, options, name, job):
        self.name, self.job, self.times = name, job, []
        self.process = started(options, name, job)
        self.told = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            log = (pathlib.Path(self.job["folder"]) / "log.txt").read_text(errors="replace").strip().splitlines()
            reasons = [text for text in log if "error" in text.lower()] or log or [""]
            raise Failed(f"{self.name} stopped with {self.process.wait()}: {reasons[-1][:300]}")
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(line)

    def turn(self, seconds):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        self.times.append(self.answer())

    def results(self):
        import numpy

        with numpy.load(pathlib.Path(self.job["folder"]) / "results.npz") as found:
            return list(found.values())

    def close(self):
        self.process.kill()
        self.process.wait()


def error_of(found, wanted):
    """The greatest difference of any result over its greatest element; None if the results have other sizes."""
    import numpy

    if [one.size for one in found] != [other.size for other in wanted]:
        return None
    return max(float(numpy.abs(one.reshape(-1).astype("f8") - other.reshape(-1).astype("f8")).max() /
                     max(numpy.abs(other).max(), 1e-300)) for one, other in zip(found, wanted))


def median_interval(values):
    """The median, and the order statistics that hold it in 95 of 100 cases."""
    values = sorted(values)
    half = 0.98 * len(values) ** 0.5
    at = [len(values) // 2, int(len(values) / 2 - half), int(len(values) / 2 + half)]
    return [values[min(max(k, 0), len(values) - 1)] for k in at]


def choices(options):
    """The options of `kiln build` and `kiln tune` that say how a model is read."""
    given = {"--inputs": options.inputs, "--without": options.without}
    return [word for name, value in given.items() if value for word in (name, value)]


def built(options, mlir, folder, name="model"):
    """What `kiln build` says of the library NAME.so in the folder."""
    command = [options.kiln, "build", mlir, "--name", name, "-o", folder, "--json", "--db", options.db or f"{folder}/none.db"]
    said = subprocess.run(command + choices(options), capture_output=True, text=True)
    if said.returncode != 0:
        sys.exit(said.stderr)
    return json.loads(said.stdout)


def twins(options, mlir):
    """The peers that have a file of the model, with the file."""
    for name in options.peers.split(","):
        file = (options.twins or mlir.parent) / (mlir.stem + importlib.import_module(f"peers.{name}").READS)
        if file.exists():
            yield name, file
        else:
            print(f"{mlir.stem}: {name} is left out: there is no {file}", file=sys.stderr, flush=True)


def ready(options, name, file, job):
    """The peer on its file; converted, compiled and tuned if that is not kept."""
    folder = options.kept / f"{name}-{file.stem}-{zlib.crc32(file.read_bytes()):08x}-{job['threads']}"
    folder.mkdir(parents=True, exist_ok=True)
    job, tuned = {**job, "twin": str(file), "folder": str(folder)}, folder / f"tuning-{options.trials}.json"
    if hasattr(importlib.import_module(f"peers.{name}"), "tune") and not tuned.exists():
        process = started(options, name, job, options.trials)
        said = process.communicate()[0]
        if process.returncode:
            raise Failed(f"tuning with {name} failed; see {folder / 'log.txt'}")
        tuned.write_text(said)
    side = Side(options, name, job)
    side.tuning = {"tuning_seconds": json.loads(tuned.read_text()), "trials": options.trials} if tuned.exists() else {}
    return side


def in_turns(options, sides):
    until = time.monotonic() + options.seconds
    while len(sides[0].times) < 5 or time.monotonic() < until:
        first = len(sides[0].times) % len(sides)
        for side in sides[first:] + sides[:first]:
            side.turn(options.turn)


def check(options, kiln, peer):
    """Sets the peer's error, if it got Kiln's data; fails if it is above the tolerance."""
    peer.error = {}
    if not peer.told["same"]:
        return
    error = error_of(kiln.results(), peer.results())
    if error is None or not error <= options.tolerance:
        raise Failed(f"{peer.name} has results of other sizes" if error is None else f"the results of {peer.name} differ by {error:.1e}")
    peer.error = {"error": error}


def line_of(report, model, kiln, peer):
    mine, theirs = ([statistics.median(column) * 1e3 for column in zip(*side.times)] for side in (kiln, peer))
    ratios = [median_interval([b[k] / a[k] for a, b in zip(kiln.times, peer.times)]) for k in (0, 1)]
    return {"model": model, "peer": peer.told["version"] + (" compiled" if peer.name == "torch_compile" else ""),
            "threads": kiln.job["threads"], "rounds": len(kiln.times), "kiln_ms": mine[0], "kiln_cpu_ms": mine[1],
            "peer_ms": theirs[0], "peer_cpu_ms": theirs[1], "ratio": ratios[0], "cpu_ratio": ratios[1],
            "ready_seconds": peer.told["seconds"], **peer.tuning, "build_seconds": report["seconds"],
            "arena_bytes": report["arena_bytes"], "weights_bytes": report["weights_bytes"], "tasks": len(report["tasks"]),
            "tuned": sum(task["record"] > 0 for task in report["tasks"]), **peer.error}


def compare(options, mlir, library, report):
    """Yields a line for each peer of the library, and one that says why for each that failed. `report` is what Kiln says of it."""
    from peers import kiln

    with tempfile.TemporaryDirectory() as folder:
        job = {"parameters": kiln.metadata(library)["parameters"], "threads": options.threads, "cores": options.cores,
               "twin": str(library), "folder": folder}
        sides = []
        try:
            sides.append(Side(options, "kiln", job))
            for name, file in twins(options, mlir):
                try:
                    sides.append(ready(options, name, file, job))
                    check(options, sides[0], sides[-1])
                except (Failed, subprocess.CalledProcessError) as error:
                    if sides[-1].name == name:
                        sides.pop().close()
                    yield {"model": mlir.stem, "peer": name, "threads": options.threads, "failed": str(error)}
            in_turns(options, sides)
            for peer in sides[1:]:
                yield line_of(report, mlir.stem, sides[0], peer)
        finally:
            for side in sides:
                side.close()


def where():
    """The machine and the commit, which each line has."""
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "")
    return {"cpu": cpu, "commit": commit}


def record(options, line):
    line |= {"without": options.without} if options.without else {}
    if options.results:
        with open(options.results, "a") as file:
            file.write(json.dumps(line) + "\n")


def summary(line):
    if "failed" in line:
        return f"{line['model']}: {line['peer']} failed: {line['failed']}"
    error = f" error {line['error']:.1e}" if "error" in line else ""
    return (f"{line['model']}: Kiln {line['kiln_ms']:.3f} ms, {line['peer']} {line['peer_ms']:.3f} ms, ratio "
            "{:.3f} [{:.3f}, {:.3f}]".format(*line["ratio"]) + error)


def add_options(parser):
    parser.add_argument("--peers", default=",".join(name for name in PEERS if name != "tvm"), metavar="PEER,...",
                        help=f"of {', '.join(PEERS)}; by default all but tvm, which tunes for an hour or more")
    parser.add_argument("--twins", type=pathlib.Path, help="the folder of the peers' files")
    parser.add_argument("--kiln", default=str(ROOT / "build/release/kiln"))
    parser.add_argument("--inputs", help="as in `kiln build`; by default the file says which arguments are constants")
    parser.add_argument("--without", help="policies, as in `kiln build`")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="the last core to use")
    parser.add_argument("--seconds", type=float, default=60, help="for the rounds of a model, of which there are at least 5")
    parser.add_argument("--turn", type=float, default=0.1, help="seconds of a turn; at least one run")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="of errors")
    parser.add_argument("--trials", type=int, default=2000, help="of a peer that tunes")
    parser.add_argument("--environments", type=pathlib.Path, default=ROOT / "build/models/environments")
    parser.add_argument("--kept", type=pathlib.Path, default=ROOT / "build/models/kept")
    parser.add_argument("--results", help="a file to append to")


def parsed(parser):
    options = parser.parse_args()
    options.cores = list(range(options.cpu - options.threads + 1, options.cpu + 1))
    if not set(options.cores) <= os.sched_getaffinity(0):
        parser.error(f"cores {options.cores} are not all there")
    unknown = [name for name in options.peers.split(",") if name not in PEERS]
    if unknown:
        parser.error(f"there is no peer {unknown[0]}; known: {', '.join(PEERS)}")
    own = environment(options, "kiln", ["numpy"])  # peers/kiln.py imports numpy, which this Python may lack
    if pathlib.Path(sys.prefix) != own.absolute():  # restarts in the environment that has numpy
        os.execv(own / "bin/python", [own / "bin/python", *sys.argv])
    return options


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL.mlir")
    parser.add_argument("--db", help="records; without it all schedules are default ones")
    add_options(parser)
    options = parsed(parser)
    failures = 0
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            report = built(options, model, folder)
            for line in compare(options, model, f"{folder}/model.so", report):
                line |= where()
                print(summary(line), flush=True)
                record(options, line)
                failures += "failed" in line
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
