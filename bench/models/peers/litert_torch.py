"""LiteRT with XNNPACK, on what litert-torch makes of a program that torch.export.save wrote."""
from peers import litert
from peers import torch as exported

PACKAGES, READS = ["litert-torch==0.10.0", "numpy"], ".pt2"


def make(job):
    converted = job.folder / "model.tflite"
    if not converted.exists():
        import litert_torch

        module, inputs = exported.module(job)
        litert_torch.convert(module, tuple(inputs)).export(str(converted))
    job.twin = converted
    return litert.make(job)
