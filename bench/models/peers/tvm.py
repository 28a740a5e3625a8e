"""TVM's MetaSchedule in the pipeline that its documentation gives for models of fixed shapes on CPUs: it lays weights out for
the schedules that it finds."""
import os
import pickle
import re

import numpy

from peers import onnx_models

PACKAGES = ["--no-deps apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.14.post0 xgboost==3.2.0",
            "ml_dtypes numpy typing_extensions psutil cloudpickle tornado scipy packaging onnx==1.23.2"]
READS = ".onnx"


def target(threads):
    import tvm

    told = os.popen("clang++-22 -march=native -E -v -x c++ /dev/null 2>&1").read()
    cpu = re.search(r'"?-target-cpu"? "?([\w-]+)', told).group(1)  # fails if none: TVM would silently use SSE2
    return tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": threads})


def tune(job, trials):
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx

    model, _, _ = onnx_models.with_weights(job.twin, job.given)
    network, weights = relax.frontend.detach_params(from_onnx(model, keep_params_in_input=True))
    pipeline = relax.pipeline.static_shape_tuning_pipeline(
        total_trials=trials, target=target(job.threads), work_dir=str(job.folder / "work"), cpu_weight_prepack=True)
    tvm.compile(pipeline(network), target=target(job.threads)).export_library(str(job.folder / "model.so"))
    (job.folder / "weights.pickle").write_bytes(pickle.dumps([w.numpy() for w in weights["main"]]))


def make(job):
    import tvm
    from tvm import relax

    _, inputs, job.same = onnx_models.with_weights(job.twin, job.given)
    machine = relax.VirtualMachine(tvm.runtime.load_module(str(job.folder / "model.so")), tvm.cpu())
    weights = [tvm.runtime.tensor(w, tvm.cpu()) for w in pickle.loads((job.folder / "weights.pickle").read_bytes())]
    laid_out = machine["main_transform_params"](weights)
    arguments, found = [*(tvm.runtime.tensor(value, tvm.cpu()) for value in inputs.values()), *laid_out], []

    def run():
        found[:] = [machine["main"](*arguments)]

    def results():
        single = hasattr(found[0], "numpy")
        return [numpy.array(result.numpy()) for result in ([found[0]] if single else found[0])]

    return run, results
