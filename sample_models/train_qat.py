"""Train the quantized digits net: `python -m sample_models.train_qat`. Needs the extra `torch`.

The training includes rounding and learns the scales like weights (learned step size quantization, Esser et
al. 2020); gradients pass through the rounding unchanged.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from sample_models.qdq import QuantizedLayer, write_qdq
from sample_models.train_conv import ConvNet, trained
from sample_models.training import (
    DIGITS_LICENCE,
    DIGITS_MEANINGS,
    digits,
    enlarge,
    fit,
    publish,
    target,
)

_NAME = "digits-conv-qat"
WEIGHT_LIMIT = 63  # seven bits: with eight, sums of two products overflow on processors without VNNI
_EPOCHS = 2


class Steps(nn.Module):
    """A quantizer of activations to 255 steps above zero, with a learned step size."""

    def __init__(self, largest: torch.Tensor) -> None:
        super().__init__()
        self.scale = nn.Parameter(largest / 255)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _rounded(torch.clamp(x / self.scale, 0, 255)) * self.scale


class Layer(nn.Module):
    """A convolution or linear layer with rounded input and weights."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, stride: int) -> None:
        super().__init__()
        self.weight, self.bias, self.stride = nn.Parameter(weight), nn.Parameter(bias), stride
        self.scale = nn.Parameter(weight.flatten(1).abs().amax(dim=1) / WEIGHT_LIMIT)
        self.steps = Steps(torch.tensor(1.0))

    def integers(self) -> torch.Tensor:
        steps = self.weight / self.scale.view(-1, *[1] * (self.weight.dim() - 1))
        return _rounded(torch.clamp(steps, -WEIGHT_LIMIT, WEIGHT_LIMIT))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.integers() * self.scale.view(-1, *[1] * (self.weight.dim() - 1))
        x = self.steps(x)
        if self.weight.dim() == 2:
            return F.linear(x, weight, self.bias)
        return F.conv2d(x, weight, self.bias, self.stride, padding=1)

    def quantized(self) -> QuantizedLayer:
        return QuantizedLayer(
            self.integers().detach().numpy().astype(np.int8),
            self.scale.detach().numpy(),
            self.bias.detach().numpy(),
            float(self.steps.scale),
            self.stride,
        )


class QuantizedNet(nn.Module):
    """The trained float net with folded batch norms and rounding in every layer."""

    def __init__(self, net: ConvNet) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_folded(part[0], part[1]) for part in net.layers)
        self.average = Steps(torch.tensor(1.0))
        self.head = Layer(net.head.weight.detach().clone(), net.head.bias.detach().clone(), 1)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        x = pixels
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(self.average(x).mean(dim=(2, 3)))

    def calibrate(self, pictures: torch.Tensor) -> None:
        """Set the initial scales to just cover the largest activation."""
        with torch.no_grad():
            x = pictures
            for layer in self.layers:
                layer.steps.scale.copy_(x.max() / 255)
                x = torch.relu(layer(x))
            self.average.scale.copy_(x.max() / 255)
            self.head.steps.scale.copy_(x.mean(dim=(2, 3)).max() / 255)


def make(folder: Path | None = None) -> Path:
    """Train the float net, then the quantized one, and write the ONNX file."""
    net = QuantizedNet(trained())
    net.calibrate(torch.from_numpy(enlarge(digits()[0][:256])))
    fit(net, epochs=_EPOCHS, rate=3e-4)
    path = target(_NAME, folder)
    layers = [layer.quantized() for layer in net.layers]
    write_qdq(layers, net.head.quantized(), float(net.average.scale), str(path))
    return path


def _folded(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> Layer:
    assert norm.running_mean is not None
    assert norm.running_var is not None
    factor = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).detach()
    weight = convolution.weight.detach() * factor.view(-1, 1, 1, 1)
    return Layer(weight, norm.bias.detach() - norm.running_mean * factor, convolution.stride[0])


def _rounded(x: torch.Tensor) -> torch.Tensor:
    return x + (torch.round(x) - x).detach()


if __name__ == "__main__":
    print(
        publish(
            _NAME,
            make(),
            family="vision",
            what="The net of digits-conv trained with int8 rounding in it: QDQ form with learned scales.",
            teaches="What a quantized file looks like, how ORT fuses its QDQ pairs into integer kernels, "
            "and what training adds over calibration.",
            origin="trained here on scikit-learn's digits, enlarged; learned step sizes",
            licence=DIGITS_LICENCE,
            remake="python -m sample_models.train_qat",
            exporter="written with onnx.helper",
            meanings=DIGITS_MEANINGS,
            dims=(("batch", 1),),
        ).score
    )
