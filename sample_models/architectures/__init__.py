"""The architectures in torch: modules in their random initial state, with example inputs. Needs torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn

DISTINCT = 0.02  # BERT's own initial scale, too small to change the size of activations


@dataclass(frozen=True)
class Blueprint:
    """The input of an exporter for one architecture."""

    build: Callable[[], nn.Module]
    inputs: dict[str, torch.Tensor]
    outputs: tuple[str, ...]
    dynamic: dict[str, dict[int, str]] = field(default_factory=dict)  # of inputs and outputs: axis and name

    def module(self, seed: int = 0) -> nn.Module:
        """Return the module with its random weights, ready for inference."""
        torch.manual_seed(seed)
        module = self.build().eval()
        with torch.no_grad():
            part_ways(module)
            settle_batch_norms(module, tuple(self.inputs.values()))
        if any(part.training for part in module.modules()):
            raise RuntimeError("a part of the module is in training mode: its export would hold Dropout")
        return module


def part_ways(module: nn.Module) -> None:
    """Add a little noise to parameters that start out constant (biases of 0, norms of 1).

    An exporter merges equal tensors and adds Identity nodes. A trained model has no equal tensors, so equal
    ones here would change the graph.
    """
    for parameter in module.parameters():
        if parameter.min() == parameter.max():
            parameter.add_(torch.randn_like(parameter), alpha=DISTINCT)


def settle_batch_norms(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    """Set the statistics of every batch norm from its input, one mean and one variance per layer.

    A new batch norm assumes mean 0 and variance 1. With small initial weights (0.02 in MobileNetV2) the
    signal fades to denormal numbers, which are slow; with large weights the signal explodes. One pass
    replaces the training that would settle the statistics.
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
