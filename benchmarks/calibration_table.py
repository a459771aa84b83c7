"""Write a calibration table for TensorRT: `python -m benchmarks.calibration_table MODEL FEEDS.npz FOLDER`.

ONNX Runtime's calibrator measures the ranges on the CPU; the last line is JSON with the name of the table.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

TABLE = "calibration.flatbuffers"  # the name that ONNX Runtime gives it


def main(arguments: list[str] | None = None) -> int:
    """Measure the ranges of one feed and write the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.calibration_table", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("feeds", type=Path)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args(arguments)
    from onnxruntime.quantization.calibrate import CalibrationMethod, create_calibrator
    from onnxruntime.quantization.quant_utils import write_calibration_table

    with np.load(chosen.feeds, allow_pickle=False) as arrays:
        feed = dict(arrays)
    with tempfile.TemporaryDirectory() as scratch:
        calibrator = create_calibrator(
            chosen.model,
            augmented_model_path=str(Path(scratch) / "augmented.onnx"),
            calibrate_method=CalibrationMethod.MinMax,
        )
        calibrator.collect_data(_One(feed))
        ranges = calibrator.compute_data()
    write_calibration_table(ranges, str(chosen.folder))
    table = chosen.folder / TABLE
    print(json.dumps({"table": TABLE, "tensors": len(ranges.data), "bytes": table.stat().st_size}))
    return 0


class _One:
    """The feed, once, as ONNX Runtime's calibrator reads it."""

    def __init__(self, feed: dict[str, Any]) -> None:
        self._left = [feed]

    def get_next(self) -> dict[str, Any] | None:
        return self._left.pop() if self._left else None

    def __len__(self) -> int:
        return 1


if __name__ == "__main__":
    sys.exit(main())
