"""Every node that ORT's own profile saw running is in the placement, by name."""

from __future__ import annotations

import json
from pathlib import Path

import onnxruntime as ort
import pytest

from tests.features.explain.conftest import Explain
from tests.features.explain.models import MODELS
from workbench.core.models import Model
from workbench.core.models.naming import name_nodes


@pytest.mark.real
@pytest.mark.parametrize("name", ["gelu", "gelu unnamed", "conv", "half", "duplicated", "calls"])
def test_every_executed_node_is_placed(explained: Explain, name: str, tmp_path: Path) -> None:
    proto = MODELS[name]()
    name_nodes(proto)
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    options.log_severity_level = 4
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    session.run(None, dict(Model(path, name).inputs(seed=1).feeds[0]))
    events = json.loads(Path(session.end_profiling()).read_text())
    ran = {
        (event["name"].removesuffix("_kernel_time"), event["args"]["provider"])
        for event in events
        if event["cat"] == "Node"
    }
    placed = {(event.node, event.provider) for event in explained(name).placement.nodes}
    assert ran
    assert ran <= placed
