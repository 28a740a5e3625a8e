"""One peer and one operator in a process of their own, for compare.py, which types into it:

  serve.py PEER OPERATOR FOLDER CORE tune TRIALS SEED     prints the seconds that tuning took (Kiln: [SPACE] after it)
  serve.py PEER OPERATOR FOLDER CORE RESULT               writes the result as an .npy, prints "ready"; then each line
                                                          "N" is answered by the seconds of one of N calls
"""
import importlib
import os
import pathlib
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "operators")]
import operators  # noqa: E402


def main():
    peer, operator, folder, core, what, *rest = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    answers = os.fdopen(os.dup(1), "w")  # what the peers print goes to standard error
    os.dup2(2, 1)
    answer = lambda text: print(text, file=answers, flush=True)
    peer, operator, folder = importlib.import_module(f"peers.{peer}"), operators.operators()[operator], pathlib.Path(folder)
    if what == "tune":
        return answer(peer.tune(operator, int(rest[0]), int(rest[1]), folder, *rest[2:]))
    import numpy as np
    call, result = peer.make(operator, folder)
    call(1)
    np.save(what, np.array(result()))
    answer("ready")
    for line in sys.stdin:
        call(1)  # untimed, so that caches are as a call leaves them
        start = time.perf_counter()
        call(int(line))
        answer((time.perf_counter() - start) / int(line))


if __name__ == "__main__":
    main()
