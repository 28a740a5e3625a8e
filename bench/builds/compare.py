#!/usr/bin/env python3
"""Whether two builds of Kiln emit equally fast code for the same records.

    bench/builds/compare.py --old OLD/build/release/kiln --new build/release/kiln --results build/builds.jsonl *.db

The best record of each workload of each database is exported by both builds. Those whose objects differ are timed in
turns: the old code twice and the new code once in each turn, in changing order. A record's ratio is the old code's time
over the new code's, and its control the old code's time over the old code's. Each record is a line of JSON in --results
as soon as it is known, and the same command typed again goes on after it. The end is a summary: it fails if the lower
end of the 95% interval of the geometric mean is under 0.99.
"""
import argparse
import json
import math
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

LEAST = 0.99
SERIES = {"old": "old", "control": "old", "new": "new"}  # the build that each series of times is of


def kiln(binary, *arguments):
    ran = subprocess.run([binary, *map(str, arguments), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    if ran.returncode != 0:
        sys.exit(f"{binary} {' '.join(map(str, arguments))} failed with status {ran.returncode}:\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout)


def object_of(binary, database, record, folder):
    kiln(binary, "export", "--db", database, record, "-o", folder, "--name", "kernel")
    return pathlib.Path(folder, "kernel.o").read_bytes()


def compare(options, database, best):
    with tempfile.TemporaryDirectory() as folder:
        # Each build has a copy, since built code is kept beside the database.
        copies = {}
        for build in ("old", "new"):
            pathlib.Path(folder, build).mkdir()
            copies[build] = shutil.copy(database, f"{folder}/{build}/db")
        binaries = {"old": options.old, "new": options.new}
        objects = [object_of(binaries[b], copies[b], best["id"], f"{folder}/{b}/out") for b in copies]
        result = {"database": pathlib.Path(database).stem, "workload": best["workload"], "record": best["id"],
                  "equal": objects[0] == objects[1], "ratio": 1.0, "control": 1.0}
        if result["equal"]:
            return result
        seconds = {series: [] for series in SERIES}
        for _ in range(options.turns):
            for series in random.sample(sorted(SERIES), len(SERIES)):
                build = SERIES[series]
                seconds[series].append(kiln(binaries[build], "replay", best["id"], "--db", copies[build])["seconds"])
        result["ratio"] = statistics.median(o / n for o, n in zip(seconds["old"], seconds["new"]))
        result["control"] = statistics.median(o / c for o, c in zip(seconds["old"], seconds["control"]))
        result["seconds"] = seconds
        return result


def interval_of_mean(ratios):
    logs = [math.log(r) for r in ratios]
    means = sorted(statistics.mean(random.choices(logs, k=len(logs))) for _ in range(10000))
    return [math.exp(means[250]), math.exp(means[9749])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", nargs="+")
    parser.add_argument("--old", required=True, help="command line of the build before")
    parser.add_argument("--new", default="build/release/kiln")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--results", required=True, help="file of JSON lines to append to and to resume from")
    options = parser.parse_args()
    results = pathlib.Path(options.results)
    pairs = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    known = {(p["database"], p["record"]) for p in pairs}
    for database in options.databases:
        for best in kiln(options.new, "best", "--db", database):
            if (pathlib.Path(database).stem, best["id"]) in known:
                continue
            pairs.append(compare(options, database, best))
            with results.open("a") as out:
                out.write(json.dumps(pairs[-1]) + "\n")
            print(" ".join(f"{key}={pairs[-1][key]}" for key in ("database", "equal", "ratio", "control")), flush=True)
    for key in ("ratio", "control"):
        values = [p[key] for p in pairs]
        mean = math.exp(statistics.mean(map(math.log, values)))
        low, high = interval_of_mean(values)
        print(f"{key}: {len(values)} records, {sum(p['equal'] for p in pairs)} with equal objects, geometric mean "
              f"{mean:.4f} [{low:.4f}, {high:.4f}], least {min(values):.3f}")
    if interval_of_mean([p["ratio"] for p in pairs])[0] < LEAST:
        sys.exit(f"the new build's code is slower: the interval's lower end is under {LEAST}")


if __name__ == "__main__":
    main()
