#!/usr/bin/env python3
"""Kiln beside its peers, on one core, in turns.

  bench/versus/compare.py [--peers mkl,openblas,...] [--trials 1000] [--seed 0] [--common] [OPERATOR...]
  bench/versus/compare.py --trials 256 MM_1024x1024x1024 C2D2
  bench/versus/compare.py --table

An operator is a name of bench/operators (operators.py --list). For each, `kiln tune` (and TVM's MetaSchedule, if it is
among the peers) finds a kernel; every peer runs in a process of its own, with its own environment below build/versus,
which is made on first use. Results are compared; then pairs of calls in alternating order give ratios (peer's time /
Kiln's time), in three runs of 50 pairs; the median of the runs' medians is reported with a 95% bootstrap interval.
Beside TVM it is also told how long Kiln tuned until it had a program as fast as TVM's. Results are in Google
Benchmark's format and written after each pair of peers, so that the same command goes on where it was stopped: what is
there for the same commit, trials and seed is not run again.
"""
import argparse
import datetime
import importlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "versus"
sys.path[:0] = [str(HERE), str(ROOT / "bench/operators")]
import operators  # noqa: E402

PEERS = ["mkl", "openblas", "onednn", "onednn_plain", "onnxruntime", "openvino", "tvm", "bandwidth", "fma"]
RUNS, PAIRS, SHORTEST = 3, 50, 2e-4
COMMON_SPACE = ("pin site=read-reuse to=0 | pin site=vector-axis to=0 | each-block(auto-inline) | each-block(auto-inline | add-rfactor | "
                "multi-level-tiling structure=SSRSRS waste-percent=0 max-innermost=64) | random-compute-location | "
                "parallelize-vectorize-unroll max-vector=64")
ONE_THREAD = {name: "1" for name in ("MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TVM_NUM_THREADS")}


def environment_of(name):
    """The peer's virtual environment."""
    peer = importlib.import_module(f"peers.{name}")
    folder = WORK / getattr(peer, "ENVIRONMENT", name)
    if not (folder / "ready").exists():
        print(f"installing {name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        groups = [p.split() for p in peer.PACKAGES] if any(" " in p for p in peer.PACKAGES) else [peer.PACKAGES]
        for packages in groups:
            subprocess.run([folder / "bin/pip", "install", "--quiet", *packages], check=True)
        if hasattr(peer, "install"):
            peer.install(folder)
        (folder / "ready").touch()
    return folder


def started(name, operator, folder, core, *rest):
    venv = environment_of(name)
    variables = {**os.environ, **ONE_THREAD, "LD_LIBRARY_PATH": str(venv / "lib"), "TVM_BIND_THREADS": "0"}
    for chooses in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "MKL_ENABLE_INSTRUCTIONS"):  # unset: peers choose kernels
        variables.pop(chooses, None)
    log = open(WORK / "log.txt", "a")
    return subprocess.Popen([venv / "bin/python", HERE / "serve.py", name, operator.name, folder or venv, str(core), *map(str, rest)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=variables)


class Server:
    """A peer that is ready to be timed."""

    def __init__(self, name, operator, folder, core):
        self.result = WORK / f"{name}-{core}.npy"  # runs on two cores write different files
        self.process = started(name, operator, folder, core, self.result)
        self.name = name
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} stopped with {self.process.wait()}; see {WORK / 'log.txt'}")
        return line

    def seconds(self, repeats):
        self.process.stdin.write(f"{repeats}\n")
        self.process.stdin.flush()
        return float(self.answer())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def tuned(name, operator, options, core):
    """(folder of what the tuner found, seconds that it took)."""
    own = [COMMON_SPACE] if name == "kiln" and options.common else []
    folder = WORK / f"tuned-{name}{'-common' * len(own)}-{options.trials}-{options.seed}-{options.commit if name == 'kiln' else 'release'}"
    done = folder / f"{operator.name}.seconds"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        process = started(name, operator, folder, core, "tune", options.trials, options.seed, *own)
        text, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"tuning {operator.name} with {name} failed; see {WORK / 'log.txt'}")
        done.write_text(text)
    return folder, float(done.read_text())


def seconds_until(operator, folder, mine, theirs):
    """Seconds of tuning, from its start, until Kiln's best was as fast as the peer's; None if it never was. Rounds tell what
    they measured then: all are scaled by what the winner takes now."""
    log = subprocess.run([ROOT / "scripts/kiln", "log", "--json", folder / "kiln.db"], check=True, capture_output=True, text=True)
    run = [run for run in json.loads(log.stdout) if f"/{operator.name}.mlir" in run["command"]][-1]
    scale = mine / run["rounds"][-1]["best_seconds"]
    spent = 0
    for told in run["rounds"]:
        spent += sum(told["seconds"].values())
        if told["best_seconds"] * scale <= theirs:
            return spent
    return None


def interval(runs):
    """95% of the median of the runs' medians, by resampling pairs."""
    draws = sorted(statistics.median(statistics.median(random.choices(run, k=len(run))) for run in runs) for _ in range(1000))
    return draws[25], draws[974]


def agree(operator, one, other):
    import numpy as np
    a, b = np.load(one.result), np.load(other.result)
    if b.size == 0:  # a peer that measures a limit of the machine has no result
        return
    terms = max(1, operator.flops // (2 * a.size))
    if a.shape != b.shape or not np.allclose(a, b, rtol=1e-4, atol=1e-5 * terms):
        where = "" if a.shape != b.shape else f", by up to {np.abs(a - b).max():.3g}"
        raise RuntimeError(f"{operator.name}: the results of {one.name} {a.shape} and {other.name} {b.shape} differ{where}")


def in_turns(kiln, peer):
    """(runs of ratios, Kiln's seconds, the peer's seconds)."""
    slowest = max(kiln.seconds(1), peer.seconds(1))
    repeats = max(1, int(SHORTEST / slowest))
    runs, mine, theirs = [], [], []
    for _ in range(RUNS):
        ratios = []
        for pair in range(PAIRS):
            first, second = (kiln, peer) if pair % 2 else (peer, kiln)
            times = first.seconds(repeats), second.seconds(repeats)
            own, other = times if pair % 2 else times[::-1]
            ratios.append(other / own)
            mine.append(own)
            theirs.append(other)
        runs.append(ratios)
    return runs, statistics.median(mine), statistics.median(theirs)


def this_cpu():
    """Its name, and its family and model, which names of virtual machines leave out."""
    said = dict(line.split(":", 1) for line in open("/proc/cpuinfo").read().split("\n\n")[0].replace("\t", "").splitlines())
    return f"{said['model name'].strip()} {said['cpu family'].strip()}/{said['model'].strip()}"


def replace(file, text):
    """Whoever stops this in between finds what was there before."""
    new = file.with_suffix(".new")
    new.write_text(text)
    new.replace(file)


def table(report, cpu, only=None):
    """The newest ratio of every operator (or only of these) and peer on one CPU."""
    newest = {tuple(b["name"].split("/")): b for b in report["benchmarks"] if b["cpu"] == cpu}
    newest = {key: b for key, b in newest.items() if only is None or key[0] in only}
    names = sorted({peer for _, peer in newest})
    print("| operator | Kiln, us | GFLOP/s |", " | ".join(names), "|")
    print("|---" * (len(names) + 3) + "|")
    for operator in dict.fromkeys(o for o, _ in newest):
        row = {peer: newest.get((operator, peer)) for peer in names}
        some = next(b for b in row.values() if b)
        cells = [f"{b['ratio']:.2f} [{b['ratio_low']:.2f}, {b['ratio_high']:.2f}]" if b else "" for b in row.values()]
        print(f"| {operator} | {some['real_time']:.1f} | {some['gflops']:.1f} |", " | ".join(cells), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--common", action="store_true", help="Kiln searches only what TVM's space has too")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results/versus.json")
    parser.add_argument("--table", action="store_true", help="print what was measured so far")
    options = parser.parse_args()
    report = json.loads(options.results.read_text()) if options.results.exists() else {"context": {}, "benchmarks": []}
    if options.table:
        for cpu in dict.fromkeys(b["cpu"] for b in report["benchmarks"]):
            print(f"\n{cpu}\n")
            table(report, cpu)
        return 0
    known = operators.operators()
    unknown = [name for name in options.operators if name not in known] + [p for p in options.peers.split(",") if p not in PEERS]
    if unknown:
        parser.error(f"{unknown[0]} is neither an operator (bench/operators/operators.py --list) nor a peer ({', '.join(PEERS)})")
    WORK.mkdir(parents=True, exist_ok=True)
    own = environment_of("kiln")
    if pathlib.Path(sys.prefix) != own:  # restarts in the environment that has numpy
        os.execv(own / "bin/python", [own / "bin/python", *sys.argv])
    options.commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], check=True, capture_output=True,
                                    text=True).stdout.strip()
    cpu = this_cpu()
    run_name = f"trials:{options.trials}/seed:{options.seed}"
    failures = []
    for operator in [known[name] for name in options.operators or known]:
        for name in options.peers.split(","):
            peer = importlib.import_module(f"peers.{name}")
            if not peer.covers(operator) or operator.narrow and not getattr(peer, "NARROW", False):
                continue
            key = f"{operator.name}/{name}{'_common' * options.common}"
            same = [b for b in report["benchmarks"] if b["name"] == key and b["commit"] == options.commit and
                    b["run_name"] == run_name and b["cpu"] == cpu]
            if same:
                continue
            servers = []
            try:
                folder, seconds = tuned("kiln", operator, options, options.core)
                theirs, peer_seconds = tuned(name, operator, options, options.core) if name == "tvm" else (None, 0)
                servers.append(Server("kiln", operator, folder, options.core))
                servers.append(Server(name, operator, theirs, options.core))
                agree(operator, *servers)
                runs, mine, other = in_turns(*servers)
            except (RuntimeError, subprocess.CalledProcessError) as error:  # one peer failed; the others go on
                failures.append(str(error))
                print(error, flush=True)
                continue
            finally:
                for server in servers:
                    server.close()
            low, high = interval(runs)
            report["context"] = {"date": datetime.datetime.now().isoformat(timespec="seconds"), "cpu": cpu,
                                 "load_avg": list(os.getloadavg())}
            report["benchmarks"].append({
                "name": key, "cpu": cpu, "date": report["context"]["date"], "run_name": run_name, "iterations": RUNS * PAIRS, "real_time": mine * 1e6,
                "cpu_time": mine * 1e6, "time_unit": "us", "gflops": operator.flops * 1e-9 / mine, "peer_time": other * 1e6,
                "ratio": statistics.median(statistics.median(run) for run in runs), "ratio_low": low, "ratio_high": high,
                "tuning_seconds": seconds, "peer_tuning_seconds": peer_seconds, "commit": options.commit})
            if name == "tvm":
                report["benchmarks"][-1]["seconds_to_peer"] = seconds_until(operator, folder, mine, other)
            replace(options.results, json.dumps(report, indent=1) + "\n")
            print("{name:32} {real_time:10.1f} us {gflops:6.1f} GFLOP/s  ratio {ratio:.3f} [{ratio_low:.3f}, {ratio_high:.3f}]".format(
                **report["benchmarks"][-1]), flush=True)
    print()
    table(report, cpu, [name for name in options.operators or known])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
