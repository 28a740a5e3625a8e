"""What every peer computes with: the same inputs, made from the operator's name, and where a result goes."""
import ctypes
import pathlib
import zlib

HERE = pathlib.Path(__file__).resolve().parent


def input_shapes(operator):
    s = operator.shape
    if operator.kind == "conv":
        taps = [s["k"]] * len(s["spatial"])
        channels = (s["ci"],) if s["groups"] == s["ci"] else (s["ci"] // s["groups"], s["co"])  # in the weights
        rest = [(s["co"],)] * (3 if s["bn_relu"] else 0)
        if s["channels_first"]:
            return [(1, s["ci"], *s["spatial"]), (*channels[::-1], *taps)] + rest
        return [(1, *s["spatial"], s["ci"]), (*taps, *channels)] + rest
    if operator.kind == "transposed" and s["channels_first"]:
        return [(1, s["ci"], *s["spatial"]), (s["ci"], s["co"], s["k"], s["k"])]
    if operator.kind == "transposed":
        return [(1, *s["spatial"], s["ci"]), (s["k"], s["k"], s["ci"], s["co"])]
    if operator.kind == "capsule":
        return [(1, *s["spatial"], 4, 4, s["ci"]), (s["k"], s["k"], 4, 4, s["ci"], s["co"])]
    if operator.kind in ("matmul", "dense-gelu"):
        batch = (1,) if s.get("batched") else ()
        bias = [(s["n"],)] if operator.kind == "dense-gelu" else []
        return [(*batch, s["m"], s["k"]), (*batch, s["k"], s["n"])] + bias
    if operator.kind == "attention-scores":
        return [(1, s["sequence"], s["heads"], s["width"])] * 2
    if operator.kind == "layer-norm":
        return [(s["m"], s["n"])] + [(s["n"],)] * 2
    if operator.kind == "batch-norm-relu":
        return [(1, s["c"], s["h"], s["w"])] + [(s["c"],)] * 4
    return [(1, s["m"], s["n"])] if operator.kind == "norm" else [(s["m"], s["n"])]


def result_shape(operator):
    s = operator.shape
    if operator.kind in ("conv", "transposed"):
        return (1, s["co"], *s["out"]) if s.get("channels_first") else (1, *s["out"], s["co"])
    if operator.kind == "capsule":
        return (1, *s["out"], 4, 4, s["co"])
    if operator.kind in ("matmul", "dense-gelu"):
        return (*((1,) if s.get("batched") else ()), s["m"], s["n"])
    if operator.kind == "attention-scores":
        return (1, s["heads"], s["sequence"], s["sequence"])
    if operator.kind == "batch-norm-relu":
        return (1, s["c"], s["h"], s["w"])
    return (1,) if operator.kind == "norm" else (s["m"], s["n"])


NUMPY = {"f32": "float32", "i32": "int32", "u8": "uint8", "i8": "int8", "bf16": "uint16"}  # bf16: its bits


def aligned(shape, dtype="f32"):
    """To cache lines, as allocators of tensors do."""
    import numpy as np
    kind = np.dtype(NUMPY[dtype])
    size = int(np.prod(shape))
    memory = np.zeros(size + 64 // kind.itemsize, kind)
    start = -memory.ctypes.data % 64 // kind.itemsize
    return memory[start:start + size].reshape(shape)


def inputs(operator):
    import numpy as np
    generator = np.random.default_rng(zlib.crc32(operator.name.encode()))
    made = []
    for i, shape in enumerate(input_shapes(operator)):
        dtype = operator.dtypes[i] if operator.narrow else "f32"
        made.append(aligned(shape, dtype))
        if dtype in ("u8", "i8"):
            made[-1][:] = generator.integers(*((0, 256) if dtype == "u8" else (-128, 128)), shape)
        else:
            values = generator.uniform(-1, 1, shape).astype(np.float32)
            made[-1][:] = values.view(np.uint32) >> 16 if dtype == "bf16" else values
    if operator.kind == "batch-norm-relu":
        made[-1][:] = np.abs(made[-1]) + 0.5  # a variance
    return made


def empty_result(operator):
    return aligned(result_shape(operator), operator.dtypes[2])


def contiguous(array):
    import numpy as np
    return np.ascontiguousarray(array)


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)
