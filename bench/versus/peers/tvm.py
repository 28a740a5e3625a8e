"""TVM's MetaSchedule on one core: 64 trials a round, the builder without what plain float32 never uses, all else as it comes."""
import os
import re
import time

from peers import arrays

PACKAGES = ["--no-deps apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.14.post0 xgboost==3.2.0",
            "ml_dtypes numpy typing_extensions psutil cloudpickle tornado scipy packaging"]


SUITE = {"conv", "transposed", "capsule", "matmul", "attention-scores", "softmax", "dense-gelu", "norm"}


def covers(operator):
    """What TVM's suite of workloads has, which with channels first is plain convolutions of images."""
    s = operator.shape
    if operator.kind not in SUITE:
        return False
    plain = operator.kind == "conv" and len(s["spatial"]) == 2 and s["groups"] == s["dilation"] == 1 and not s.get("bn_relu")
    return plain or not s.get("channels_first")


def target():
    import tvm
    told = os.popen("clang++-22 -march=native -E -v -x c++ /dev/null 2>&1").read()
    cpu = re.search(r'"?-target-cpu"? "?([\w-]+)', told).group(1)  # fails if none: TVM would silently use SSE2
    return tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": 1})


def dense_gelu(m, n, k):
    """With TVM's rational erf: te.erf is a call of libm for each element."""
    from tvm import te, topi
    x, w, bias = te.placeholder((m, k)), te.placeholder((k, n)), te.placeholder((n,))
    over = te.reduce_axis((0, k))
    product = te.compute((m, n), lambda i, j: te.sum(x[i, over] * w[over, j], over))
    dense = te.compute((m, n), lambda i, j: product[i, j] + bias[j])
    erf = topi.fast_erf(te.compute((m, n), lambda i, j: dense[i, j] * 0.70710678118654757))
    return x, w, bias, te.compute((m, n), lambda i, j: dense[i, j] * (0.5 * (erf[i, j] + 1.0)))


def workload(operator):
    from tvm import te
    from tvm.s_tir.meta_schedule.testing import te_workload as suite
    s, family = operator.shape, operator.name[:3]
    if operator.kind == "conv":
        numbers = [1, *s["spatial"], s["ci"], s["co"], s["k"], s["stride"], s["pad"], s["dilation"], s["groups"]]
        if s["channels_first"]:
            made = suite.conv2d_nchw(1, *s["spatial"], s["ci"], s["co"], s["k"], s["k"], s["stride"], s["pad"])
        elif s["groups"] == s["ci"]:
            made = suite.depthwise_conv2d_nhwc(1, *s["spatial"], s["ci"], s["k"], s["stride"], s["pad"])
        else:
            maker = {"C1D": suite.conv1d_nlc, "C3D": suite.conv3d_ndhwc, "CBR": suite.conv2d_nhwc_bn_relu}.get(family, suite.conv2d_nhwc)
            made = maker(*(numbers[:-2] if family == "CBR" else numbers))
    elif operator.kind == "transposed":
        made = suite.conv2d_transpose_nhwc(1, *s["spatial"], s["ci"], s["co"], s["k"], s["stride"], s["pad"])
    elif operator.kind == "capsule":
        made = suite.conv2d_capsule_nhwijc(1, *s["spatial"], s["ci"], s["co"], s["k"], s["stride"], s["pad"])
    elif operator.kind == "matmul":
        made = suite.batch_matmul_nkkm(1, s["m"], s["n"], s["k"])
    elif operator.kind == "attention-scores":
        made = suite.transpose_batch_matmul(1, s["sequence"], s["heads"], s["width"])
    elif operator.kind == "softmax":
        made = suite.softmax_mn(s["m"], s["n"])
    elif operator.kind == "dense-gelu":
        made = dense_gelu(s["m"], s["n"], s["k"])
    else:
        made = suite.norm_bmn(1, s["m"], s["n"])
    return te.create_prim_func(made)


def tune(operator, trials, seed, folder):
    import tvm
    from tvm.s_tir import meta_schedule as ms

    def light_build(module, to, _parameters):  # a local function is pickled by value for the builder
        from tvm.driver import build
        from tvm.s_tir.transform import RemoveWeightLayoutRewriteBlock
        return build(RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(module), target=to)

    function, machine = workload(operator), target()
    start = time.perf_counter()  # TVM's import is not counted
    database = ms.tir_integration.tune_tir(
        mod=function, target=machine, work_dir=str(folder / operator.name), max_trials_global=trials, num_trials_per_iter=64,
        num_tuning_cores=1, seed=seed + 1, builder=ms.builder.LocalBuilder(max_workers=1, timeout_sec=120.0, f_build=light_build),
        runner=ms.runner.LocalRunner(timeout_sec=120.0))
    seconds = time.perf_counter() - start
    best = ms.tir_integration.compile_tir(database, function, machine)
    tvm.compile(best.mod, target=machine).export_library(str(folder / f"{operator.name}.so"))
    return seconds


def make(operator, folder):
    import tvm
    library = tvm.runtime.load_module(str(folder / f"{operator.name}.so"))
    given, out = arrays.inputs(operator), arrays.empty_result(operator)
    if operator.shape.get("batched") is False:
        given, out = [array[None] for array in given], out[None]
    if operator.shape.get("groups", 1) == operator.shape.get("ci") and operator.kind == "conv":
        given[1] = given[1][None]
    if operator.shape.get("bn_relu"):
        given[3:5] = given[4], given[3]  # the suite takes the offset before the scale
    tensors = [tvm.runtime.tensor(array, tvm.cpu()) for array in (*given, out)]

    def call(times):
        for _ in range(times):
            library["main"](*tensors)

    return call, lambda: tensors[-1].numpy().reshape(arrays.result_shape(operator))
