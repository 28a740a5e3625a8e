#!/usr/bin/env python3
"""The operators that Kiln is measured on: their shapes, once, and the MLIR of each.

  bench/operators/operators.py            writes the .mlir files beside this script
  bench/operators/operators.py --check    fails unless they are what it would write
  bench/operators/operators.py --list     one line for each: name, shape, operations, bytes

The suite of MetaSchedule's evaluation with the shapes of TVM's te_workload (C1D to FDN; channels last, float32, batch 1),
the convolutions of ResNet-18 as AutoTVM numbers them (C1 to C12, channels first), the 23 of ResNet-50 with constant weights,
channels first (R1 to R23) and last (RL1 to RL23), depthwise, grouped and transposed ones with constant weights (DEPL, GRPL,
T2DL), the other convolutions of tests/inputs/ops with constant weights, channels first (C1DF to T2DF) and last (C1DL to CBRL), products of matrices (MM), of u8 with i8 to i32 (U8S8) and of bf16 to f32 (BF16), with constant weights too (U8S8L, BF16L), and layers along rows: layer norms (LN) and GELUs (GEL) of BERT, large BERT and ViT, batch norms
with ReLU of ResNet-50 (BNR, channels first). Constant weights may be prepared, as libraries prepare them.
"""
import dataclasses
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Operator:
    name: str
    kind: str     # conv, transposed, capsule, matmul, dense-gelu, attention-scores, softmax, norm, layer-norm,
                  # gelu, batch-norm-relu
    shape: dict   # by kind; see the makers below
    flops: int    # 2 a multiply-add; padding counted, zeros that transposed convolutions insert not counted
    bytes: int    # that must move: inputs, weights, results

    @property
    def file(self):
        return HERE / f"{self.name}.mlir"

    @property
    def dtypes(self):
        """Of the operands and the result, where they are not f32 alone."""
        return self.shape.get("dtypes", ("f32",) * 3)

    @property
    def narrow(self):
        return self.dtypes[0] != "f32"


# ---- The shapes of the operators, by family

CONVOLUTIONS = {  # (spatial..., channels in, channels out, kernel, stride, padding, dilation = 1, groups = 1)
    "C1D": [(256, 64, 128, 3, 2, 1), (128, 128, 256, 1, 2, 0), (64, 256, 256, 5, 1, 2), (32, 512, 512, 3, 1, 1)],
    "C2D": [(224, 224, 3, 64, 7, 2, 3), (56, 56, 64, 64, 1, 1, 0), (14, 14, 256, 256, 3, 1, 1), (7, 7, 512, 512, 3, 1, 1)],
    "C3D": [(16, 224, 224, 3, 64, 7, 2, 3), (16, 56, 56, 64, 64, 1, 1, 0), (16, 14, 14, 256, 256, 3, 1, 1),
            (16, 7, 7, 512, 512, 3, 1, 1)],
    "DEP": [(112, 112, 32, 32, 3, 1, 1, 1, 32), (112, 112, 64, 64, 3, 2, 1, 1, 64), (14, 14, 512, 512, 3, 2, 1, 1, 512),
            (7, 7, 1024, 1024, 3, 1, 1, 1, 1024)],
    "DIL": [(224, 224, 3, 64, 7, 2, 3, 2), (56, 56, 64, 64, 1, 1, 0, 2), (14, 14, 256, 256, 3, 1, 1, 2),
            (7, 7, 512, 512, 3, 1, 1, 2)],
    "GRP": [(56, 56, 64, 128, 3, 2, 1, 1, 4), (56, 56, 64, 64, 1, 1, 0, 1, 4), (14, 14, 256, 256, 3, 1, 1, 1, 4),
            (7, 7, 512, 512, 3, 1, 1, 1, 4)],
    "CBR": [(224, 224, 3, 64, 7, 2, 3), (56, 56, 64, 128, 3, 2, 1), (28, 28, 128, 256, 1, 2, 0), (7, 7, 512, 512, 3, 1, 1)],
    "C": [(224, 224, 3, 64, 7, 2, 3), (56, 56, 64, 64, 3, 1, 1), (56, 56, 64, 64, 1, 1, 0), (56, 56, 64, 128, 3, 2, 1),
          (56, 56, 64, 128, 1, 2, 0), (28, 28, 128, 128, 3, 1, 1), (28, 28, 128, 256, 3, 2, 1), (28, 28, 128, 256, 1, 2, 0),
          (14, 14, 256, 256, 3, 1, 1), (14, 14, 256, 512, 3, 2, 1), (14, 14, 256, 512, 1, 2, 0), (7, 7, 512, 512, 3, 1, 1)],
    "R": [(224, 224, 3, 64, 7, 2, 3),
          (56, 56, 64, 64, 1, 1, 0), (56, 56, 64, 64, 3, 1, 1), (56, 56, 64, 256, 1, 1, 0), (56, 56, 256, 64, 1, 1, 0),
          (56, 56, 256, 128, 1, 1, 0), (56, 56, 128, 128, 3, 2, 1), (28, 28, 128, 512, 1, 1, 0), (56, 56, 256, 512, 1, 2, 0),
          (28, 28, 512, 128, 1, 1, 0), (28, 28, 128, 128, 3, 1, 1),
          (28, 28, 512, 256, 1, 1, 0), (28, 28, 256, 256, 3, 2, 1), (14, 14, 256, 1024, 1, 1, 0), (28, 28, 512, 1024, 1, 2, 0),
          (14, 14, 1024, 256, 1, 1, 0), (14, 14, 256, 256, 3, 1, 1),
          (14, 14, 1024, 512, 1, 1, 0), (14, 14, 512, 512, 3, 2, 1), (7, 7, 512, 2048, 1, 1, 0), (14, 14, 1024, 2048, 1, 2, 0),
          (7, 7, 2048, 512, 1, 1, 0), (7, 7, 512, 512, 3, 1, 1)],
}
GIVEN = set(CONVOLUTIONS) - {"R"}  # families whose weights are inputs
CONVOLUTIONS |= {"RL": CONVOLUTIONS["R"], "DEPL": CONVOLUTIONS["DEP"], "GRPL": CONVOLUTIONS["GRP"]}
CONVOLUTIONS |= {f"{family}F": CONVOLUTIONS[family][:1] for family in ("C1D", "C3D", "DEP", "DIL", "GRP")}
CONVOLUTIONS |= {f"{family}L": CONVOLUTIONS[family][:1] for family in ("C1D", "C3D", "DIL")}
CONVOLUTIONS |= {family: [(56, 56, 64, 64, 3, 1, 1)] for family in ("CBRF", "CBRL")}
PREPARED = {*CONVOLUTIONS, "T2DF", "T2DL", "U8S8L", "BF16L"} - GIVEN  # families whose weights are constant
TRANSPOSED = [(4, 512, 256, 4, 2, 1), (8, 256, 128, 4, 2, 1), (16, 128, 64, 4, 2, 1), (32, 64, 3, 4, 2, 1)]
CAPSULES = [(16, 32, 32, 3, 2, 1), (8, 32, 32, 3, 1, 1), (16, 8, 16, 3, 2, 1), (8, 16, 16, 3, 1, 1)]  # of 4x4 matrices
GMM = [(128, 128, 128), (512, 32, 512), (512, 512, 512), (1024, 1024, 1024)]  # m, n, k, in a batch of one
MM = [(128, 128, 128), (1024, 1024, 1024), (512, 768, 3072), (128, 3072, 768), (2048, 2048, 2048), (197, 769, 1023),
      (1, 4096, 4096)]
NARROW = {"U8S8": ("u8", "i8", "i32"), "BF16": ("bf16", "bf16", "f32")}  # dtypes of the operands and the sum
NARROW |= {family + "L": dtypes for family, dtypes in NARROW.items()}
DENSE = [(128, 3072, 768), (128, 768, 3072)]
SIZES = {"u8": 1, "i8": 1, "bf16": 2, "f32": 4, "i32": 4}  # bytes
SCORES = [(128, 12, 64), (128, 16, 64), (64, 12, 128), (128, 12, 128)]  # sequence, heads, width of a head
SOFTMAX = [(256, 256), (512, 512), (1024, 1024), (2048, 2048)]
NORM = [(256, 256), (512, 512), (1024, 1024), (4096, 1024)]
LAYER_NORM = [(512, 768), (128, 1024), (197, 768)]  # tokens, width
GELU = [(512, 3072), (128, 4096), (197, 3072)]
BATCH_NORM_RELU = [(64, 112, 112), (256, 56, 56), (512, 28, 28)]  # channels, height, width


def convolution(family, number, numbers):
    rank = {"C1D": 1, "C3D": 3}.get(family[:3], 2)
    spatial, (ci, co, k, stride, pad, *rest) = numbers[:rank], numbers[rank:]
    dilation, groups = (*rest, 1, 1)[:2] if len(rest) < 2 else rest
    out = [(x + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for x in spatial]
    shape = dict(spatial=list(spatial), ci=ci, co=co, k=k, stride=stride, pad=pad, dilation=dilation, groups=groups,
                 out=out, bn_relu=family[:3] == "CBR", channels_first=family in ("C", "R") or family[-1] == "F", prepared=family in PREPARED)
    pixels, taps = math.prod(out), k**rank
    flops = 2 * pixels * co * (ci // groups) * taps + (4 * pixels * co if shape["bn_relu"] else 0)
    moved = math.prod(spatial) * ci + pixels * co + (ci // groups) * co * taps
    return Operator(f"{family}{number}", "conv", shape, flops, 4 * moved)


def transposed(family, number, numbers):
    size, ci, co, k, stride, pad = numbers
    out = (size - 1) * stride - 2 * pad + k
    shape = dict(spatial=[size, size], ci=ci, co=co, k=k, stride=stride, pad=pad, out=[out, out],
                 channels_first=family[-1] == "F", prepared=family in PREPARED)
    return Operator(f"{family}{number}", "transposed", shape, 2 * size * size * ci * co * k * k,
                    4 * (size * size * ci + out * out * co + k * k * ci * co))


def capsule(number, numbers):
    size, ci, co, k, stride, pad = numbers
    out = (size + 2 * pad - k) // stride + 1
    shape = dict(spatial=[size, size], ci=ci, co=co, k=k, stride=stride, pad=pad, out=[out, out], capsule=4)
    return Operator(f"CAP{number}", "capsule", shape, 2 * out * out * 16 * co * k * k * 4 * ci,
                    4 * (size * size * 16 * ci + out * out * 16 * co + k * k * 16 * ci * co))


def matmul(family, number, numbers):
    m, n, k = numbers
    name = f"{family}{number}" if family == "GMM" else f"{family}_{m}x{n}x{k}"
    a, b, c = NARROW.get(family, ("f32",) * 3)
    return Operator(name, "matmul", dict(m=m, n=n, k=k, batched=family == "GMM", dtypes=(a, b, c), prepared=family in PREPARED),
                    2 * m * n * k, SIZES[a] * m * k + SIZES[b] * k * n + SIZES[c] * m * n)


def operators():
    """Name -> operator, in the order of the suites."""
    made = []
    for family, shapes in CONVOLUTIONS.items():
        first = 1 if family in ("C", "R", "RL") else 0
        made += [convolution(family, i, numbers) for i, numbers in enumerate(shapes, first)]
    made += [transposed(family, i, numbers) for family in ("T2D", "T2DL") for i, numbers in enumerate(TRANSPOSED)]
    made += [transposed("T2DF", 0, TRANSPOSED[0])]
    made += [capsule(i, numbers) for i, numbers in enumerate(CAPSULES)]
    made += [matmul("GMM", i, numbers) for i, numbers in enumerate(GMM)]
    made += [matmul("MM", i, numbers) for i, numbers in enumerate(MM)]
    made += [matmul(family, 0, (512, 512, 512)) for family in NARROW]
    made += [Operator(f"FDN{i}", "dense-gelu", dict(m=m, n=n, k=k), 2 * m * n * k + 2 * m * n, 4 * (m * k + k * n + n + m * n))
             for i, (m, n, k) in enumerate(DENSE)]
    made += [Operator(f"TBG{i}", "attention-scores", dict(sequence=s, heads=h, width=d), 2 * h * s * s * d,
                      4 * (2 * s * h * d + h * s * s)) for i, (s, h, d) in enumerate(SCORES)]
    made += [Operator(f"SFM{i}", "softmax", dict(m=m, n=n), 5 * m * n, 8 * m * n) for i, (m, n) in enumerate(SOFTMAX)]
    made += [Operator(f"NRM{i}", "norm", dict(m=m, n=n), 2 * m * n, 4 * m * n) for i, (m, n) in enumerate(NORM)]
    made += [Operator(f"LN{i}", "layer-norm", dict(m=m, n=n), 8 * m * n, 8 * m * n + 8 * n) for i, (m, n) in enumerate(LAYER_NORM)]
    made += [Operator(f"GEL{i}", "gelu", dict(m=m, n=n), 5 * m * n, 8 * m * n) for i, (m, n) in enumerate(GELU)]
    made += [Operator(f"BNR{i}", "batch-norm-relu", dict(c=c, h=h, w=w), 5 * c * h * w, 8 * c * h * w + 16 * c)
             for i, (c, h, w) in enumerate(BATCH_NORM_RELU)]
    return {operator.name: operator for operator in made}


# ---- Functions that write the MLIR of an operator

def tensor(*shape, dtype="f32"):
    return f"tensor<{'x'.join(map(str, shape))}x{dtype.replace('u8', 'i8')}>"


def given_weights(shape, kind):
    return kind + (" {kiln.constant}" if shape["prepared"] else "")


class Body:
    """The lines of a function; each method adds one operation and returns (value, type)."""

    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, text, result):
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        return name, result

    def number(self, value, hint):
        self.lines.append(f"%{hint} = arith.constant {value} : f32")
        return f"%{hint}"

    def filled(self, value, *shape):
        kind = tensor(*shape)
        empty, _ = self.add(f"tensor.empty() : {kind}", kind)
        return self.add(f"linalg.fill ins({value} : f32) outs({empty} : {kind}) -> {kind}", kind)

    def empty(self, *shape):
        return self.add(f"tensor.empty() : {tensor(*shape)}", tensor(*shape))

    def padded(self, source, zero, pads, *shape):
        low = ", ".join(map(str, pads))
        arguments = ", ".join(f"%p{i}: index" for i in range(len(pads)))
        return self.add(f"tensor.pad {source[0]} low[{low}] high[{low}] {{\n    ^bb0({arguments}):\n      tensor.yield {zero} : f32\n"
                        f"    }} : {source[1]} to {tensor(*shape)}", tensor(*shape))

    def reshaped(self, operation, source, groups, *shape):
        text = ", ".join(f"[{', '.join(map(str, group))}]" for group in groups)
        tail = f" output_shape [{', '.join(map(str, shape))}]" if operation == "expand" else ""
        return self.add(f"tensor.{operation}_shape {source[0]} [{text}]{tail} : {source[1]} into {tensor(*shape)}", tensor(*shape))

    def generic(self, loops, maps, iterators, ins, out, lines, result):
        """`loops` and `maps` are texts; `lines` use %a, %b, ... for the operands and %out."""
        texts = ", ".join(f"affine_map<({loops}) -> ({m})>" for m in maps)
        kinds = ", ".join(f'"{ {"p": "parallel", "r": "reduction"}[c]}"' for c in iterators)
        given = f"ins({', '.join(v for v, _ in ins)} : {', '.join(t for _, t in ins)}) " if ins else ""
        arguments = ", ".join([f"%{letter}: f32" for letter in "abcdef"[:len(ins)]] + ["%out: f32"])
        inner = "".join(f"      {line}\n" for line in lines)
        return self.add(f"linalg.generic {{indexing_maps = [{texts}],\n        iterator_types = [{kinds}]}} {given}"
                        f"outs({out[0]} : {out[1]}) {{\n    ^bb0({arguments}):\n{inner}      linalg.yield {result} : f32\n"
                        f"    }} -> {out[1]}", out[1])

    def contraction(self, loops, maps, iterators, ins, out):
        return self.generic(loops, maps, iterators, ins, out,
                            ["%product = arith.mulf %a, %b : f32", "%sum = arith.addf %out, %product : f32"], "%sum")


def function(name, arguments, body, result):
    text = ", ".join(f"%{n}: {t}" for n, t in arguments)
    lines = "".join(f"  {line}\n" for line in body.lines)
    return f"func.func @{name}({text}) -> {result[1]} {{\n{lines}  return {result[0]} : {result[1]}\n}}\n"


def conv_mlir(operator):
    s = operator.shape
    rank, k, g = len(s["spatial"]), s["k"], s["groups"]
    padded = [x + 2 * s["pad"] for x in s["spatial"]]
    pixel = [f"o{i}" for i in range(rank)]
    taps = [f"k{i}" for i in range(rank)]
    at = [f"{o} * {s['stride']} + {t} * {s['dilation']}".replace(" * 1", "") for o, t in zip(pixel, taps)]
    body = Body()
    zero = body.number("0.0", "zero")
    depthwise = g == s["ci"]
    weights = [*[k] * rank, s["ci"] // g, s["co"]] if not depthwise else [*[k] * rank, s["ci"]]
    if s["channels_first"]:
        shape, weights = [1, s["ci"], *s["spatial"]], [s["co"], *[s["ci"] // g] * (not depthwise), *[k] * rank]
    else:
        shape = [1, *s["spatial"], s["ci"]]
    arguments = [("x", tensor(*shape)), ("w", given_weights(s, tensor(*weights)))]
    x, w = ("%x", tensor(*shape)), ("%w", tensor(*weights))
    if s["pad"]:
        around = [0, 0, *[s["pad"]] * rank] if s["channels_first"] else [0, *[s["pad"]] * rank, 0]
        x = body.padded(x, zero, around, *([1, s["ci"], *padded] if s["channels_first"] else [1, *padded, s["ci"]]))
    spatial_loops, tap_loops = ", ".join(pixel), ", ".join(taps)
    if s["channels_first"] and depthwise:
        y = body.contraction(f"n, c, {spatial_loops}, {tap_loops}",
                             [f"n, c, {', '.join(at)}", f"c, {tap_loops}", f"n, c, {spatial_loops}"],
                             "pp" + "p" * rank + "r" * rank, [x, w], body.filled(zero, 1, s["co"], *s["out"]))
    elif s["channels_first"] and g > 1:
        x = body.reshaped("expand", x, [[0], [1, 2]] + [[i + 3] for i in range(rank)], 1, g, s["ci"] // g, *padded)
        w = body.reshaped("expand", w, [[0, 1]] + [[i + 2] for i in range(rank + 1)], g, s["co"] // g, s["ci"] // g, *[k] * rank)
        out = body.filled(zero, 1, g, s["co"] // g, *s["out"])
        y = body.contraction(f"n, g, f, {spatial_loops}, c, {tap_loops}",
                             [f"n, g, c, {', '.join(at)}", f"g, f, c, {tap_loops}", f"n, g, f, {spatial_loops}"],
                             "p" * (rank + 3) + "r" * (rank + 1), [x, w], out)
        y = body.reshaped("collapse", y, [[0], [1, 2]] + [[i + 3] for i in range(rank)], 1, s["co"], *s["out"])
    elif s["channels_first"]:
        out = body.filled(zero, 1, s["co"], *s["out"])
        y = body.contraction(f"n, f, {spatial_loops}, c, {tap_loops}",
                             [f"n, c, {', '.join(at)}", f"f, c, {tap_loops}", f"n, f, {spatial_loops}"],
                             "pp" + "p" * rank + "r" + "r" * rank, [x, w], out)
    elif depthwise:
        out = body.filled(zero, 1, *s["out"], s["co"])
        y = body.contraction(f"n, {spatial_loops}, c, {tap_loops}",
                             [f"n, {', '.join(at)}, c", f"{tap_loops}, c", f"n, {spatial_loops}, c"],
                             "p" * (rank + 2) + "r" * rank, [x, w], out)
    elif g > 1:
        ends = [[i] for i in range(rank + 1)] + [[rank + 1, rank + 2]]
        x = body.reshaped("expand", x, ends, 1, *padded, g, s["ci"] // g)
        w = body.reshaped("expand", w, ends, *[k] * rank, s["ci"] // g, g, s["co"] // g)
        out = body.filled(zero, 1, *s["out"], g, s["co"] // g)
        y = body.contraction(f"n, {spatial_loops}, g, f, {tap_loops}, c",
                             [f"n, {', '.join(at)}, g, c", f"{tap_loops}, c, g, f", f"n, {spatial_loops}, g, f"],
                             "p" * (rank + 3) + "r" * (rank + 1), [x, w], out)
        y = body.reshaped("collapse", y, ends, 1, *s["out"], s["co"])
    else:
        out = body.filled(zero, 1, *s["out"], s["co"])
        y = body.contraction(f"n, {spatial_loops}, f, {tap_loops}, c",
                             [f"n, {', '.join(at)}, c", f"{tap_loops}, c, f", f"n, {spatial_loops}, f"],
                             "p" * (rank + 2) + "r" * (rank + 1), [x, w], out)
    if s["bn_relu"]:
        channel, loops = tensor(s["co"]), "n, f, h, w" if s["channels_first"] else "n, h, w, f"
        arguments += [(name, given_weights(s, channel)) for name in ("bias", "scale", "offset")]
        out = body.empty(1, s["co"], *s["out"]) if s["channels_first"] else body.empty(1, *s["out"], s["co"])
        y = body.generic(loops, [loops, "f", "f", "f", loops], "pppp",
                         [y, ("%bias", channel), ("%scale", channel), ("%offset", channel)], out,
                         ["%t = arith.addf %a, %b : f32", "%u = arith.mulf %t, %c : f32", "%v = arith.addf %u, %d : f32",
                          "%r = arith.maximumf %v, %zero : f32"], "%r")
    return function(operator.name, arguments, body, y)


def transposed_mlir(operator):
    s = operator.shape
    (size, _), (out, _), k, ci, co, stride = s["spatial"], s["out"], s["k"], s["ci"], s["co"], s["stride"]
    wide, first, last = out + k - 1, k - 1 - s["pad"], not s["channels_first"]
    image = lambda of, channels: [1, of, of, channels] if last else [1, channels, of, of]
    x, w = tensor(*image(size, ci)), tensor(k, k, ci, co) if last else tensor(ci, co, k, k)
    body = Body()
    zero = body.number("0.0", "zero")
    spread, kind = body.filled(zero, *image(wide, ci))
    listed = lambda numbers: ", ".join(map(str, numbers))
    steps = [1, stride, stride, 1] if last else [1, 1, stride, stride]
    start = [0, first, first, 0] if last else [0, 0, first, first]
    spread = body.add(f"tensor.insert_slice %x into {spread}[{listed(start)}] [{listed(image(size, ci))}] [{listed(steps)}] : {x} into {kind}", kind)
    body.lines.append(f"%last = arith.constant {k - 1} : index")
    taps = "%y, %x1, %c, %f" if last else "%c, %f, %y, %x1"
    flipped = body.generic("i, j, c, f", ["i, j, c, f"], "pppp", [], body.empty(k, k, ci, co),
                           ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index", "%c = linalg.index 2 : index",
                            "%f = linalg.index 3 : index", "%y = arith.subi %last, %i : index",
                            "%x1 = arith.subi %last, %j : index", f"%v = tensor.extract %w[{taps}] : {w}"], "%v")
    at, to = ("n, h + i, w + j, c", "n, h, w, f") if last else ("n, c, h + i, w + j", "n, f, h, w")
    y = body.contraction(f"{to}, i, j, c", [at, "i, j, c, f", to], "pppprrr", [spread, flipped], body.filled(zero, *image(out, co)))
    return function(operator.name, [("x", x), ("w", given_weights(s, w))], body, y)


def capsule_mlir(operator):
    s = operator.shape
    (size, _), (out, _), k, ci, co, pad = s["spatial"], s["out"], s["k"], s["ci"], s["co"], s["pad"]
    x, w = tensor(1, size, size, 4, 4, ci), tensor(k, k, 4, 4, ci, co)
    body = Body()
    zero = body.number("0.0", "zero")
    wide = body.padded(("%x", x), zero, [0, pad, pad, 0, 0, 0], 1, size + 2 * pad, size + 2 * pad, 4, 4, ci)
    stride = f" * {s['stride']}" if s["stride"] > 1 else ""
    y = body.contraction("n, h, w, i, j, f, y, x, c, m", [f"n, h{stride} + y, w{stride} + x, i, m, c", "y, x, m, j, c, f", "n, h, w, i, j, f"],
                         "pppppprrrr", [wide, ("%w", w)], body.filled(zero, 1, out, out, 4, 4, co))
    return function(operator.name, [("x", x), ("w", w)], body, y)


def matmul_mlir(operator):
    s = operator.shape
    if operator.narrow:
        return narrow_matmul_mlir(operator)
    batch = [1] if s["batched"] else []
    a, b = tensor(*batch, s["m"], s["k"]), tensor(*batch, s["k"], s["n"])
    body = Body()
    out, kind = body.filled(body.number("0.0", "zero"), *batch, s["m"], s["n"])
    named = "linalg.batch_matmul" if batch else "linalg.matmul"
    y = body.add(f"{named} ins(%a, %b : {a}, {b}) outs({out} : {kind}) -> {kind}", kind)
    return function(operator.name, [("a", a), ("b", b)], body, y)


def narrow_matmul_mlir(operator):
    """Operands are widened where they are multiplied; bytes are unsigned where the extension says so."""
    s = operator.shape
    of_a, of_b, of_c = operator.dtypes
    a, b, c = tensor(s["m"], s["k"], dtype=of_a), tensor(s["k"], s["n"], dtype=of_b), tensor(s["m"], s["n"], dtype=of_c)
    widen = {"u8": "extui", "i8": "extsi", "bf16": "extf"}
    kind = "f" if of_c == "f32" else "i"
    signless = lambda dtype: dtype.replace("u8", "i8")
    zero = "0.0" if kind == "f" else "0"
    return f"""func.func @{operator.name}(%a: {a}, %b: {given_weights(s, b)}) -> {c} {{
  %zero = arith.constant {zero} : {of_c}
  %0 = tensor.empty() : {c}
  %1 = linalg.fill ins(%zero : {of_c}) outs(%0 : {c}) -> {c}
  %2 = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}} ins(%a, %b : {a}, {b}) outs(%1 : {c}) {{
    ^bb0(%x: {signless(of_a)}, %y: {of_b}, %out: {of_c}):
      %u = arith.{widen[of_a]} %x : {signless(of_a)} to {of_c}
      %v = arith.{widen[of_b]} %y : {of_b} to {of_c}
      %product = arith.mul{kind} %u, %v : {of_c}
      %sum = arith.add{kind} %out, %product : {of_c}
      linalg.yield %sum : {of_c}
    }} -> {c}
  return %2 : {c}
}}
"""


GELU_OF_D = ["%s = arith.mulf %d, %root : f32", "%e = math.erf %s : f32", "%g = arith.addf %e, %one : f32",
             "%h = arith.mulf %g, %half : f32", "%r = arith.mulf %d, %h : f32"]


def gelu_numbers(body):
    for value, hint in (("0.5", "half"), ("1.0", "one"), ("0.70710678118654757", "root")):
        body.number(value, hint)


def dense_gelu_mlir(operator):
    m, n, k = (operator.shape[key] for key in "mnk")
    a, w, bias = tensor(m, k), tensor(k, n), tensor(n)
    body = Body()
    zero = body.number("0.0", "zero")
    gelu_numbers(body)
    out, kind = body.filled(zero, m, n)
    c = body.add(f"linalg.matmul ins(%x, %w : {a}, {w}) outs({out} : {kind}) -> {kind}", kind)
    y = body.generic("i, j", ["i, j", "j", "i, j"], "pp", [c, ("%bias", bias)], body.empty(m, n),
                     ["%d = arith.addf %a, %b : f32", *GELU_OF_D], "%r")
    return function(operator.name, [("x", a), ("w", w), ("bias", bias)], body, y)


def attention_scores_mlir(operator):
    s, h, d = (operator.shape[key] for key in ("sequence", "heads", "width"))
    kind = tensor(1, s, h, d)
    body = Body()
    zero = body.number("0.0", "zero")
    q = body.generic("b, h, s, d", ["b, s, h, d", "b, h, s, d"], "pppp", [("%q", kind)], body.empty(1, h, s, d), [], "%a")
    k = body.generic("b, h, d, s", ["b, s, h, d", "b, h, d, s"], "pppp", [("%k", kind)], body.empty(1, h, d, s), [], "%a")
    y = body.contraction("b, h, i, j, d", ["b, h, i, d", "b, h, d, j", "b, h, i, j"], "ppppr", [q, k], body.filled(zero, 1, h, s, s))
    return function(operator.name, [("q", kind), ("k", kind)], body, y)


def softmax_mlir(operator):
    m, n = operator.shape["m"], operator.shape["n"]
    body = Body()
    zero, low = body.number("0.0", "zero"), body.number("0xFF800000", "low")
    x = ("%x", tensor(m, n))
    top = body.generic("i, j", ["i, j", "i"], "pr", [x], body.filled(low, m), ["%t = arith.maximumf %a, %out : f32"], "%t")
    powers = body.generic("i, j", ["i, j", "i", "i, j"], "pp", [x, top], body.empty(m, n),
                          ["%d = arith.subf %a, %b : f32", "%e = math.exp %d : f32"], "%e")
    total = body.generic("i, j", ["i, j", "i"], "pr", [powers], body.filled(zero, m), ["%s = arith.addf %a, %out : f32"], "%s")
    y = body.generic("i, j", ["i, j", "i", "i, j"], "pp", [powers, total], body.empty(m, n), ["%q = arith.divf %a, %b : f32"], "%q")
    return function(operator.name, [("x", tensor(m, n))], body, y)


def norm_mlir(operator):
    m, n = operator.shape["m"], operator.shape["n"]
    body = Body()
    zero = body.number("0.0", "zero")
    total = body.generic("b, i, j", ["b, i, j", "b"], "prr", [("%x", tensor(1, m, n))], body.filled(zero, 1),
                         ["%p = arith.mulf %a, %a : f32", "%s = arith.addf %out, %p : f32"], "%s")
    y = body.generic("b", ["b", "b"], "p", [total], body.empty(1), ["%r = math.sqrt %a : f32"], "%r")
    return function(operator.name, [("x", tensor(1, m, n))], body, y)


def layer_norm_mlir(operator):
    m, n = operator.shape["m"], operator.shape["n"]
    row, x, scale, offset = tensor(n), ("%x", tensor(m, n)), ("%scale", tensor(n)), ("%offset", tensor(n))
    body = Body()
    zero = body.number("0.0", "zero")
    body.number(f"{n}.0", "n")
    body.number("1.0e-05", "epsilon")
    total = body.generic("i, j", ["i, j", "i"], "pr", [x], body.filled(zero, m), ["%s = arith.addf %a, %out : f32"], "%s")
    mean = body.generic("i", ["i", "i"], "p", [total], body.empty(m), ["%q = arith.divf %a, %n : f32"], "%q")
    squares = body.generic("i, j", ["i, j", "i", "i"], "pr", [x, mean], body.filled(zero, m),
                           ["%d = arith.subf %a, %b : f32", "%p = arith.mulf %d, %d : f32", "%s = arith.addf %p, %out : f32"], "%s")
    factor = body.generic("i", ["i", "i"], "p", [squares], body.empty(m),
                          ["%q = arith.divf %a, %n : f32", "%v = arith.addf %q, %epsilon : f32", "%r = math.rsqrt %v : f32"], "%r")
    y = body.generic("i, j", ["i, j", "i", "i", "j", "j", "i, j"], "pp", [x, mean, factor, scale, offset], body.empty(m, n),
                     ["%p = arith.subf %a, %b : f32", "%q = arith.mulf %p, %c : f32", "%r = arith.mulf %q, %d : f32",
                      "%s = arith.addf %r, %e : f32"], "%s")
    return function(operator.name, [("x", x[1]), ("scale", row), ("offset", row)], body, y)


def gelu_mlir(operator):
    m, n = operator.shape["m"], operator.shape["n"]
    body = Body()
    gelu_numbers(body)
    y = body.generic("i, j", ["i, j", "i, j"], "pp", [("%x", tensor(m, n))], body.empty(m, n),
                     [line.replace("%d", "%a") for line in GELU_OF_D], "%r")
    return function(operator.name, [("x", tensor(m, n))], body, y)


def batch_norm_relu_mlir(operator):
    c, h, w = (operator.shape[key] for key in "chw")
    channel, names = tensor(c), ("scale", "offset", "mean", "variance")
    body = Body()
    body.number("0.0", "zero")
    body.number("1.0e-05", "epsilon")
    factor = body.generic("f", ["f", "f", "f"], "p", [("%variance", channel), ("%scale", channel)], body.empty(c),
                          ["%v = arith.addf %a, %epsilon : f32", "%q = math.rsqrt %v : f32", "%r = arith.mulf %q, %b : f32"], "%r")
    x = ("%x", tensor(1, c, h, w))
    y = body.generic("n, f, h, w", ["n, f, h, w", "f", "f", "f", "n, f, h, w"], "pppp",
                     [x, ("%mean", channel), factor, ("%offset", channel)], body.empty(1, c, h, w),
                     ["%s = arith.subf %a, %b : f32", "%p = arith.mulf %s, %c : f32", "%q = arith.addf %p, %d : f32",
                      "%r = arith.maximumf %q, %zero : f32"], "%r")
    return function(operator.name, [("x", x[1])] + [(name, channel + " {kiln.constant}") for name in names], body, y)


MAKERS = {"conv": conv_mlir, "transposed": transposed_mlir, "capsule": capsule_mlir, "matmul": matmul_mlir,
          "dense-gelu": dense_gelu_mlir, "attention-scores": attention_scores_mlir, "softmax": softmax_mlir, "norm": norm_mlir,
          "layer-norm": layer_norm_mlir, "gelu": gelu_mlir, "batch-norm-relu": batch_norm_relu_mlir}


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "--write"
    stale = []
    for operator in operators().values():
        text = MAKERS[operator.kind](operator)
        if mode == "--list":
            print(f"{operator.name:18} {operator.flops / 1e6:10.2f} MFLOP {operator.bytes / 1e6:8.2f} MB  {operator.shape}")
        elif mode == "--write":
            operator.file.write_text(text)
        elif mode == "--check":
            stale += [] if operator.file.exists() and operator.file.read_text() == text else [operator.name]
        else:
            sys.exit(__doc__)
    if stale:
        sys.exit(f"bench/operators: {', '.join(stale)}: not as operators.py writes them; run it again")


if __name__ == "__main__":
    main()
