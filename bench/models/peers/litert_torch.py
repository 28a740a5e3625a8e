"""LiteRT with XNNPACK, on what litert-torch makes of a program that torch.export.save wrote."""
from peers import litert
from peers import torch as exported

PACKAGES = ["--no-deps litert-torch==0.10.0 litert-converter==0.5.* ai-edge-quantizer==0.10.* ai-edge-litert==2.3.0 torchao",
            "absl-py multipledispatch tabulate jaxtyping fire scipy safetensors flatbuffers backports.strenum tqdm immutabledict protobuf",
            *exported.PACKAGES, "transformers", "jax==0.10.2"]  # litert-torch asks for an older torch than export.py
READS = ".pt2"


def make(job):
    converted = job.folder / "model.tflite"
    if not converted.exists():
        import litert_torch

        module, inputs = exported.module(job)
        litert_torch.convert(module, tuple(inputs)).export(str(converted))
    job.twin = converted
    return litert.make(job)
