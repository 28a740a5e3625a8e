#!/usr/bin/env python3
"""Exports networks of PyTorch's libraries in the formats that Kiln and its peers read: NAME.mlir (linalg on tensors) and
NAME.stablehlo.mlir by torch-mlir, NAME.onnx, and NAME.pt2 (torch.export).

    bench/models/export.py FOLDER [NAME...]

Each file takes the inputs of the network first, and then all of its weights and buffers, in one order, so that compare.py
can give all sides the same data. The .mlir says which arguments are constants. No file holds trained weights.

Needs torch, torchvision, transformers, torch-mlir, onnx and onnxscript.
"""
import argparse
import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.func import functional_call


class WeightsAsArguments(nn.Module):
    def __init__(self, module, inputs):
        super().__init__()
        state = dict(module.named_parameters()) | {
            name: value for name, value in module.named_buffers() if value.dim() or value.is_floating_point()}
        self.module, self.count, self.names = [module], len(inputs), list(state)  # nn.Module does not register lists
        self.arguments = (*inputs, *(value.detach() for value in state.values()))

    def forward(self, *arguments):
        weights = dict(zip(self.names, arguments[self.count:]))
        result = functional_call(self.module[0], weights, arguments[:self.count])
        return getattr(result, "last_hidden_state", result)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(256, 512)

    def forward(self, x, h, c):
        for step in range(x.shape[0]):
            h, c = self.cell(x[step], (h, c))
        return h, c


def dqn():
    """Mnih et al., 2015."""
    return nn.Sequential(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(),
                         nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 18)), [torch.randn(1, 4, 84, 84)]


def dcgan():
    """The generator of Radford et al., 2016."""
    channels = [100, 512, 256, 128, 64, 3]
    layers = []
    for k, (before, after) in enumerate(zip(channels, channels[1:])):
        layers.append(nn.ConvTranspose2d(before, after, 4, 2 if k else 1, 1 if k else 0, bias=False))
        layers += [nn.BatchNorm2d(after), nn.ReLU()] if k < 4 else [nn.Tanh()]
    return nn.Sequential(*layers), [torch.randn(1, 100, 1, 1)]


def of_torchvision(name):
    import torchvision

    return torchvision.models.get_model(name, weights=None), [torch.randn(1, 3, 224, 224)]


def bert_base():
    from transformers import BertConfig, BertModel

    return (BertModel(BertConfig(attn_implementation="eager"), add_pooling_layer=False),
            [torch.zeros(1, 128, dtype=torch.int64)])


NETWORKS = {"bert_base": bert_base, "mobilenet_v2": lambda: of_torchvision("mobilenet_v2"),
            "resnet50": lambda: of_torchvision("resnet50"), "resnet18": lambda: of_torchvision("resnet18"), "dqn": dqn,
            "dcgan": dcgan, "lstm_unrolled8": lambda: (Lstm(), [torch.randn(8, 1, 256), torch.randn(1, 512), torch.randn(1, 512)])}


def mark_constants(function, inputs):
    from torch_mlir import ir

    with function.context:
        marked, plain = ir.DictAttr.get({"kiln.constant": ir.UnitAttr.get()}), ir.DictAttr.get({})
        count = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([plain] * inputs + [marked] * (count - inputs))


def export(name, folder):
    from torch_mlir import fx

    torch.manual_seed(0)
    network, inputs = NETWORKS[name]()
    function = WeightsAsArguments(network.eval(), inputs).eval()
    with torch.no_grad():
        program = torch.export.export(function, function.arguments)
        torch.export.save(program, folder / f"{name}.pt2")
        torch.onnx.export(program, dynamo=True, verbose=False).save(folder / f"{name}.onnx")
        module = fx.export_and_import(program, output_type="linalg-on-tensors", func_name=name)
        stablehlo = fx.export_and_import(program, output_type="stablehlo", func_name="main")
    mark_constants(next(iter(module.body.operations)), len(inputs))
    (folder / f"{name}.mlir").write_text(f"{module}\n")
    (folder / f"{name}.stablehlo.mlir").write_text(f"{stablehlo}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NETWORKS))
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or NETWORKS:
        if name not in NETWORKS:
            sys.exit(f"there is no network {name}; known: {', '.join(NETWORKS)}")
        export(name, options.folder)
        print(name, flush=True)


if __name__ == "__main__":
    main()
