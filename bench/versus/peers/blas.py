"""Products of matrices by cblas_sgemm, for mkl.py and openblas.py."""
import ctypes

from peers import arrays, loops


def covers(operator):
    return operator.kind == "matmul"


def make(operator, sgemm):
    m, n, k = (operator.shape[key] for key in "mnk")
    a, b = arrays.inputs(operator)
    c = arrays.empty_result(operator)
    sizes = [ctypes.c_int64(x) for x in (m, n, k)]  # an interface with 32-bit sizes reads the lower halves
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    row_major, as_is = ctypes.c_int(101), ctypes.c_int(111)
    arguments = [row_major, as_is, as_is, *sizes, one, arrays.pointer(a), sizes[2], arrays.pointer(b), sizes[1], zero, arrays.pointer(c),
                 sizes[1]]
    return loops.repeated(sgemm, arguments, keep=(a, b)), lambda: c
