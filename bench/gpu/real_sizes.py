#!/usr/bin/env python3
"""Searches for GPUs at the sizes of the papers, without a GPU, and what is known of each search's best.

  bench/gpu/real_sizes.py --results bench/results/gpu_real_sizes.jsonl     a row of JSON for each shape and target
  bench/gpu/real_sizes.py --results bench/results/gpu_real_sizes.jsonl --table

The shapes are the 57 of --list: those of MetaSchedule's evaluation, dense layers with GELU, and layer norms. Each is searched
from the default space for an A100 (sm_80) and an H100 (sm_90a), the smallest first. A row has the best by the static
machine: its kernels with registers, shared memory, spills and stack as ptxas says, whether it is proven, whether the
emulator ran it in three modes with the outputs of the CPU, and whether its schedule compiles for four other chips. It also
has the reasons why finalists were refused, and the seconds that the row took: of the clock, and of CPUs (commands and
compilers). Rows are appended as they land, and the same command goes on.

The end is a summary. It fails if a row that it printed is not whole: no best, not verified, not proven, spills or a
stack, or a chip for which it does not compile.
"""
import argparse
import collections
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/operators"))
import operators  # noqa: E402

FAMILIES = {"C1D", "C2D", "C3D", "DEP", "DIL", "GRP", "T2D", "CAP", "CBR", "GMM", "TBG", "NRM", "SFM", "FDN", "LN"}
CHIPS = {"a100": "sm_80", "h100": "sm_90a", "rtx3090": "sm_86", "l4": "sm_89", "b200": "sm_100a", "rtx5090": "sm_120"}
SEARCHED = ["a100", "h100"]


def shapes():
    """The operators of the families, the smallest first."""
    of_families = [o for o in operators.operators().values() if o.name.rstrip("0123456789") in FAMILIES]
    return sorted(of_families, key=lambda o: max(o.flops, o.bytes))


def kiln(options, *arguments):
    """What a command prints, or None and its error."""
    ran = subprocess.run([options.kiln, *map(str, arguments), "--json"], capture_output=True, text=True)
    if ran.returncode in (0, 3):
        return json.loads(ran.stdout or "{}"), ""
    return None, (ran.stderr.strip().splitlines() or ["no message"])[-1]


def records(options, database):
    """Of a database that one search made: the first is number 1."""
    kiln(options, "records", "export", f"{database}.jsonl", "--db", database)
    lines = map(json.loads, pathlib.Path(f"{database}.jsonl").read_text().splitlines())
    return [line["record"] for line in lines if "record" in line]


def text(value):
    """Of a field that is bytes where it is no text."""
    return value if isinstance(value, str) else "bytes"


def cpu_seconds():
    """That commands which have ended used, with their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row_of(options, operator, target):
    began, used = time.monotonic(), cpu_seconds()

    def times():
        return {"seconds": round(time.monotonic() - began, 1), "cpu_seconds": round(cpu_seconds() - used, 1)}
    row = {"shape": operator.name, "target": target, "chip": CHIPS[target], "trials": options.trials, "seed": options.seed}
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/kiln.db"
        found, error = kiln(options, "tune", operator.file, "--target", target, "--trials", options.trials, "--seed",
                            options.seed, "--threads", options.threads, "--db", database, "--quiet")
        if found is None or found["tasks"][0]["record"] == 0:
            return row | {"error": error or found["tasks"][0]["reason"]} | times()
        task = found["tasks"][0]
        row |= {"cycles": round(task["cycles"]), "static": True, "proven": task["proven"], "verified": task["verified"],
                "emulated": "emulated" in task["flags"].split(), "measured": task["trials"], "failures": task["failures"]}
        measured = records(options, database)
        refused = collections.Counter(f"{r['status']}: {text(r['error'])[:200]}" for r in measured if r["status"] != "ok")
        row |= {"kernels": measured[task["record"] - 1]["facts"]["kernels"], "refused": refused, "compiles": {}}
        for other in CHIPS:
            if other not in SEARCHED:
                _, error = kiln(options, "export", task["record"], "--db", database, "--target", other, "-o", folder)
                row["compiles"][CHIPS[other]] = error or True
    return row | times()


def faults(row):
    """What is missing from a row."""
    if "error" in row:
        return [row["error"]]
    found = [word for word in ("proven", "verified", "emulated") if not row[word]]
    found = [f"not {word}" for word in found]
    found += [f"{what} in {k['name']}" for k in row["kernels"] for what in ("spills", "stack") if k[what] > 0]
    return found + [f"{chip}: {error}" for chip, error in row["compiles"].items() if error is not True]


def line_of(row):
    kernels = ", ".join(f"{k['blocks']}x{k['threads']} {k['registers']}r {k['shared'] / 1024:.4g}K"
                        for k in row.get("kernels", []))
    return (f"{row['shape']:<6} {row['chip']:<7} {row.get('cycles', 0):>10} {row.get('cpu_seconds', row['seconds']):>6} s  "
            f"{'; '.join(faults(row)) or 'whole'}  [{kernels}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, help="a file to which rows are appended")
    parser.add_argument("--shapes", help="with commas; all unless said")
    parser.add_argument("--targets", default=",".join(SEARCHED))
    parser.add_argument("--trials", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="cores of a search; its results are the same for any")
    parser.add_argument("--minutes", type=float, default=1e9, help="no search begins later")
    parser.add_argument("--kiln", default=str(ROOT / "build/release/kiln"))
    parser.add_argument("--list", action="store_true", help="print the shapes")
    parser.add_argument("--table", action="store_true", help="print the rows that are there")
    options = parser.parse_args()
    wanted = options.shapes.split(",") if options.shapes else [o.name for o in shapes()]
    if options.list:
        return print("\n".join(wanted))
    there = options.results is not None and options.results.exists()
    rows = [json.loads(line) for line in options.results.read_text().splitlines()] if there else []
    of_these = {(r["shape"], r["target"], r["trials"], r["seed"]): r for r in rows}
    end, shown = time.monotonic() + 60 * options.minutes, []
    for name in wanted:
        for target in options.targets.split(","):
            row = of_these.get((name, target, options.trials, options.seed))
            if row is None and not options.table and time.monotonic() < end:
                row = row_of(options, operators.operators()[name], target)
                row["commit"] = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], text=True).strip()
                if options.results is not None:
                    with options.results.open("a") as file:
                        file.write(json.dumps(row) + "\n")
            if row is not None:
                shown.append(row)
                print(line_of(row), flush=True)
    wrong = sum(bool(faults(row)) for row in shown)
    print(f"{len(shown) - wrong} of {len(shown)} are whole, of {len(wanted) * len(options.targets.split(','))} wanted")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
