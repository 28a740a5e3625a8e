"""ONNX Runtime, inputs and results bound beforehand."""
from peers import onnx_models

PACKAGES, READS = ["onnxruntime==1.32.0", "onnx==1.23.2", "numpy"], ".onnx"


def make(job):
    import onnxruntime as runtime

    model, inputs, job.same = onnx_models.with_weights(job.twin, job.given)
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = job.threads, 1
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    bound = session.io_binding()
    for name, value in inputs.items():
        bound.bind_cpu_input(name, value)
    for output in session.get_outputs():
        bound.bind_output(output.name, "cpu")
    return lambda: session.run_with_iobinding(bound), bound.copy_outputs_to_cpu
