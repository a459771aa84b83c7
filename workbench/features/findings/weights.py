"""Statistics of a model's weights, from one pass in a worker."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field, fields

from workbench.core.models.model import Model
from workbench.core.worker.launch import call_job

_TIMEOUT_S = 600.0
_MOST_SCANS = 4


@dataclass(frozen=True, slots=True)
class Weight:
    """One initializer of the main graph. The name is untrusted text."""

    name: str
    dims: tuple[int, ...]
    element: int  # of onnx.TensorProto
    size_bytes: int
    sha1: str | None  # None: no other weight holds the same elements
    sha1_transposed: str | None  # of a matrix that another one may be the transpose of
    zeros: int
    denormals: int
    non_finite: int
    largest: float | None
    channel_range: float | None  # along the first axis, the largest channel's range over the median one's
    column_range: float | None = None  # the same along the second axis of a matrix

    @property
    def count(self) -> int:
        """The number of elements."""
        return math.prod(self.dims)

    @property
    def denormal_share(self) -> float:
        """The share of denormal elements."""
        return self.denormals / self.count if self.count else 0.0


@dataclass(frozen=True)
class WeightScan:
    """Every weight of a model, without small constants."""

    weights: tuple[Weight, ...]
    denormal_slowdown: float | None = None  # of a product on this processor; None: there are no denormals
    peak_bytes: int | None = field(default=None, compare=False)  # of the worker, mapped files counted

    @property
    def size_bytes(self) -> int:
        """The size of all weights together."""
        return sum(weight.size_bytes for weight in self.weights)


_SCANS: dict[str, WeightScan] = {}  # by the hash of the file


def scan_weights(model: Model, *, cancel: threading.Event | None = None) -> WeightScan:
    """Read every weight once, in a worker with bounded memory; the newest files are remembered."""
    key = model.fingerprint(cancel)
    if key not in _SCANS:
        while len(_SCANS) >= _MOST_SCANS:
            _SCANS.pop(next(iter(_SCANS)))
        _SCANS[key] = _scan(model, cancel)
    return _SCANS[key]


def _scan(model: Model, cancel: threading.Event | None) -> WeightScan:
    body = call_job("weight_scan", {"model": str(model.path)}, timeout_s=_TIMEOUT_S, cancel=cancel)
    rows = [{**row, "dims": tuple(row["dims"])} for row in body["weights"]]
    weights = tuple(Weight(*(row[known.name] for known in fields(Weight))) for row in rows)
    return WeightScan(weights, body["denormal_slowdown"], body["peak_bytes"])
