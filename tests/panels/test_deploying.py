"""Deploy in the panels: what is written, what is said, and the Python line that does the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.panels.conftest import settle
from workbench.panels.tabs.deploying import Deploying


@pytest.fixture
def deploying(bench: wb.Workbench) -> Deploying:
    """On a bench with an open model and a hand-made comparison."""
    bench.show(wb.Comparison(ordinary()))
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

    monkeypatch.setattr("workbench.api.deploying.deploy", deploy)
    deploying.kind.value = "triton"
    deploying.folder.value = str(tmp_path / "server")
    deploying.deploy(wait=True)
    settle(bench)
    run = next(run for run in bench.state.result.runs if run.label == deploying.label.value)
    assert calls == [("tiny", run.config, tmp_path / "server", "triton")]
    assert "wb.deploy(model, wb.Config(" in deploying.status.value
    assert "<b>" not in deploying.status.value.replace("<b>Fix", "")


def test_an_error_is_said_there(deploying: Deploying, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    deploying.folder.value = str(tmp_path)
    deploying.kind.value = "triton"
    with pytest.raises(wb.DeployError):
        deploying.deploy(wait=True)
    settle(deploying.bench)
    assert "is not an empty folder" in deploying.status.value
    assert deploying.bench.state.run_error is None
