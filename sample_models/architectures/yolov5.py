"""YOLOv5s, written from the published description of version 6: CSP backbone, PANet neck, anchor heads."""

from __future__ import annotations

import torch
from torch import nn

from sample_models.architectures import Blueprint

CLASSES = 80
STRIDES = (8, 16, 32)
ANCHORS = (  # width and height in pixels, three per scale, as published for COCO
    ((10, 13), (16, 30), (33, 23)),
    ((30, 61), (62, 45), (59, 119)),
    ((116, 90), (156, 198), (373, 326)),
)


def yolov5s() -> Blueprint:
    """Return YOLOv5s at 640 x 640: boxes of three scales, decoded, in one tensor."""
    return Blueprint(
        build=YoloV5s,
        inputs={"images": torch.rand(1, 3, 640, 640)},
        outputs=("boxes",),
        dynamic={"images": {0: "batch"}, "boxes": {0: "batch"}},
    )


class ConvBlock(nn.Module):
    """Convolution, batch norm, SiLU."""

    def __init__(self, before: int, after: int, kernel: int = 1, stride: int = 1, pad: int | None = None):
        super().__init__()
        self.conv = nn.Conv2d(before, after, kernel, stride, kernel // 2 if pad is None else pad, bias=False)
        self.bn = nn.BatchNorm2d(after, eps=1e-3)
        self.act = nn.SiLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    """A 1 x 1 and a 3 x 3 convolution, added to the input if `shortcut` is set."""

    def __init__(self, width: int, shortcut: bool) -> None:
        super().__init__()
        self.reduce = ConvBlock(width, width)
        self.extract = ConvBlock(width, width, 3)
        self.shortcut = shortcut

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = self.extract(self.reduce(x))
        return x + features if self.shortcut else features


class C3(nn.Module):
    """Cross-stage partial block: bottlenecks on half of the width, a bypass for the other half."""

    def __init__(self, before: int, after: int, depth: int, shortcut: bool = True) -> None:
        super().__init__()
        half = after // 2
        self.through = ConvBlock(before, half)
        self.past = ConvBlock(before, half)
        self.bottlenecks = nn.Sequential(*(Bottleneck(half, shortcut) for _ in range(depth)))
        self.join = ConvBlock(2 * half, after)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.join(torch.cat((self.bottlenecks(self.through(x)), self.past(x)), dim=1))


class Pyramid(nn.Module):
    """Fast spatial pyramid pooling: three poolings in a row, with all results concatenated."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.reduce = ConvBlock(width, width // 2)
        self.pool = nn.MaxPool2d(5, stride=1, padding=2)
        self.join = ConvBlock(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = [self.reduce(x)]
        for _ in range(3):
            levels.append(self.pool(levels[-1]))
        return self.join(torch.cat(levels, dim=1))


class Detect(nn.Module):
    """One 1 x 1 convolution per scale, and the arithmetic from its outputs to boxes in pixels."""

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(nn.Conv2d(width, 3 * (5 + CLASSES), 1) for width in widths)

    def forward(self, scales: list[torch.Tensor]) -> torch.Tensor:
        maps = []
        for head, x, stride, anchors in zip(self.heads, scales, STRIDES, ANCHORS, strict=True):
            rows, columns = int(x.shape[2]), int(x.shape[3])
            y = head(x).view(-1, 3, 5 + CLASSES, rows, columns).permute(0, 1, 3, 4, 2).sigmoid()
            grid_y, grid_x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
            grid = torch.stack((grid_x, grid_y), dim=-1).view(1, 1, rows, columns, 2) - 0.5
            sizes = torch.tensor(anchors, dtype=torch.float32).view(1, 3, 1, 1, 2)
            centre, size, scores = y.split((2, 2, 1 + CLASSES), dim=-1)
            box = torch.cat(((centre * 2 + grid) * stride, (size * 2) ** 2 * sizes, scores), dim=-1)
            maps.append(box.reshape(-1, 3 * rows * columns, 5 + CLASSES))
        return torch.cat(maps, dim=1)


class YoloV5s(nn.Module):
    """The small version: depth times 0.33, width times 0.5."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(ConvBlock(3, 32, 6, 2, 2), ConvBlock(32, 64, 3, 2), C3(64, 64, 1))
        self.fine = nn.Sequential(ConvBlock(64, 128, 3, 2), C3(128, 128, 2))
        self.middle = nn.Sequential(ConvBlock(128, 256, 3, 2), C3(256, 256, 3))
        self.coarse = nn.Sequential(ConvBlock(256, 512, 3, 2), C3(512, 512, 1), Pyramid(512))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.narrow_coarse = ConvBlock(512, 256)
        self.join_middle = C3(512, 256, 1, shortcut=False)
        self.narrow_middle = ConvBlock(256, 128)
        self.join_fine = C3(256, 128, 1, shortcut=False)
        self.down_fine = ConvBlock(128, 128, 3, 2)
        self.rejoin_middle = C3(256, 256, 1, shortcut=False)
        self.down_middle = ConvBlock(256, 256, 3, 2)
        self.rejoin_coarse = C3(512, 512, 1, shortcut=False)
        self.detect = Detect((128, 256, 512))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        fine = self.fine(self.stem(images))
        middle = self.middle(fine)
        coarse = self.narrow_coarse(self.coarse(middle))
        middle = self.narrow_middle(self.join_middle(torch.cat((self.up(coarse), middle), dim=1)))
        fine = self.join_fine(torch.cat((self.up(middle), fine), dim=1))
        middle = self.rejoin_middle(torch.cat((self.down_fine(fine), middle), dim=1))
        coarse = self.rejoin_coarse(torch.cat((self.down_middle(middle), coarse), dim=1))
        return self.detect([fine, middle, coarse])
