"""Plain ORT on a folder of models and feeds: which of them it can load and run, and what comes out.

`python -m tests.real.plain_ort FOLDER PART PARTS`: run as a process of its own, so that the tests know what
ORT itself does with a model before they ask us. Nothing of the worker is used here but the file format.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import TensorProto

from workbench.core.worker.values import read_values, write_values

NUMBERS = {  # TensorProto's number of each ml_dtypes name that an array holds as ORT does
    "bfloat16": TensorProto.BFLOAT16,
    "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
    "float8_e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ,
    "float8_e5m2": TensorProto.FLOAT8E5M2,
    "float8_e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ,
}
SPECIAL = re.compile(r"bfloat16|float8|u?int4\)|float4|u?int2\)")


def main(folder: Path, part: int, parts: int) -> None:
    answers: dict[str, str | None] = {}
    for model in sorted(folder.glob("*.onnx"))[part::parts]:
        try:
            outputs = run(model, read_values(model.with_suffix(".feeds"))[0])
        except Exception as error:  # noqa: BLE001 - whatever ORT raises is the answer
            answers[model.stem] = f"{type(error).__name__}: {error}"
            continue
        answers[model.stem] = None
        if outputs is not None:
            write_values(model.with_suffix(".plain"), [outputs])
    (folder / f"plain-{part}.json").write_text(json.dumps(answers))


def run(model: Path, feed: dict[str, Any]) -> dict[str, Any] | None:
    """The outputs by name; None where one is of an element type that numpy lacks."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    readable = not any(SPECIAL.search(output.type) for output in session.get_outputs())
    if readable and not any(is_special(value) for value in feed.values()):
        return dict(zip(names, session.run(None, feed), strict=True))
    values = {name: ort_value(value) for name, value in feed.items()}
    outputs = session.run_with_ort_values(None, values)
    return {name: value.numpy() for name, value in zip(names, outputs, strict=True)} if readable else None


def is_special(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in NUMBERS


def ort_value(array: np.ndarray) -> ort.OrtValue:
    """A tensor of an element type that an array holds; ORT refuses the narrow ones."""
    number = NUMBERS.get(array.dtype.name)
    if number is None:
        return ort.OrtValue.ortvalue_from_numpy(array)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(
        array.view(np.uint8 if array.dtype.itemsize == 1 else np.uint16), number
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
