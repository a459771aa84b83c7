"""The architectures in torch: a module in its random initial state, with example inputs. Needs torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn

DISTINCT = 0.02  # BERT's own initial scale: far from what would change an activation's size


@dataclass(frozen=True)
class Blueprint:
    """What an exporter has to know of one architecture."""

    build: Callable[[], nn.Module]
    inputs: dict[str, torch.Tensor]
    outputs: tuple[str, ...]
    dynamic: dict[str, dict[int, str]] = field(default_factory=dict)  # of inputs and outputs: axis, its name

    def module(self, seed: int = 0) -> nn.Module:
        """The module with its random weights, ready for inference."""
        torch.manual_seed(seed)
        module = self.build().eval()
        with torch.no_grad():
            part_ways(module)
            settle_batch_norms(module, tuple(self.inputs.values()))
        if any(part.training for part in module.modules()):
            raise RuntimeError("a part of the module is in training mode: its export would hold Dropout")
        return module


def part_ways(module: nn.Module) -> None:
    """Move parameters that start out constant (biases of 0, norms of 1) a little, each its own way.

    An exporter merges equal tensors, and feeds the sharers through Identity nodes. In a trained model no two
    are equal, so neither may they be here, or the graph would not be the real one.
    """
    for parameter in module.parameters():
        if parameter.min() == parameter.max():
            parameter.add_(torch.randn_like(parameter), alpha=DISTINCT)


def settle_batch_norms(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    """Give every batch norm the statistics of what reaches it, one mean and one variance a layer.

    A fresh batch norm believes in mean 0 and variance 1. Where the initial weights are small (0.02 in
    MobileNetV2) the signal then fades to denormal numbers, which are slow; where they are large it explodes.
    Training would have settled it; one pass does too.
    """

    def settle(layer: nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
        assert isinstance(layer, nn.BatchNorm2d)
        assert layer.running_mean is not None
        assert layer.running_var is not None
        layer.running_mean.fill_(arguments[0].mean())
        layer.running_var.fill_(arguments[0].var())

    hooks = [
        layer.register_forward_pre_hook(settle)
        for layer in module.modules()
        if isinstance(layer, nn.BatchNorm2d)
    ]
    if hooks:
        module(*inputs)
    for hook in hooks:
        hook.remove()
