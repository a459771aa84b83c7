"""Train the convolutional digits sample: `python -m sample_models.train_conv`. Needs the extra `torch`."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from sample_models.training import (
    DIGITS_LICENCE,
    DIGITS_MEANINGS,
    EXPORTED_WITH,
    SEED,
    export_trained,
    fit,
    publish,
    target,
    write_calibration,
)

_NAME = "digits-conv"
_WIDTHS = ((1, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1))  # in, out, stride
_EPOCHS = 6


class ConvNet(nn.Module):
    """Six 3 x 3 convolutions with batch norm and ReLU, global average pooling and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(
                nn.Sequential(
                    nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()
                )
                for before, after, stride in _WIDTHS
            )
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(_WIDTHS[-1][1], 10)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.head(self.pool(self.layers(pixels)).flatten(1))


def trained() -> ConvNet:
    """Return the trained net, always from the same seed."""
    torch.manual_seed(SEED)
    net = ConvNet()
    fit(net, epochs=_EPOCHS, rate=3e-3)
    return net


def make(folder: Path | None = None) -> Path:
    """Train and write the ONNX file."""
    path = target(_NAME, folder)
    export_trained(trained(), {"pixels": torch.rand(2, 1, 64, 64)}, path, {0: "batch"})
    return path


if __name__ == "__main__":
    write_calibration()
    print(
        publish(
            _NAME,
            make(),
            family="vision",
            what="A convolutional net that reads handwritten digits, 64 x 64, in float32.",
            teaches="Static int8 with calibration: how much faster, and how much accuracy it really costs.",
            origin="trained here on scikit-learn's digits, enlarged",
            licence=DIGITS_LICENCE,
            remake="python -m sample_models.train_conv",
            exporter=EXPORTED_WITH,
            meanings=DIGITS_MEANINGS,
            dims=(("batch", 1),),
        ).score
    )
