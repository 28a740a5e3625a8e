"""ONNX Runtime on one thread, inputs and result bound beforehand."""
from peers import onnx_models

PACKAGES = ["onnxruntime==1.31.1", "onnx==1.23.2", "numpy"]


def covers(operator):
    return True


def make(operator, folder):
    import onnxruntime as runtime
    model, activations, result = onnx_models.model(operator)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    bound = session.io_binding()
    for name, array in activations.items():
        bound.bind_cpu_input(name, array)
    bound.bind_output("y", "cpu")

    def call(times):
        for _ in range(times):
            session.run_with_iobinding(bound)

    return call, lambda: result(bound.copy_outputs_to_cpu()[0])
