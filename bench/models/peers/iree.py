"""IREE for the CPU at hand, at its highest level of optimization."""
import subprocess
import sys

import numpy

from peers import onnx_models

PACKAGES, READS = ["iree-base-compiler[onnx]==3.13.0", "iree-base-runtime==3.13.0", "onnx==1.23.2", "numpy"], ".onnx"
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host",
         "--iree-opt-level=O3", "--iree-llvmcpu-stack-allocation-limit=1048576"]  # by default it refuses BERT's norms


def make(job):
    from iree import runtime
    from iree.compiler import tools

    path, inputs, job.same = onnx_models.saved(job)
    imported, compiled = job.folder / "model.mlir", job.folder / "model.vmfb"
    if not compiled.exists():
        subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "-o", imported], check=True)
        tools.compile_file(str(imported), input_type="onnx", output_file=str(compiled), extra_args=FLAGS)
    if job.threads > 1:
        runtime.flags.parse_flags(f"--task_topology_group_count={job.threads}")
    config = runtime.Config("local-task" if job.threads > 1 else "local-sync")
    module = runtime.load_vm_module(runtime.VmModule.mmap(config.vm_instance, str(compiled)), config)
    function = next(getattr(module, name) for name in module.vm_module.function_names if "$" not in name and not name.startswith("__"))
    arguments = [runtime.asdevicearray(config.device, value) for value in inputs.values()]
    found = []

    def run():
        found[:] = [function(*arguments)]

    def results():
        return [numpy.asarray(r) for r in (found[0] if isinstance(found[0], (tuple, list)) else [found[0]])]

    return run, results
