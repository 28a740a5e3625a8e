"""oneDNN through its C++ interface (onednn.cc), layouts as it likes; weights are reordered before anything is timed."""
import ctypes
import subprocess

from peers import arrays

PACKAGES = ["onednn-cpu-gomp==2023.2.0", "onednn-devel-cpu-gomp==2023.2.0", "numpy"]
FREE = 1
NARROW = True  # covers products of bytes and of bf16 too


def install(folder):
    source = arrays.HERE / "onednn.cc"
    subprocess.run(["g++", "-O2", "-std=c++17", "-shared", "-fPIC", source, "-o", folder / "libkiln_onednn.so", f"-I{folder}/include",
                    f"-L{folder}/lib", "-ldnnl", f"-Wl,-rpath,{folder}/lib"], check=True)


def covers(operator):
    # Leaves out norm, because oneDNN's reduction of all elements is a reference implementation. Of the other operators
    # on rows, only softmax is written here.
    return operator.kind not in ("norm", "layer-norm", "gelu", "batch-norm-relu")


def make(operator, folder):
    library = ctypes.CDLL(str(folder / "libkiln_onednn.so"))
    library.onednn_error.restype = ctypes.c_char_p
    s, given = operator.shape, arrays.inputs(operator)
    pointers = [arrays.pointer(array) for array in given]
    numbers = lambda values: (ctypes.c_int64 * len(values))(*values)

    def called(name, *arguments):
        function = getattr(library, name)
        function.restype = ctypes.c_void_p
        return function(*arguments)

    if operator.kind in ("conv", "transposed", "capsule"):
        rank, batch, ci, co = len(s["spatial"]), 1, s["ci"], s["co"]
        x, w = given[0], given[1]
        if operator.kind == "capsule":  # rows of the matrices are a batch: x[h,w,i,m,c] -> [i,h,w,(m,c)], w[y,x,m,j,c,f] -> [y,x,(m,c),(j,f)]
            batch, ci, co = 4, 4 * ci, 4 * co
            x = arrays.contiguous(x[0].transpose(2, 0, 1, 3, 4))
            w = arrays.contiguous(w.transpose(0, 1, 2, 4, 3, 5))
        if s.get("channels_first"):
            x = arrays.contiguous(x.transpose(0, *range(2, rank + 2), 1))
            channels = range(w.ndim - rank)  # channels of the weights
            w = w.transpose(*range(w.ndim - rank, w.ndim), *(channels if operator.kind == "transposed" else channels[::-1]))
            w = arrays.contiguous(w)
        bias = None
        if s.get("bn_relu"):  # (y + bias) * scale + offset, folded
            w, bias = arrays.contiguous(w * given[3]), arrays.contiguous(given[2] * given[3] + given[4])
        list_ = numbers([batch, ci, co, s["k"], s["stride"], s["pad"], s.get("dilation", 1), s.get("groups", 1), int(bias is not None),
                         int(operator.kind == "transposed"), *s["spatial"], *s["out"]])
        handle = called("onednn_convolution", rank, list_, FREE, arrays.pointer(x), arrays.pointer(w),
                        None if bias is None else arrays.pointer(bias))
    elif operator.narrow:
        sizes = [ctypes.c_int64(s[key]) for key in "mnk"]
        handle = called("onednn_narrow_matmul", int(operator.dtypes[0] == "bf16"), *sizes, int(s["prepared"]), *pointers)
    elif operator.kind in ("matmul", "dense-gelu"):
        m, n, k = s["m"], s["n"], s["k"]
        dense = operator.kind == "dense-gelu"
        handle = called("onednn_matmul", 2, numbers([m, k]), numbers([k, 1]), numbers([k, n]), numbers([n, 1]), int(dense), pointers[0],
                        pointers[1], pointers[2] if dense else None)
    elif operator.kind == "attention-scores":
        t, h, d = s["sequence"], s["heads"], s["width"]
        handle = called("onednn_matmul", 4, numbers([1, h, t, d]), numbers([t * h * d, d, h * d, 1]), numbers([1, h, d, t]),
                        numbers([t * h * d, d, 1, h * d]), 0, *pointers, None)
    else:
        handle = called("onednn_softmax", ctypes.c_int64(s["m"]), ctypes.c_int64(s["n"]), pointers[0])
    if not handle:
        raise RuntimeError(library.onednn_error().decode())
    handle = ctypes.c_void_p(handle)

    def result():
        out = arrays.empty_result(operator)
        if operator.kind == "capsule":
            import numpy as np
            raw = np.empty((4, *s["out"], 4, s["co"]), np.float32)  # i, h, w, j, f
            library.onednn_result(handle, arrays.pointer(raw))
            return raw.transpose(1, 2, 0, 3, 4)[None]
        if s.get("channels_first"):
            import numpy as np
            raw = np.empty((1, *s["out"], s["co"]), np.float32)
            library.onednn_result(handle, arrays.pointer(raw))
            return raw.transpose(0, raw.ndim - 1, *range(1, raw.ndim - 1))
        library.onednn_result(handle, arrays.pointer(out))
        return out

    keep = given  # alive as long as the call
    return (lambda times: library.onednn_run(handle, times)), (lambda: result() if keep else None)
