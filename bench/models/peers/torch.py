"""PyTorch, a program that torch.export.save wrote, run as it is."""
PACKAGES, READS = ["torch==2.15.0", "numpy"], ".pt2"


def module(job):
    """(a function of the inputs whose weights are parameters, the inputs)."""
    import torch

    torch.set_num_threads(job.threads)
    program = torch.export.load(job.twin).module()
    count = sum(role == "input" for role, _ in job.given)
    tensors = [torch.from_numpy(value) for _, value in job.given]

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.program = program
            self.weights = torch.nn.ParameterList(torch.nn.Parameter(t, requires_grad=False) for t in tensors[count:])

        def forward(self, *inputs):
            return self.program(*inputs, *self.weights)

    return Model(), tensors[:count]


def make(job):
    import torch

    return runner(job, *module(job))


def runner(job, function, inputs):
    import torch

    found = []

    def run():
        with torch.no_grad():
            found[:] = [function(*inputs)]

    return run, lambda: [r.numpy() for r in (found[0] if isinstance(found[0], (tuple, list)) else (found[0],))]
