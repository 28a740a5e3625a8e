"""Times the operators of a day with a GPU in PyTorch, which calls cuBLAS and cuDNN, and in Triton, if they are there.

  peers.py [--seconds N]

Prints a JSON object a line: {"item": "peer", "operator", "library", "seconds", "samples"}, or {"item": "problem"} with the
reason. tf32 is off. As kiln-gpu-runner, it uses copies of the inputs in turn that are three times the second cache, and
repeats until a sample takes 200 us. A CUDA graph holds the calls, so that Python takes no time between them.
"""
import argparse
import json
import math
import statistics
import time

SAMPLES = 10
SAMPLE_SECONDS = 200e-6
CACHE_BYTES = 3 * (50 << 20)


def say(**line):
    print(json.dumps(line), flush=True)


def operators(torch):
    """For each operator: the shapes of its inputs, and its function."""
    F = torch.nn.functional
    conv = {'torch_conv1d_ncl': ((1, 64, 256), (128, 64, 3), lambda x, w: F.conv1d(x, w, stride=2, padding=1)),
            'torch_conv2d_dilated': ((1, 3, 224, 224), (64, 3, 7, 7),
                                     lambda x, w: F.conv2d(x, w, stride=2, padding=3, dilation=2)),
            'torch_conv2d_depthwise': ((1, 32, 112, 112), (32, 1, 3, 3),
                                       lambda x, w: F.conv2d(x, w, padding=1, groups=32)),
            'torch_conv2d_transposed': ((1, 512, 4, 4), (512, 256, 4, 4),
                                        lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1)),
            'torch_conv3d': ((1, 3, 16, 224, 224), (64, 3, 7, 7, 7),
                             lambda x, w: F.conv3d(x, w, stride=2, padding=3))}
    found = {name: ([x, w], call) for name, (x, w, call) in conv.items()}
    # Channels last: PyTorch has the same data as NCHW with other strides.
    last = lambda x: x.permute(0, 3, 1, 2)
    found['jax_conv2d_nhwc_3x3_bias_relu'] = (
        [(1, 56, 56, 64), (3, 3, 64, 64), (64,)],
        lambda x, w, b: F.relu(F.conv2d(last(x), w.permute(3, 2, 0, 1), b, padding=1)))
    found['jax_conv2d_group4'] = (
        [(1, 56, 56, 64), (3, 3, 16, 128)],
        lambda x, w: F.conv2d(last(x), w.permute(3, 2, 0, 1), stride=2, padding=1, groups=4))
    for n in (1024, 4096):
        name = 'torch_matmul_1024' if n == 1024 else 'matmul_4096'
        found[name] = ([(n, n), (n, n)], torch.mm)
    found['torch_bmm_12x128x64'] = ([(12, 128, 64), (12, 64, 128)], torch.bmm)
    found['torch_transpose_batch_gemm'] = (
        [(1, 128, 12, 64), (1, 128, 12, 64)],
        lambda a, b: torch.matmul(a.permute(0, 2, 1, 3), b.permute(0, 2, 3, 1)))
    found['torch_matvec_4096'] = ([(4096, 4096), (4096,)], torch.mv)
    found['torch_dense_bias_gelu'] = ([(128, 768), (3072, 768), (3072,)], lambda x, w, b: F.gelu(F.linear(x, w, b)))
    found['torch_softmax'] = ([(256, 256)], lambda x: torch.softmax(x, -1))
    found['torch_layernorm'] = ([(1, 128, 768), (768,), (768,)], lambda x, w, b: F.layer_norm(x, (768,), w, b))
    found['softmax_8192x4096'] = ([(8192, 4096)], lambda x: torch.softmax(x, -1))
    found['layernorm_65536x768'] = ([(1, 65536, 768), (768,), (768,)], lambda x, w, b: F.layer_norm(x, (768,), w, b))
    found['bias_gelu_16384x3072'] = ([(16384, 3072), (3072,)], lambda x, b: F.gelu(x + b))
    found['transpose_8192'] = ([(8192, 8192)], lambda x: x.t().contiguous())
    found['permute_0231'] = ([(32, 1024, 16, 128)], lambda x: x.permute(0, 2, 3, 1).contiguous())
    found['add_transposed_8192'] = ([(8192, 8192), (8192, 8192)], lambda x, z: x.t() + z)
    found['sum_rows_8192'] = ([(8192, 8192)], lambda x: x.sum(-1))
    found['copy_2^26'] = ([(1 << 26,)], torch.clone)
    return found


def times(torch, shapes, call):
    """The seconds of a call, in samples."""
    size = sum(4 * math.prod(shape) for shape in shapes)
    copies = max(1, min(64, CACHE_BYTES // size))
    inputs = [[torch.randn(*shape, device='cuda') for shape in shapes] for _ in range(copies)]
    for one in inputs:  # untimed: libraries choose their kernels here
        call(*one)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = [call(*one) for one in inputs]
    sample = lambda runs: time_of(torch, graph, runs) / runs / len(outputs)
    sample(1)
    runs = max(1, math.ceil(SAMPLE_SECONDS / max(time_of(torch, graph, 1), 1e-9)))
    return [sample(runs) for _ in range(SAMPLES)]


def time_of(torch, graph, runs):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(runs):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e-3


def triton_product():
    """A product of f32 without tf32, with tiles that Triton's tutorial has."""
    global tl
    import triton
    import triton.language as tl

    @triton.autotune(configs=[triton.Config({'BM': bm, 'BN': bn, 'BK': bk}, num_warps=warps, num_stages=stages)
                              for bm, bn, bk, warps, stages in ((128, 128, 16, 8, 3), (128, 64, 32, 4, 3),
                                                                (64, 64, 32, 4, 4), (64, 32, 32, 4, 4))],
                     key=['M', 'N', 'K'])
    @triton.jit
    def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        i = tl.program_id(0) * BM + tl.arange(0, BM)
        j = tl.program_id(1) * BN + tl.arange(0, BN)
        k = tl.arange(0, BK)
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, K, BK):
            left = tl.load(a + i[:, None] * K + (step + k)[None, :])
            right = tl.load(b + (step + k)[:, None] * N + j[None, :])
            sums += tl.dot(left, right, input_precision='ieee')
        tl.store(c + i[:, None] * N + j[None, :], sums)

    def call(a, b):
        m, n, k = a.shape[0], b.shape[1], a.shape[1]
        c = a.new_empty((m, n))
        kernel[lambda meta: (m // meta['BM'], n // meta['BN'])](a, b, c, m, n, k)
        return c

    return 'triton ' + triton.__version__, call


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seconds', type=float, default=90)
    end = time.monotonic() + parser.parse_args().seconds
    try:
        import torch
    except ImportError:
        return say(item='problem', text='no torch, so no peers')
    if not torch.cuda.is_available():
        return say(item='problem', text='torch sees no GPU, so no peers')
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    calls = [('torch ' + torch.__version__, name, shapes, call) for name, (shapes, call) in operators(torch).items()]
    try:
        library, call = triton_product()
        calls += [(library, name, shapes, call) for _, name, shapes, _ in calls if name.find('matmul_') >= 0]
    except ImportError:
        say(item='problem', text='no triton')
    for library, name, shapes, call in calls:
        if time.monotonic() > end:
            say(item='problem', text=f'no time was left for {library} on {name}')
            continue
        try:
            samples = times(torch, shapes, call)
            say(item='peer', operator=name, library=library, seconds=statistics.median(samples), samples=samples)
        except Exception as error:  # this kernel failed; the others go on
            say(item='problem', text=f'{library} on {name}: {type(error).__name__}: {error}')


if __name__ == '__main__':
    main()
