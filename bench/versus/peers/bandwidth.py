"""What reading the inputs once takes at least, for operators that do little else: a dot product of each with itself
(numpy's BLAS). The ratio is the share of the core's memory bandwidth that Kiln reaches."""
from peers import arrays

PACKAGES, ENVIRONMENT = ["numpy"], "kiln"


def covers(operator):
    return operator.kind == "matmul" and operator.shape["m"] == 1


def make(operator, folder):
    import numpy as np
    a, b = given = arrays.inputs(operator)
    flat = [array.reshape(-1) for array in given]

    def call(times):
        for _ in range(times):
            for array in flat:
                np.dot(array, array)

    return call, lambda: a @ b
