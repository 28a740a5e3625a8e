"""Runs what `kiln export` or `kiln tune -o` made for a GPU, beside PyTorch: results against f64, and times in turns.

  exported.py FOLDER...

Each FOLDER has libNAME.so, where NAME is an operator of peers.py. Tensors of PyTorch are passed, on its stream. Prints a
JSON object a line: {"item": "exported", "operator", "seconds", "peer_seconds", "ratio": of PyTorch's time to Kiln's, "error":
|result - f64| / |f64|, "peer_error", "rounds"}. Exits with 1 if an error is above 1e-5, or a library failed.
"""
import ctypes
import glob
import json
import os
import statistics
import sys

import peers
import torch

ROUNDS = 5
MOST_ERROR = 1e-5


def exported(path, name):
    """The function of a library, on tensors; returns its output, which is as `like`."""
    library = ctypes.CDLL(path)
    function, error, bytes_of = library[name], library[name + '_error'], library[name + '_workspace_bytes']
    error.restype, bytes_of.restype = ctypes.c_char_p, ctypes.c_int64
    workspace = torch.empty(max(bytes_of(), 1), dtype=torch.uint8, device='cuda')

    def call(like, *inputs):
        output = torch.empty_like(like, memory_format=torch.contiguous_format)
        pointers = [x.data_ptr() for x in (*inputs, output, workspace)]
        stream = torch.cuda.current_stream().cuda_stream
        if function(*(ctypes.c_void_p(p) for p in (stream, *pointers))) != 0:
            raise RuntimeError(error().decode())
        return output

    return call


def distance(found, wanted):
    return float((found.double() - wanted).norm() / wanted.norm())


def compare(path):
    name = os.path.basename(path).removeprefix('lib').removesuffix('.so')
    shapes, peer = peers.operators(torch)[name]
    inputs = [torch.randn(*shape, device='cuda') for shape in shapes]
    wanted, by_peer = peer(*(x.double() for x in inputs)), peer(*inputs)
    function = exported(path, name)
    line = {'item': 'exported', 'operator': name, 'error': distance(function(by_peer, *inputs), wanted),
            'peer_error': distance(by_peer, wanted), 'torch': torch.__version__, 'gpu': torch.cuda.get_device_name()}
    del wanted
    own = lambda *x: function(by_peer, *x)
    rounds = [[statistics.median(peers.times(torch, shapes, call)) for call in (own, peer)] for _ in range(ROUNDS)]
    line['seconds'], line['peer_seconds'] = (statistics.median(times) for times in zip(*rounds))
    line['ratio'] = statistics.median(theirs / ours for ours, theirs in rounds)
    line['rounds'] = rounds
    print(json.dumps(line), flush=True)
    return line['error'] <= MOST_ERROR


def main():
    if len(sys.argv) == 1 or sys.argv[1] in ('-h', '--help'):
        sys.exit(print(__doc__) or 2)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    good = True
    for path in (path for folder in sys.argv[1:] for path in sorted(glob.glob(os.path.join(folder, 'lib*.so')))):
        try:
            good &= compare(os.path.abspath(path))
        except Exception as error:  # one library failed; the others go on
            print(json.dumps({'item': 'problem', 'text': f'{path}: {type(error).__name__}: {error}'}), flush=True)
            good = False
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
