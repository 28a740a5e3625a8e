"""PyTorch's compiler: max-autotune, with weights frozen."""
import os

from peers import torch as exported

PACKAGES, READS, ENVIRONMENT = exported.PACKAGES, exported.READS, "torch"


def make(job):
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(job.folder)  # PyTorch reads it when it is imported
    import torch
    from torch._inductor import config

    config.freezing = True
    function, inputs = exported.module(job)
    return exported.runner(job, torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False), inputs)
