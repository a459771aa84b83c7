"""A sample's architecture in torch with the weights of its ONNX file. Needs torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from sample_models.blueprints import blueprint
from sample_models.catalogue import SKELETONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WITH_WEIGHTS = ("MatMul", "Gemm", "Conv", "ConvTranspose")


def torch_module(name: str, path: str) -> nn.Module:
    """Return the module of a sample with the weights of its file."""
    return filled(_architecture(name), path)


def filled(module: nn.Module, path: str) -> nn.Module:
    """Put the weights of the file into the module; raise ValueError if one is not found there.

    A parameter is found by its own name, or by the node of its layer: the exporter transposes the weight of
    a Linear, and folds a batch norm into the convolution before it. A Linear that shares its weight with an
    embedding gets its own, since the file has both.
    """
    model = onnx.load(path)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    missing = dict(module.named_parameters())
    folded: set[str] = set()
    with torch.no_grad():
        for parameter_name, parameter in module.named_parameters():
            array = weights.get(parameter_name)
            if array is not None and array.shape == tuple(parameter.shape):
                parameter.copy_(_tensor(array))
                missing.pop(parameter_name)
        for buffer_name, buffer in module.named_buffers():
            array = weights.get(buffer_name)
            if array is not None and array.shape == tuple(buffer.shape):
                buffer.copy_(_tensor(array))
        for node in model.graph.node:
            if node.op_type in _WITH_WEIGHTS:
                _from_node(module, node, weights, missing, folded)
    if missing:
        raise ValueError(f"{path} has no weights for {', '.join(list(missing)[:5])}")
    return module


def _architecture(name: str) -> nn.Module:
    if name in SKELETONS:
        return blueprint(name).module()
    if name.startswith("digits-conv"):
        from sample_models.train_conv import ConvNet

        return ConvNet().eval()
    if name == "digits-vit":
        from sample_models.train_vit import Vit

        return Vit().eval()
    if name == "char-gpt":
        from sample_models.train_gpt import CharGpt

        return CharGpt().eval()
    raise ValueError(f"{name} is no sample with an architecture in torch")


def _from_node(
    module: nn.Module,
    node: onnx.NodeProto,
    weights: dict[str, NDArray[np.generic]],
    missing: dict[str, nn.Parameter],
    folded: set[str],
) -> None:
    """Fill the layer of a node from the weights that the node reads, where they were renamed."""
    path = _layer_path(module, node.name)
    if path is None:
        return
    layer = module.get_submodule(path)
    given = [weights.get(name) for name in node.input]
    if isinstance(layer, nn.Linear):
        is_shared = f"{path}.weight" not in dict(module.named_parameters())
        matrix = next((array for array in given[:2] if array is not None), None)
        if matrix is None or matrix.T.shape != tuple(layer.weight.shape):
            return
        if is_shared:
            layer.weight = nn.Parameter(_tensor(matrix.T))
        elif f"{path}.weight" in missing:
            layer.weight.copy_(_tensor(matrix.T))
            missing.pop(f"{path}.weight")
    elif isinstance(layer, nn.Conv2d) and f"{path}.weight" in missing and given[1] is not None:
        layer.weight.copy_(_tensor(given[1]))
        missing.pop(f"{path}.weight")
        _take_bias(module, path, layer, given[2] if len(given) > 2 else None, missing, folded)


def _take_bias(
    module: nn.Module,
    path: str,
    layer: nn.Conv2d,
    bias: NDArray[np.generic] | None,
    missing: dict[str, nn.Parameter],
    folded: set[str],
) -> None:
    """Put the bias of a convolution into it; the batch norm that was folded into it does nothing else."""
    norm_path = _norm_after(module, path, layer.out_channels, folded)
    norm = None if norm_path is None else module.get_submodule(norm_path)
    if norm_path is not None and isinstance(norm, nn.BatchNorm2d) and norm.running_var is not None:
        assert norm.running_mean is not None
        folded.add(norm_path)
        norm.weight.fill_(1.0)
        norm.bias.fill_(0.0)
        norm.running_mean.fill_(0.0)
        norm.running_var.fill_(1.0 - norm.eps)
        missing.pop(f"{norm_path}.weight", None)
        missing.pop(f"{norm_path}.bias", None)
        if layer.bias is None and bias is not None:
            norm.bias.copy_(_tensor(bias))
    if layer.bias is not None and bias is not None:
        layer.bias.copy_(_tensor(bias))
        missing.pop(f"{path}.bias", None)


def _norm_after(module: nn.Module, path: str, channels: int, folded: set[str]) -> str | None:
    """Return the next batch norm after a convolution, if no other convolution comes first."""
    names = list(dict(module.named_modules()))
    for name in names[names.index(path) + 1 :]:
        layer = module.get_submodule(name)
        if isinstance(layer, nn.BatchNorm2d):
            return name if layer.num_features == channels and name not in folded else None
        if isinstance(layer, nn.Conv2d):
            return None
    return None


def _layer_path(module: nn.Module, node_name: str) -> str | None:
    """Return the dotted path of the layer of a node called `/layers/layers.0/layers.0.0/Conv`."""
    path: list[str] = []
    before = ""
    for part in node_name.strip("/").split("/")[:-1]:
        path.append(part.removeprefix(f"{before}.") if before and part.startswith(f"{before}.") else part)
        before = part
    dotted = ".".join(path)
    try:
        module.get_submodule(dotted)
    except AttributeError:
        return None
    return dotted


def _tensor(array: NDArray[np.generic]) -> torch.Tensor:
    return torch.from_numpy(np.array(array))  # a copy: the array of a file is read-only
