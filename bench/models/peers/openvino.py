"""OpenVINO for latency: one stream, in float32."""
from peers import onnx_models

PACKAGES, READS = ["openvino==2026.4.1", "onnx==1.23.2", "numpy"], ".onnx"
SETTINGS = {"NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}


def make(job):
    import openvino

    model, inputs, job.same = onnx_models.with_weights(job.twin, job.given)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString(), b""), "CPU",
                                  SETTINGS | {"INFERENCE_NUM_THREADS": job.threads})
    request = compiled.create_infer_request()
    for name, value in inputs.items():
        request.set_tensor(name, openvino.Tensor(value, shared_memory=True))
    run = lambda: request.infer(share_inputs=True, share_outputs=True)
    return run, lambda: [request.get_output_tensor(k).data for k in range(len(compiled.outputs))]
