"""LiteRT with XNNPACK. A .tflite holds its weights, as Kiln's file then does."""
PACKAGES, READS = ["ai-edge-litert==2.3.0", "numpy"], ".tflite"


def make(job):
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(job.twin), num_threads=job.threads)
    interpreter.allocate_tensors()
    details, values = interpreter.get_input_details(), [value for role, value in job.given if role == "input"]
    job.same = [list(d["shape"]) for d in details] == [list(v.shape) for v in values]
    for detail, value in zip(details, values):
        interpreter.set_tensor(detail["index"], value.astype(detail["dtype"]))
    return interpreter.invoke, lambda: [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
