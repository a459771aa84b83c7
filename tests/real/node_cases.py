"""The ONNX project's own node tests, at the versions that ORT takes, written as files with their own data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, numpy_helper

from workbench.core.worker.values import write_values

MAX_IR = 13  # of ORT 1.31; the onnx package writes newer ones
MAX_OPSET = 26


@dataclass(frozen=True, slots=True)
class NodeCase:
    """One test of one operator: the model, and one feed with the test's own data."""

    name: str
    model: Path
    feeds: Path
    feed: dict[str, Any]
    expected: dict[str, Any]  # by the ONNX project's own reckoning

    @property
    def plain_outputs(self) -> Path:
        """Where `plain_ort` leaves what plain ORT gave."""
        return self.model.with_suffix(".plain")


def write_cases(folder: Path) -> tuple[NodeCase, ...]:
    """All of them, one model file and one feed file each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the tests' own divisions by zero
        from onnx.backend.test.case.node import collect_testcases

        collected = collect_testcases(None)
    written = []
    for number, test in enumerate(collected):
        model = folder / f"{number:04d}.onnx"
        model.write_bytes(adapted(test.model).SerializeToString())
        inputs, outputs = test.data_sets[0]
        feed = named(test.model.graph.input, inputs)
        feeds = model.with_suffix(".feeds")
        write_values(feeds, [feed])
        written.append(NodeCase(test.name, model, feeds, feed, named(test.model.graph.output, outputs)))
    return tuple(written)


def adapted(model: ModelProto) -> ModelProto:
    """The same graph at versions that ORT knows; some tests then no longer load, which plain ORT tells."""
    copy = ModelProto.FromString(model.SerializeToString())
    copy.ir_version = min(copy.ir_version, MAX_IR)
    for opset in copy.opset_import:
        if opset.domain in ("", "ai.onnx"):
            opset.version = min(opset.version, MAX_OPSET)
    return copy


def named(infos: Iterable[ValueInfoProto], values: Iterable[Any]) -> dict[str, Any]:
    return {info.name: value_of(value) for info, value in zip(infos, values, strict=True)}


def value_of(value: Any) -> Any:
    """Test data as arrays and lists; element types that numpy lacks come as ml_dtypes arrays."""
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, (list, tuple)):
        return [value_of(item) for item in value]
    return value if value is None else np.asarray(value)
