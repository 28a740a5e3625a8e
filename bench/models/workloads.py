#!/usr/bin/env python3
"""How many workloads exports of one model have in common.

    bench/models/workloads.py torch_resnet50.mlir onnx_resnet50.mlir jax_resnet50.mlir

Prints, for each pair of files, the share of the first one's tasks (each as often as it occurs) whose hash is a task of
the second one too, and the tasks that are not. The first argument of each file is its input, all others are constants.
"""

import argparse
import itertools
import json
import subprocess
import sys


def tasks(kiln, file, inputs):
    command = [kiln, "space", file, "--inputs", inputs, "--limit", "1", "--json"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        sys.exit(found.stderr)
    return {task["hash"]: task for task in json.loads(found.stdout)["tasks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--kiln", default="build/release/kiln")
    parser.add_argument("--inputs", default="1")
    options = parser.parse_args()
    exports = {file: tasks(options.kiln, file, options.inputs) for file in options.files}
    for a, b in itertools.permutations(options.files, 2):
        count = sum(task["occurrences"] for task in exports[a].values())
        shared = sum(task["occurrences"] for digest, task in exports[a].items() if digest in exports[b])
        print(f"{a}: {shared} of {count} ({100 * shared / count:.0f}%) are tasks of {b}")
        for digest, task in exports[a].items():
            if digest not in exports[b]:
                print(f"    {task['occurrences']:3} {digest[:8]} {task['name']}: {task['blocks']}")


if __name__ == "__main__":
    main()
