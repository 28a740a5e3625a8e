"""OpenVINO on one stream of one thread, in float32."""
from peers import onnx_models

PACKAGES = ["openvino==2026.4.1", "onnx==1.23.2", "numpy"]


def covers(operator):
    return True


def make(operator, folder):
    import numpy as np
    import openvino
    model, activations, result = onnx_models.model(operator)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model, b""), "CPU",
                                  {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
                                   "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False})
    request = compiled.create_infer_request()
    for name, array in activations.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=True))

    def call(times, keep=(model, activations)):  # `keep`: the request only refers to these
        for _ in range(times):
            request.infer()

    return call, lambda: result(np.array(request.get_output_tensor(0).data))
