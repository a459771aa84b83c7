"""Deploy in the panels: what is written, what is said, and the Python line that does the same."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.apps.panels.tabs.deploying import Deploying


@pytest.fixture
def deploying(bench: wb.Workbench) -> Deploying:
    """On a bench with an open model and a hand-made comparison."""
    bench.show(wb.Comparison(replace(ordinary(), model=bench.state.model.record())))
    settle(bench)
    return Deploying(bench)


def test_it_offers_the_configs_that_ran(deploying: Deploying) -> None:
    ran = [run.label for run in ordinary().runs if run.failure is None]
    assert list(deploying.label.options) == ran
    assert not deploying.buttons["Deploy"].disabled
    assert deploying.folder.value.endswith("-server")


def test_it_waits_for_a_result() -> None:
    assert Deploying(wb.Workbench()).buttons["Deploy"].disabled


def test_it_deploys_the_config_and_shows_the_line(
    deploying: Deploying, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = deploying.bench
    calls: list[Any] = []

    def deploy(model: Any, config: wb.Config, folder: Path, kind: str, **_: Any) -> wb.Deployment:
        calls.append((model.name, config, folder, kind))
        return wb.Deployment(examples.deployment(), examples.about())

    monkeypatch.setattr("workbench.deploy", deploy)
    deploying.kind.value = "triton"
    deploying.folder.value = str(tmp_path / "server")
    deploying.deploy(wait=True)
    settle(bench)
    run = next(run for run in bench.state.result.runs if run.label == deploying.label.value)
    assert calls == [("tiny", run.config, tmp_path / "server", "triton")]
    assert "wb.deploy(model, wb.Config(" in deploying.status.value
    assert "<b>" not in deploying.status.value.replace("<b>Fix", "")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The arguments of each call of `wb.deploy`, which writes nothing."""
    calls: list[dict[str, Any]] = []

    def deploy(model: Any, config: wb.Config, folder: Path, kind: str, **options: Any) -> wb.Deployment:
        calls.append({"model": model, "config": config, "folder": folder, "kind": kind, **options})
        return wb.Deployment(examples.deployment(), examples.about())

    monkeypatch.setattr("workbench.deploy", deploy)
    return calls


def printed_call(deploying: Deploying) -> dict[str, Any]:
    """Run the code on the screen, and return its keywords."""
    text = unescape(re.sub("<[^>]+>", "\n", deploying.status.value))
    line = next(line for line in text.splitlines() if line.startswith("wb.deploy("))
    model = deploying.bench.state.model
    scope = {"wb": SimpleNamespace(Config=wb.Config, deploy=lambda *_, **options: options), "model": model}
    return dict(eval(line, scope))


def test_it_serves_with_the_inputs_and_the_calibration_of_the_result(
    deploying: Deploying, tmp_path: Path, calls: list[dict[str, Any]]
) -> None:
    state, result = deploying.bench.state, deploying.bench.result
    state.seed, state.dims, state.calibration = 3, (("batch", 2),), str(tmp_path / "faces.npz")
    state.show_comparison(result, state.request().subject)
    deploying.kind.value = "triton"
    deploying.deploy(wait=True)
    settle(deploying.bench)
    assert calls[-1]["calibration"] == str(tmp_path / "faces.npz")
    assert calls[-1]["inputs"].seed == 3
    printed = printed_call(deploying)
    assert printed["calibration"] == str(tmp_path / "faces.npz")
    assert (printed["inputs"].seed, printed["inputs"].shapes) == (3, calls[-1]["inputs"].shapes)


def test_a_result_from_elsewhere_is_served_with_what_is_set(
    deploying: Deploying, calls: list[dict[str, Any]]
) -> None:
    result = deploying.bench.result
    deploying.bench.state.calibration = "faces.npz"
    deploying.bench.show(result)
    deploying.kind.value = "triton"
    deploying.deploy(wait=True)
    settle(deploying.bench)
    assert calls[-1]["calibration"] == "faces.npz"
    assert printed_call(deploying) == {"calibration": "faces.npz"}


@pytest.mark.parametrize("checked", [False, True])
def test_a_missing_provider_is_refused_unless_the_box_is_checked(
    deploying: Deploying, calls: list[dict[str, Any]], checked: bool
) -> None:
    deploying.fallback.value = checked
    deploying.kind.value = "triton"
    deploying.deploy(wait=True)
    settle(deploying.bench)
    assert calls[-1].get("fallback", False) is checked
    assert printed_call(deploying) == ({"fallback": True} if checked else {})


def test_an_error_is_said_there(deploying: Deploying, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    deploying.folder.value = str(tmp_path)
    deploying.kind.value = "triton"
    with pytest.raises(wb.DeployError):
        deploying.deploy(wait=True)
    settle(deploying.bench)
    assert "is not an empty folder" in deploying.status.value
    assert deploying.bench.state.run_error is None
