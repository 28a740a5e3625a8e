#!/usr/bin/env python3
"""The errors of Kiln and of PyTorch in f32 against PyTorch in f64, with the same data.

  bench/models/accuracy.py exports/mobilenet_v2.mlir --gain 0.5 --results bench/results/outputs.jsonl

Beside each MODEL.mlir stands MODEL.pt2 (export.py writes both). An error is the greatest difference of a result over its
greatest element. `condition` is the error of PyTorch in f64 if the inputs are rounded to 24 bits another way: each element
changes by at most 2^-24 of itself. --gain multiplies drawn matrices and filters. Each model is a line of JSON in --results.

Needs torch and numpy.
"""
import argparse
import json
import pathlib
import tempfile
import types

import numpy
import torch

import compare
from peers import data, kiln
from peers import torch as peer


def in_f64(job, changed=None):
    """The results of PyTorch in f64. `changed`: a generator that changes the inputs."""
    module, inputs = peer.module(job)
    wide = [value.double() if value.is_floating_point() else value for value in inputs]
    if changed:
        wide = [value * (1 + 2.0**-24 * torch.from_numpy(changed.uniform(-1, 1, value.shape)))
                if value.is_floating_point() else value for value in wide]
    return results(job, module.double(), wide)


def results(job, module, inputs):
    run, found = peer.runner(job, module, inputs)
    run()
    return found()


def line_of(options, model):
    data.GAIN = options.gain
    with tempfile.TemporaryDirectory() as folder:
        compare.built(options, model, folder)
        library = kiln.KilnModel(f"{folder}/model.so")
        job = types.SimpleNamespace(twin=model.with_suffix(".pt2"), threads=1,
                                    given=data.given(kiln.metadata(f"{folder}/model.so")["parameters"]))
        library.run()
        exact = in_f64(job)
        errors = {"error": library.results, "peer_error": results(job, *peer.module(job)),
                  "condition": in_f64(job, numpy.random.default_rng(1))}
        return {"model": model.stem, "against": "PyTorch in f64", "gain": options.gain,
                **{name: compare.error_of(found, exact) for name, found in errors.items()}, "peer": f"torch {torch.__version__}",
                "data": "drawn"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL.mlir")
    parser.add_argument("--kiln", default=str(compare.ROOT / "build/release/kiln"))
    parser.add_argument("--db", help="records; without it all schedules are default ones")
    parser.add_argument("--inputs", help="as in `kiln build`; by default the file says which arguments are constants")
    parser.add_argument("--without", help="policies, as in `kiln build`")
    parser.add_argument("--gain", type=float, default=1)
    parser.add_argument("--results", help="a file to append to")
    options = parser.parse_args()
    for model in options.models:
        line = line_of(options, model) | compare.where()
        print(json.dumps(line), flush=True)
        compare.record(options, line)


if __name__ == "__main__":
    main()
