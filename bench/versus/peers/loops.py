"""Calls in a loop of C: one through ctypes takes most of a microsecond, a tenth of what the smallest operators do."""
import ctypes
import functools
import pathlib
import subprocess
import tempfile

C_NAMES = {ctypes.c_int: "int", ctypes.c_int64: "long", ctypes.c_float: "float", ctypes.c_double: "double", ctypes.c_void_p: "void*"}


@functools.cache
def compiled(source, *flags):
    """The library that C source becomes, for this machine."""
    with tempfile.TemporaryDirectory() as made:
        library = pathlib.Path(made) / "library.so"
        subprocess.run(["cc", "-x", "c", "-", "-O3", "-march=native", "-shared", "-fPIC", *flags, "-o", library], input=source, text=True,
                       check=True)
        return ctypes.CDLL(str(library))


def repeated(function, arguments, keep=()):
    """f(times): so many calls of a C function with the same arguments, which are ctypes' values. `keep` lives as long as f."""
    types = ", ".join(C_NAMES[type(argument)] for argument in arguments)
    declared = "".join(f", {C_NAMES[type(argument)]} a{i}" for i, argument in enumerate(arguments))
    passed = ", ".join(f"a{i}" for i in range(len(arguments)))
    library = compiled(f"void repeat(long times, void (*call)({types}){declared}) {{ while (times-- > 0) call({passed}); }}")
    address = ctypes.cast(function, ctypes.c_void_p)
    return lambda times, keep=(keep, function): library.repeat(ctypes.c_int64(times), address, *arguments)
