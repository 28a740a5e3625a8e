"""One side of a comparison in a process of its own, for compare.py, which types into it:

  serve.py PEER JOB           JOB is JSON: twin, parameters, folder, threads, cores. Writes the results as FOLDER/results.npz
                              and prints {"version", "same", "seconds"}; then each line "SECONDS" is answered by the wall
                              and CPU seconds of a run, medians of as many as fit
  serve.py PEER JOB TRIALS    tunes, if the peer does that, and prints the seconds that it took
"""
import ctypes
import importlib
import importlib.metadata
import json
import os
import pathlib
import re
import signal
import statistics
import sys
import time
import types

HERE = pathlib.Path(__file__).resolve().parent


def version(peer):
    package = next(re.split(r"[\[=]", word)[0] for word in peer.PACKAGES[0].split() if not word.startswith("-"))
    return f"{package} {importlib.metadata.version(package)}" if hasattr(peer, "READS") else "kiln"


def turn(run, least):
    run()  # untimed, so that caches are as a run leaves them
    walls, cpus, until = [], [], time.perf_counter() + least
    while not walls or time.perf_counter() < until:
        cpu, wall = time.process_time(), time.perf_counter()
        run()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def main():
    name, text, *trials = sys.argv[1:]
    job = types.SimpleNamespace(**json.loads(text), same=True)
    os.sched_setaffinity(0, job.cores)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # when compare.py ends, the kernel kills this process, even if stopped
    sys.path[0] = str(HERE)
    answers = os.fdopen(os.dup(1), "w")  # what the peers print goes to standard error
    os.dup2(2, 1)
    answer = lambda value: print(json.dumps(value), file=answers, flush=True)
    import numpy
    from peers import data
    job.twin, job.folder, job.given = pathlib.Path(job.twin), pathlib.Path(job.folder), data.given(job.parameters)
    peer = importlib.import_module(f"peers.{name}")
    start = time.monotonic()
    if trials:
        peer.tune(job, int(trials[0]))
        return answer(time.monotonic() - start)
    run, results = peer.make(job)
    run()
    seconds = time.monotonic() - start
    numpy.savez(job.folder / "results.npz", *results())
    answer({"version": version(peer), "same": job.same, "seconds": seconds})
    for line in sys.stdin:
        answer(turn(run, float(line)))


if __name__ == "__main__":
    main()
