"""Versions of ONNX Runtime: what changed, and what a version lacks."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import onnxruntime as ort
import pytest

import workbench as wb
from tests.factories import results as examples
from workbench.core.errors import RunFailed
from workbench.core.worker import endings, graph_capture, session
from workbench.features.variants.versions.record import VersionRow

RECORD = examples.versions()


def test_what_changed_is_said_in_words() -> None:
    first, second = str(RECORD).splitlines()
    assert first.startswith("A (ONNX Runtime 1.17.3, ort117): 10 nodes, ")
    assert "passes added: " in second
    assert "operators -2 Conv, +2 FusedConv" in second
    assert "placed" not in second, "the first version does not tell its placement"
    assert "the same graph" in str(replace(RECORD, rows=(RECORD.rows[0], replace(RECORD.rows[0], name="B"))))


def test_the_table() -> None:
    frame = RECORD.to_frame()
    assert frame["onnxruntime"].tolist() == ["1.17.3", "1.31.1"]
    assert frame["placement"].dropna().tolist() == ["8 on CPU"]
    assert frame["lost_passes"].tolist() == ["", ""]
    assert frame["new_ops"].tolist()[1].startswith("-2 Conv, +2 FusedConv")


def test_an_environment_whose_graph_is_not_known() -> None:
    run = replace(RECORD.comparison.runs[1], config=wb.Config(runtime="/x/env/bin/python"))
    row = VersionRow.seen(RECORD.comparison, run, {}, "it lacks that")
    assert (row.environment, row.nodes, row.passes, row.placement) == ("env", None, None, None)
    record = replace(RECORD, rows=(RECORD.rows[0], row))
    assert "its graph is not known: it lacks that" in str(record)
    assert record.to_frame()["problem"].dropna().tolist() == ["it lacks that"]


@pytest.mark.parametrize("environments", [[], "/path/to/env"])
def test_environments_are_a_list(environments: Any) -> None:
    with pytest.raises(wb.ConfigError, match="is no list of environments"):
        wb.compare_versions("digits-conv", environments)


def test_a_level_that_a_version_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    old = SimpleNamespace(
        SessionOptions=ort.SessionOptions, GraphOptimizationLevel=SimpleNamespace(), __version__="1.17.3"
    )
    monkeypatch.setattr(session, "ort", old)
    with pytest.raises(RunFailed, match="has no ORT_ENABLE_LAYOUT") as caught:
        session.session_options(wb.Config(level="layout").plan().to_dict())
    error = endings.refused(
        {"type": "RunFailed", "message": caught.value.args[0], "fix": caught.value.args[1]}, "load"
    )
    assert "ORT refused" not in str(error)
    assert 'level="all"' in str(error)


def test_an_attribute_that_a_version_lacks_is_no_refusal_of_ort() -> None:
    message = "module 'onnxruntime' has no attribute 'preload_dlls'"
    error = endings.refused({"type": "AttributeError", "message": message}, "load")
    assert str(error).startswith("this version of ONNX Runtime lacks something during load")


def test_a_session_without_a_record_of_its_placement() -> None:
    assert graph_capture.assigned_parts(SimpleNamespace()) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("printed", "fix"),
    [
        ("ModuleNotFoundError: No module named 'numpy'", "/old/python lacks numpy, so no session"),
        ("A module that was compiled using NumPy 1.x cannot be run in NumPy 2", "pip install 'numpy<2'"),
    ],
)
def test_an_environment_without_its_numpy(printed: str, fix: str) -> None:
    error = endings.crashed("start", 1, f"Traceback\n{printed}", "/old/python")
    assert fix in str(error)
    assert "Traceback" not in str(error), "a sentence in its place"


@pytest.mark.real
@pytest.mark.slow
def test_an_old_version_explains_and_says_what_it_lacks(old_ort: str) -> None:
    config = wb.Config(runtime=old_ort)
    explained = wb.explain("digits-conv", config, keep=False)
    assert len(explained.record.optimized.nodes) < len(explained.record.source.nodes)
    assert "through passes that are not known" in str(explained)
    assert "did not happen" not in str(explained), "what did not fire is not known either"
    unknown = config.replace(disabled_passes=("ConvActivationFusion",))
    assert wb.explain("digits-conv", unknown, keep=False).record.optimized.nodes
    levels = wb.levels("digits-conv", config, budget_s=0.2, progress=False, keep=False)
    reasons = dict(zip(levels.to_frame()["level"], levels.to_frame()["reason"], strict=True))
    assert "has no ORT_ENABLE_LAYOUT" in reasons["layout"]
    with pytest.raises(wb.ConfigError, match="logs no passes"):
        wb.ablate("digits-conv", config, 1, progress=False, keep=False)


@pytest.mark.real
@pytest.mark.slow
def test_another_version_side_by_side(openvino: str) -> None:
    result = wb.compare_versions("digits-conv", [openvino], budget_s=0.2, progress=False, keep=False)
    here, there = result.record.rows
    assert here.onnxruntime == ort.__version__ != there.onnxruntime
    assert here.nodes
    assert there.nodes
    assert result.to_frame()["outputs_agree"].tolist()[1] is True
