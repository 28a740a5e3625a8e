"""The library that `kiln build` made."""
import ctypes
import json
import pathlib

import numpy

from peers import data

PACKAGES = ["numpy"]


def aligned(size):
    memory = numpy.zeros(size + 64, numpy.uint8)
    offset = -memory.ctypes.data % 64
    return memory[offset:offset + size]


def metadata(library):
    """What the library says of its parameters and of the sizes of its arena and weights."""
    loaded, name = ctypes.CDLL(str(library)), pathlib.Path(library).stem
    return json.loads(ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(loaded, name + "_metadata"))))


class KilnModel:
    def __init__(self, path, threads=1):
        self.library, stem, told = ctypes.CDLL(str(path)), pathlib.Path(path).stem, metadata(path)
        values = iter(data.given(told["parameters"]))
        self.arrays, self.results = [], []
        for p in told["parameters"]:
            memory = aligned(int(numpy.prod(p["shape"])) * numpy.dtype(data.NUMPY[p["dtype"]]).itemsize)
            if p["role"] == "output":
                self.results.append(memory.view(data.NUMPY[p["dtype"]]).reshape(p["shape"]))
            else:
                memory[:] = next(values)[1].reshape(-1).view(numpy.uint8)
            self.arrays.append(memory)
        self.arrays += [aligned(max(1, told["weights_bytes"])), aligned(max(1, told["arena_bytes"]))]
        self.table = (ctypes.c_void_p * len(self.arrays))(*[a.ctypes.data for a in self.arrays])
        prepared = pathlib.Path(path).with_suffix(".weights")
        if prepared.exists():  # the build had all constants, and prepared them
            self.arrays[-2][:] = numpy.fromfile(prepared, numpy.uint8)[-told["weights_bytes"]:]
        elif self.library[stem + "_prepare_by_table"](self.table) != 0:
            raise RuntimeError(f"{path}: the weights cannot be prepared")
        if threads > 1 and hasattr(self.library, stem + "_set_threads"):
            self.library[stem + "_set_threads"](threads)
        self.function = self.library[stem + "_by_table"]

    def run(self):
        self.function(self.table)


def make(job):
    model = KilnModel(job.twin, job.threads)
    return model.run, lambda: model.results
