#!/usr/bin/env python3
"""How the CPU time of `kiln space` and `kiln tune` grows with the program.

    bench/growth/growth.py build/release/kiln bench/results/growth.jsonl

Two kinds of files: `repeats`, x = x*c + x so many times, and `chain`, so many elementwise operations in a row.
Prints user and system seconds of each size, with the ratio to half the size, and appends them as lines of JSON.
"""
import json
import resource
import subprocess
import sys
import tempfile

TENSOR = "tensor<65xf32>"
SIZES = {"repeats": [25, 50, 100, 200], "chain": [50, 100, 200, 400]}


def operation(result, operands, body):
    maps = ", ".join(["#m"] * (len(operands) + 1))
    types = ", ".join([TENSOR] * len(operands))
    arguments = ", ".join(f"%v{i}: f32" for i in range(len(operands)))
    return f"""  %{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({", ".join("%" + o for o in operands)} : {types}) outs(%e : {TENSOR}) {{
  ^bb0({arguments}, %o: f32):
    %w = arith.{body} : f32
    linalg.yield %w : f32
  }} -> {TENSOR}
"""


def program(kind, size):
    text = ""
    for i in range(size):
        if kind == "chain":
            text += operation(f"t{i + 1}", [f"t{i}"], "addf %v0, %c" if i % 2 else "mulf %v0, %c")
        else:
            text += operation(f"a{i}", [f"t{i}"], "mulf %v0, %c")
            text += operation(f"t{i + 1}", [f"a{i}", f"t{i}"], "addf %v0, %v1")
    return f"""#m = affine_map<(d0) -> (d0)>
func.func @main(%t0: {TENSOR}) -> {TENSOR} {{
  %c = arith.constant 0.5 : f32
  %e = tensor.empty() : {TENSOR}
{text}  return %t{size} : {TENSOR}
}}
"""


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    kiln, output = sys.argv[1:]
    for kind, sizes in SIZES.items():
        last = {}
        for size in sizes:
            row = {"kind": kind, "size": size}
            with tempfile.TemporaryDirectory() as folder:
                file = f"{folder}/program.mlir"
                with open(file, "w") as out:
                    out.write(program(kind, size))
                row["space_s"] = cpu_seconds([kiln, "space", file])
                row["tune_s"] = cpu_seconds([kiln, "tune", file, "--trials", "8", "--quiet", "--db", f"{folder}/db"])
            for key in ("space_s", "tune_s"):
                row[key.replace("_s", "_ratio")] = row[key] / last[key] if last else None
            last = row
            with open(output, "a") as out:
                out.write(json.dumps(row) + "\n")
            print(" ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items()), flush=True)


if __name__ == "__main__":
    main()
