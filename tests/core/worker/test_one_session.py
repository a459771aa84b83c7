"""ORT obeys some entries in the first session of a process only, so a worker refuses them in a second one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.core.models import tiny
from tests.core.worker.harness import started
from workbench.core.config import Config
from workbench.core.errors import RunFailed
from workbench.core.worker.values import read_values, write_values

pytestmark = pytest.mark.real

LEAST_NORMAL = np.full((1, 4), np.finfo(np.float32).tiny, np.float32)


def denormal_model() -> Any:
    """Return a model that halves its input: half the least normal number is denormal."""
    nodes = [
        helper.make_node(
            "Constant", [], ["half"], value=helper.make_tensor("h", TensorProto.FLOAT, [], [0.5])
        ),
        helper.make_node("Mul", ["x", "half"], ["y"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    graph = helper.make_graph(nodes, "denormal", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def outputs(folder: Path, config: Config) -> Any:
    folder.mkdir()
    model = tiny.save(denormal_model(), folder)
    write_values(folder / "feeds", [{"x": LEAST_NORMAL}])
    request = {"model": str(model), "plan": config.plan().to_dict()}
    with started(folder) as worker:
        worker.request("load", request, stage="load", timeout_s=60)
        worker.request("first_run", {"feeds": str(folder / "feeds")}, stage="first run", timeout_s=60)
        worker.request("outputs", {"path": str(folder / "outputs")}, stage="outputs", timeout_s=60)
        if config.session_entries:
            with pytest.raises(RunFailed, match="first session of a process only"):
                worker.request("load", request, stage="load", timeout_s=60)
    return read_values(folder / "outputs")[0]["y"]


def test_denormals_become_zero_in_the_session_of_every_worker(tmp_path: Path) -> None:
    as_zero = Config(session_entries={"session.set_denormal_as_zero": True})
    assert (outputs(tmp_path / "plain", Config()) > 0).all()
    for place in ("first", "second"):
        assert (outputs(tmp_path / place, as_zero) == 0).all()
