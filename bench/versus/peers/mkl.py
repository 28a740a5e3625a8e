"""Intel's library, packing inside."""
import ctypes

from peers import blas
from peers.blas import covers  # noqa: F401

PACKAGES = ["mkl", "numpy"]


def make(operator, folder):
    return blas.make(operator, ctypes.CDLL(str(next((folder / "lib").glob("libmkl_rt.so*"))), ctypes.RTLD_GLOBAL).cblas_sgemm)
