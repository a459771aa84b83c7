"""A profile as speedscope reads it: properly nested, nothing lost, times as measured."""

from __future__ import annotations

import json
import zipfile
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import workbench as wb
from tests.features.profile import traces
from workbench.apps.server.files import SPEEDSCOPE
from workbench.apps.server.spans import speedscope_file


def written(path: Path) -> dict[str, object]:
    content = speedscope_file(wb.read_profile(path), "a title")
    text: dict[str, object] = json.loads(json.dumps(content, allow_nan=False))
    schema = zipfile.ZipFile(str(files("workbench.apps.server") / "vendor" / SPEEDSCOPE))
    jsonschema.validate(text, json.loads(schema.read("file-format-schema.json")))
    return text


def nested(profile: dict[str, list[dict[str, float]]]) -> int:
    """Return the deepest nesting; fail on a wrong end, or a step back in time."""
    stack: list[float] = []
    deepest, last = 0, 0.0
    for event in profile["events"]:
        assert event["at"] >= last
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert stack.pop() == event["frame"]
        deepest = max(deepest, len(stack))
    assert not stack
    return deepest


@pytest.mark.real
@pytest.mark.parametrize("kind", ["chain", "looped", "wide"])
def test_a_real_trace_is_nested(kind: str, tmp_path: Path) -> None:
    feeds = {"chain": (2, 16), "looped": (8, 8), "wide": (160, 160)}
    model = getattr(traces, kind)()
    parallel = {"execution_mode": traces.ort.ExecutionMode.ORT_PARALLEL} if kind == "wide" else {}
    path = traces.trace_of(model, tmp_path, {"x": np.ones(feeds[kind], np.float32)}, **parallel)
    content = written(path)
    deepest = [nested(profile) for profile in content["profiles"]]
    assert max(deepest) >= (2 if kind == "wide" else 3), "run, executor, node; its nodes on other threads"
    opened = sum(event["type"] == "O" for profile in content["profiles"] for event in profile["events"])
    assert opened == len(wb.read_profile(path).trace)


def test_a_child_that_ends_after_its_parent_is_cut(tmp_path: Path) -> None:
    path = traces.write(tmp_path, [traces.node("child", 2, 9), traces.node("parent", 0, 10)])
    (profile,) = written(path)["profiles"]
    assert [(event["type"], event["at"]) for event in profile["events"]] == [
        ("O", 0.0),
        ("O", 2.0),
        ("C", 10.0),
        ("C", 10.0),
    ]


def test_hostile_names_stay_texts(tmp_path: Path) -> None:
    path = traces.write(tmp_path, [traces.node("</script><script>alert(1)</script>", 0, 1)])
    (frame,) = written(path)["shared"]["frames"]
    assert frame["name"] == "</script><script>alert(1)</script> (MatMul, CPUExecutionProvider)"
