"""Models in the frameworks that compare.py knows, by the ending of the file. Each needs its own packages.

  .onnx    ONNX Runtime (onnx, onnxruntime)
  .tflite  LiteRT with XNNPACK (ai-edge-litert)
  .pt2     PyTorch, a program that torch.export.save wrote (torch)
  .mlir    XLA, a module of StableHLO (jax, jaxlib)

A model is made of the arguments that Kiln's function gets: pairs of a role and an array, in order. `same` says whether
the framework gets the same data. `run` leaves the results in `results`.
"""
import importlib.metadata
import pathlib

import numpy

NUMPY = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "i1": "u1", "index": "i8"}


def drawn(shape, dtype, generator, is_constant):
    """Matrices and filters are such that activations neither grow nor shrink (He et al., 2015); scales, shifts and
    variances are positive; indices are 0 and 1."""
    if not dtype.startswith("f"):
        return generator.integers(0, 2, shape).astype(NUMPY[dtype])
    if is_constant and len(shape) > 1:
        fan = max(1, numpy.prod(shape) // max(shape))
        return (generator.standard_normal(shape) * (2 / fan) ** 0.5).astype(NUMPY[dtype])
    return generator.uniform(0.5 if is_constant else -1, 1.5 if is_constant else 1, shape).astype(NUMPY[dtype])


class OnnxModel:
    """If the inputs of the graph are the arguments in order, it gets the same data. Graph inputs after the first `inputs`
    become initializers."""

    def __init__(self, path, given, inputs):
        import onnx
        import onnxruntime

        self.name = f"onnxruntime {onnxruntime.__version__}"
        model = onnx.load(path)
        graph, generator = model.graph, numpy.random.default_rng(0)
        there = {initializer.name for initializer in graph.initializer}
        asked = [i for i in graph.input if i.name not in there]
        shapes = [[d.dim_value or 1 for d in i.type.tensor_type.shape.dim] for i in asked]
        self.same = shapes == [list(value.shape) for _, value in given]
        self.inputs = {}
        for position, (i, shape) in enumerate(zip(asked, shapes)):
            dtype = onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
            name = next(n for n, numpys in NUMPY.items() if numpy.dtype(numpys) == dtype)
            value = given[position][1] if self.same else drawn(shape, name, generator, position >= inputs)
            if position < inputs:
                self.inputs[i.name] = value
            else:
                graph.initializer.append(onnx.numpy_helper.from_array(value, i.name))
                graph.input.remove(i)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                    providers=["CPUExecutionProvider"])

    def run(self):
        self.results = self.session.run(None, self.inputs)


class TfliteModel:
    """Its weights are in the file, as they are in Kiln's."""

    def __init__(self, path, given, inputs):
        from ai_edge_litert.interpreter import Interpreter

        self.name = f"ai-edge-litert {importlib.metadata.version('ai-edge-litert')}"
        self.interpreter = Interpreter(model_path=path, num_threads=1)
        self.interpreter.allocate_tensors()
        details = self.interpreter.get_input_details()
        values = [value for role, value in given if role == "input"]
        self.same = [list(d["shape"]) for d in details] == [list(v.shape) for v in values]
        for detail, value in zip(details, values):
            self.interpreter.set_tensor(detail["index"], value)

    def run(self):
        self.interpreter.invoke()
        self.results = [self.interpreter.get_tensor(d["index"]) for d in self.interpreter.get_output_details()]


class TorchModel:
    def __init__(self, path, given, inputs):
        import torch

        self.name, self.same = f"torch {torch.__version__}", True
        torch.set_num_threads(1)
        self.torch, self.module = torch, torch.export.load(path).module()
        self.inputs = [torch.from_numpy(value) for _, value in given]

    def run(self):
        with self.torch.no_grad():
            results = self.module(*self.inputs)
        self.results = [r.numpy() for r in (results if isinstance(results, (tuple, list)) else (results,))]


class XlaModel:
    def __init__(self, path, given, inputs):
        import jax
        from jax._src.interpreters import mlir
        from jax._src.lib import xla_client
        from jaxlib.mlir import ir

        self.name, self.same = f"jaxlib {importlib.metadata.version('jaxlib')}", True
        self.device = jax.devices("cpu")[0]
        with mlir.make_ir_context():
            module = mlir.module_to_bytecode(ir.Module.parse(pathlib.Path(path).read_text()))
        self.compiled = self.device.client.compile_and_load(module, xla_client.DeviceList((self.device,)),
                                                            xla_client.CompileOptions())
        self.inputs = [jax.device_put(value, self.device) for _, value in given]

    def run(self):
        self.results = [numpy.asarray(result) for result in self.compiled.execute(self.inputs)]


def peer_of(path, given, inputs):
    kinds = {".onnx": OnnxModel, ".tflite": TfliteModel, ".pt2": TorchModel, ".mlir": XlaModel}
    return kinds[pathlib.Path(path).suffix](path, given, inputs)
