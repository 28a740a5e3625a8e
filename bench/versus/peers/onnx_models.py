"""An operator as an ONNX model: activations channels first, weights constant, so that a runtime may prepare them."""
from peers import arrays


def model(operator):
    """(serialized model, activations, result as Kiln has it from the model's)."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    s, given = operator.shape, arrays.inputs(operator)
    nodes, constants, activations = [], [], {}
    result = lambda y: y

    def constant(name, array):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))

    def node(kind, names, out, **attributes):
        nodes.append(helper.make_node(kind, names, [out], **attributes))

    if operator.kind in ("conv", "transposed", "capsule"):
        rank, x, w = len(s["spatial"]), given[0], given[1]
        to_last = (0, *range(2, rank + 2), 1)
        if operator.kind == "capsule":  # rows of the matrices are a batch, their columns are channels
            out = (4, 4, s["co"], *s["out"])
            x = x[0].transpose(2, 3, 4, 0, 1).reshape(4, 4 * s["ci"], *s["spatial"])
            w = w.transpose(3, 5, 2, 4, 0, 1).reshape(4 * s["co"], 4 * s["ci"], s["k"], s["k"])
            result = lambda y: y.reshape(out).transpose(3, 4, 0, 1, 2)[None]
        elif not s.get("channels_first"):
            x = x.transpose(0, rank + 1, *range(1, rank + 1))
            if s.get("groups", 1) == s["ci"]:
                w = w.transpose(rank, *range(rank))[:, None]
            elif operator.kind == "transposed":
                w = w.transpose(2, 3, 0, 1)
            else:
                w = w.transpose(rank + 1, rank, *range(rank))
            result = lambda y: y.transpose(to_last)
        elif s.get("groups", 1) == s["ci"]:
            w = w[:, None]
        activations["x"] = np.ascontiguousarray(x)
        attributes = dict(strides=[s["stride"]] * rank, pads=[s["pad"]] * 2 * rank)
        if operator.kind == "conv":
            attributes.update(dilations=[s["dilation"]] * rank, group=s["groups"])
        names = ["x", "w"]
        if s.get("bn_relu"):
            scale = given[3][:, *[None] * (rank + 1)]
            w = w * scale
            constant("bias", given[2] * given[3] + given[4])
            names.append("bias")
        constant("w", w)
        node("ConvTranspose" if operator.kind == "transposed" else "Conv", names, "sum" if s.get("bn_relu") else "y", **attributes)
        if s.get("bn_relu"):
            node("Relu", ["sum"], "y")
    elif operator.kind == "matmul":
        activations.update(a=given[0], b=given[1])
        node("MatMul", ["a", "b"], "y")
    elif operator.kind == "dense-gelu":
        activations["a"] = given[0]
        constant("w", given[1])
        constant("bias", given[2])
        node("MatMul", ["a", "w"], "product")
        node("Add", ["product", "bias"], "sum")
        node("Gelu", ["sum"], "y")
    elif operator.kind == "attention-scores":
        activations.update(q=given[0], k=given[1])
        node("Transpose", ["q"], "qt", perm=[0, 2, 1, 3])
        node("Transpose", ["k"], "kt", perm=[0, 2, 3, 1])
        node("MatMul", ["qt", "kt"], "y")
    elif operator.kind == "softmax":
        activations["x"] = given[0]
        node("Softmax", ["x"], "y", axis=1)
    elif operator.kind == "gelu":
        activations["x"] = given[0]
        node("Gelu", ["x"], "y")
    elif operator.kind == "layer-norm":
        activations["x"] = given[0]
        constant("scale", given[1])
        constant("offset", given[2])
        node("LayerNormalization", ["x", "scale", "offset"], "y", axis=-1, epsilon=1e-5)
    elif operator.kind == "batch-norm-relu":
        activations["x"] = given[0]
        names = ["scale", "offset", "mean", "variance"]
        for name, array in zip(names, given[1:]):
            constant(name, array)
        node("BatchNormalization", ["x", *names], "sum", epsilon=1e-5)
        node("Relu", ["sum"], "y")
    else:
        activations["x"] = given[0]
        constant("axes", np.array([1, 2], np.int64))
        node("ReduceL2", ["x", "axes"], "y", keepdims=0)
    graph = helper.make_graph(nodes, operator.name,
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in activations.items()],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    made.ir_version = 10
    return made.SerializeToString(), activations, result
