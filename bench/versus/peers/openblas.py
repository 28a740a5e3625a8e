"""OpenBLAS, as numpy brings it."""
import ctypes

from peers import blas
from peers.blas import covers  # noqa: F401

PACKAGES = ["numpy"]


def make(operator, folder):
    library = next(folder.glob("lib/python*/site-packages/numpy.libs/libscipy_openblas64_*"))
    return blas.make(operator, ctypes.CDLL(str(library)).scipy_cblas_sgemm64_)
