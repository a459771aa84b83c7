"""The form of pipelines: the open model among stages that a person typed, all configs in turns."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from workbench.apps.panels.tabs.views import EXPLORE

pytestmark = pytest.mark.real


@pytest.fixture
def stages(tmp_path: Path) -> str:
    file = tmp_path / "steps.py"
    file.write_text("def doubled(values):\n    return 2 * values\n")
    return f"model, {file}:doubled"


@pytest.mark.usefixtures("own_home")
def test_all_configs_are_measured_among_the_stages(bench: wb.Workbench, stages: str) -> None:
    bench.set("level", "basic")
    bench.state.forms = {"pipelines": {"stages": stages}}
    bench.run("pipelines", wait=True)
    made = bench.state.whole_part("pipelines")
    assert made is not None
    assert [[row.stage.name for row in made.stages(label)][1] for label in "AB"] == ["doubled"] * 2
    assert made.stages("B")[0].stage.config == wb.Config(level="basic")
    assert "pipelines" in [offer.title for offer in EXPLORE.offers]


@pytest.mark.slow
@pytest.mark.usefixtures("own_home")
def test_the_stages_are_kept_with_the_comparison(bench: wb.Workbench, stages: str, tmp_path: Path) -> None:
    bench.set("level", "basic")
    bench.compare(wait=True)
    bench.state.forms = {"pipelines": {"stages": stages}}
    bench.run("pipelines", wait=True)
    assert bench.state.result is not None
    again = wb.open(bench.state.result.save(tmp_path / "one.ortbench"))
    assert "pipelines" in [part.name for part in again.parts]
    assert bench.state.forms == {"pipelines": {"stages": stages}}


@pytest.mark.usefixtures("own_home")
def test_stages_that_cannot_be_read_are_said_where_the_button_is(bench: wb.Workbench) -> None:
    bench.state.forms = {"pipelines": {"stages": "absent.py:resize, model"}}
    with pytest.raises(wb.ConfigError, match=r"absent\.py"):
        bench.run("pipelines", wait=True)
    assert bench.state.whole_part("pipelines") is None
    assert "absent.py" in str(bench.state.run_error)
