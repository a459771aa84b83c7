"""Job: measure the ranges of activations on calibration data, one example at a time.

ORT's collectors keep every intermediate tensor of one call and cannot stack examples of different shapes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from onnxruntime.quantization import calibrate as ort_calibrate
from onnxruntime.quantization.calibrate import CalibrationMethod, create_calibrator, save_tensors_data
from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

from workbench.core.worker.preparing.conversions import METHODS, is_large
from workbench.core.worker.values import read_values


def run(source: str, target: str, calibrator: str, percentile: float | None, examples: str) -> dict[str, Any]:
    """Measure the ranges of all tensors of quantizable nodes; `examples` is a folder of feeds in files."""
    ort_calibrate.np = _Numpy()
    folder = Path(examples)
    with tempfile.TemporaryDirectory() as scratch:
        extremes = _collected(_calibrator(source, "minmax", {"symmetric": False}, scratch), folder)
        if calibrator == "minmax":
            ranges = extremes
        else:
            options: dict[str, Any] = {"symmetric": False}  # else a Relu wastes half of the range
            if percentile is not None:
                options["percentile"] = percentile
            measuring = _calibrator(source, calibrator, options, scratch)
            measuring.collector = _prepared_collector(measuring, extremes)
            ranges = _collected(measuring, folder)
    save_tensors_data(ranges, target)
    return {"count": len(list(folder.iterdir())), "tensors": len(ranges.data), "notes": []}


def _calibrator(source: str, method: str, options: dict[str, Any], scratch: str) -> Any:
    return create_calibrator(
        Path(source),
        sorted({*QLinearOpsRegistry, *QDQRegistry}),
        augmented_model_path=str(Path(scratch) / f"{method}.onnx"),
        calibrate_method=CalibrationMethod[METHODS[method]],
        use_external_data_format=is_large(source),
        extra_options=options,
    )


def _collected(measuring: Any, folder: Path) -> Any:
    for path in sorted(folder.iterdir()):
        for feed in read_values(path):
            measuring.collect_data(_One(feed))
    return measuring.compute_data()


def _prepared_collector(measuring: Any, extremes: Any) -> Any:
    """Return a collector with empty histograms over the whole range of each tensor in all examples.

    ORT's own collector takes the bins from the first example, and adds bins without a bound.
    """
    collector = ort_calibrate.HistogramCollector(
        method=measuring.method,
        symmetric=False,
        num_bins=measuring.num_bins,
        num_quantized_bins=measuring.num_quantized_bins,
        percentile=measuring.percentile,
        scenario=measuring.scenario,
    )
    for name, extreme in extremes.data.items():
        if name in measuring.tensors_to_calibrate:
            low, high = (np.asarray(value).reshape(()) for value in extreme.range_value)
            limit = np.array(max(abs(low), abs(high)), low.dtype)
            empty = np.zeros(0, low.dtype)
            counts, edges = ort_calibrate.np.histogram(empty, measuring.num_bins, range=(-limit, limit))
            collector.histogram_dict[name] = (counts, edges, low, high, limit)
    return collector


class _One(ort_calibrate.CalibrationDataReader):  # type: ignore[misc]
    """A reader of a single example."""

    def __init__(self, feed: dict[str, Any]) -> None:
        self._left = [feed]

    def get_next(self) -> dict[str, Any] | None:
        return self._left.pop() if self._left else None


class _Numpy:
    """numpy with a histogram for constant tensors, on which ORT's collectors fail with `Too many bins`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def histogram(values: Any, bins: Any = 10, range: Any = None, **more: Any) -> Any:
        try:
            return np.histogram(values, bins, range, **more)
        except ValueError:
            if isinstance(bins, np.ndarray):
                raise
            low, high = range if range is not None else (np.nanmin(values), np.nanmax(values))
            middle = (float(low) + float(high)) / 2
            half = max(abs(middle) * 1e-3, 1e-6, (float(high) - float(low)) / 2)
            wide = np.asarray(values, np.float64)
            counts, edges = np.histogram(wide, bins, (middle - half, middle + half), **more)
            return counts, edges.astype(np.asarray(values).dtype)
