"""The ground that provenance stands on: a tensor of the same name has the same value in both graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import ModelProto, helper

from tests.features.explain.conftest import LIGHT
from tests.features.explain.models import MODELS
from workbench.core.models import Model
from workbench.core.models.graph_walk import read_graph

TOLERANCE = 1e-4


def _optimized(proto: ModelProto, folder: Path) -> ModelProto:
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.log_severity_level = 4
    ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return onnx.load(folder / "optimized.onnx")


def _values(proto: ModelProto, names: list[str], feeds: dict) -> dict:
    wanted = ModelProto()
    wanted.CopyFrom(proto)
    known = {value.name for value in wanted.graph.output}
    wanted.graph.output.extend(
        helper.make_empty_tensor_value_info(name) for name in names if name not in known
    )
    for value in list(
        wanted.graph.input
    ):  # an old model lists its weights there, and ORT has folded some away
        if value.name not in feeds:
            wanted.graph.input.remove(value)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(wanted.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, feeds), strict=True))


@pytest.mark.real
@pytest.mark.parametrize("name", ["gelu", "conv", "shapes", "light_squeezenet", "light_shufflenet"])
def test_equal_names_have_equal_values(name: str, tmp_path: Path) -> None:
    path = LIGHT / f"{name}.onnx"
    if name in MODELS:
        path = tmp_path / "model.onnx"
        path.write_bytes(MODELS[name]().SerializeToString())
    source = onnx.load(path)
    optimized = _optimized(source, tmp_path)
    before, after = read_graph(source), read_graph(optimized)
    shared = sorted(before.producers.keys() & after.producers.keys())
    assert shared
    feeds = dict(Model(path, name).inputs(seed=3).feeds[0])
    first, second = _values(source, shared, feeds), _values(optimized, shared, feeds)
    for tensor in shared:
        scale = float(np.max(np.abs(first[tensor]), initial=1e-6))
        assert np.max(np.abs(first[tensor] - second[tensor]), initial=0.0) <= TOLERANCE * scale, tensor
