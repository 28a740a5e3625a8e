"""An ONNX model whose weights are in it, so that a runtime can prepare them."""
import numpy

from peers import data


def with_weights(path, given):
    """(the model, the values of its inputs by name, whether they and the weights are `given`). Graph inputs that stand at the
    places of constants become initializers. A graph with other inputs than the arguments gets data of its own."""
    import onnx

    model = onnx.load(path)
    graph, generator = model.graph, numpy.random.default_rng(0)
    there = {initializer.name for initializer in graph.initializer}
    asked = [i for i in graph.input if i.name not in there]
    shapes = [[d.dim_value or 1 for d in i.type.tensor_type.shape.dim] for i in asked]
    same, inputs = shapes == [list(value.shape) for _, value in given], {}
    for position, (i, shape) in enumerate(zip(asked, shapes)):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
        name = next(n for n, numpys in data.NUMPY.items() if numpy.dtype(numpys) == dtype)
        is_constant = position >= sum(role == "input" for role, _ in given)
        value = given[position][1] if same else data.drawn(shape, name, generator, is_constant)
        if is_constant:
            graph.initializer.append(onnx.numpy_helper.from_array(value, i.name))
            graph.input.remove(i)
        else:
            inputs[i.name] = value
    return model, inputs, same


def saved(job):
    """(the file with weights, in the folder of the job, and as above the values and whether they are the same)."""
    import onnx

    model, inputs, same = with_weights(job.twin, job.given)
    path = job.folder / "model.onnx"
    if not path.exists():
        onnx.save(model, path)
    return path, inputs, same
