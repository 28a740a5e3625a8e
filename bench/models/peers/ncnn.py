"""ncnn, converted from ONNX by pnnx, in float32."""
import importlib.util
import pathlib
import subprocess

import numpy

from peers import onnx_models

PACKAGES = ["--no-deps ncnn==1.0.20261020 pnnx==20261020", "numpy requests tqdm portalocker onnx==1.23.2"]  # pnnx would bring torch
READS = ".onnx"


def make(job):
    import ncnn

    path, inputs, job.same = onnx_models.saved(job)
    made = [job.folder / f"model.ncnn.{kind}" for kind in ("param", "bin")]
    if not made[1].exists():
        shapes = ",".join(f"{list(value.shape)}{'i64' if value.dtype == 'i8' else 'f32'}".replace(" ", "") for value in inputs.values())
        converter = pathlib.Path(importlib.util.find_spec("pnnx").submodule_search_locations[0]) / "pnnx"
        subprocess.run([converter, path, f"inputshape={shapes}", "fp16=0"], check=True, cwd=job.folder)
    net = ncnn.Net()
    net.opt.num_threads = job.threads
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
    if net.load_param(str(made[0])) or net.load_model(str(made[1])):
        raise RuntimeError("ncnn does not load what pnnx made")
    matrices = [ncnn.Mat(numpy.ascontiguousarray(value[0] if value.shape[0] == 1 else value)) for value in inputs.values()]
    found = {}

    def run():
        with net.create_extractor() as extractor:
            for name, value in zip(net.input_names(), matrices):
                extractor.input(name, value)
            for name in net.output_names():
                found[name] = extractor.extract(name)[1]

    return run, lambda: [numpy.array(value) for value in found.values()]
