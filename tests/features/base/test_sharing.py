"""A saved result holds no weight and no path; a page shows none either."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.core.models.test_sharing import SECRET, model
from tests.factories.comparisons import comparison, drawn_run
from workbench.core.bundle.kinds import Part
from workbench.core.bundle.run import LogLine
from workbench.features.profile.saved import record_of

WEIGHT = np.float32(SECRET).tobytes()
AZURE, TOKEN, SIGNATURE = "key-4711-of-azure", "token-4712", "signature-4713"


def result() -> wb.Comparison:
    structure = model().SerializeToString()
    return wb.Comparison(comparison(drawn_run("A", 0.002), drawn_run("B", 0.001)), structure=structure)


def contents(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def test_weights_and_texts_stay_at_home_unless_asked_for(tmp_path: Path) -> None:
    kept = contents(result().save(tmp_path / "a.ortbench"))
    assert WEIGHT not in kept
    assert b"secret project" not in kept
    assert WEIGHT in contents(result().save(tmp_path / "b.ortbench", weights=True))


def test_the_graph_of_a_saved_profile_has_none(tmp_path: Path) -> None:
    from tests.factories import results as examples
    from tests.factories.graphs import fused

    record = replace(record_of(examples.profile(fused())), graph=model().SerializeToString())
    whole = wb.Comparison(result().record, parts=(Part("profile/A", record, examples.about()),))
    assert WEIGHT not in contents(whole.save(tmp_path / "a.ortbench"))
    assert wb.open(tmp_path / "a.ortbench").profile("A").to_frame() is not None


@pytest.mark.usefixtures("without_plotly")
def test_a_page_shows_no_path_of_this_machine(tmp_path: Path) -> None:
    folder = tmp_path / "secret project"
    folder.mkdir()
    config = wb.Config(
        session_entries={"session.collect_node_memory_stats_to_file": str(folder / "my stats.csv")}
    )
    run = replace(drawn_run("B", 0.001), config=config)
    page = wb.Comparison(comparison(drawn_run("A", 0.002), run)).export_html(tmp_path / "a.html")
    text = page.read_text("utf-8")
    assert "secret project" not in text
    assert "my stats.csv" in text


@pytest.mark.usefixtures("without_plotly")
def test_a_secret_of_a_config_is_saved_and_shown_nowhere(tmp_path: Path) -> None:
    config = wb.Config(
        providers=[wb.Provider("azure", {"auth_key": AZURE})],
        session_entries={"my.api_token": TOKEN},
        precision=wb.PreparedModel(f"https://example.org/model.onnx?sig={SIGNATURE}"),
        allow_unknown=True,
    )
    log = (LogLine("W", f"refused {TOKEN} at {AZURE}"),)
    made = wb.Comparison(
        comparison(drawn_run("A", 0.002), replace(drawn_run("B", 0.001), config=config, log=log))
    )
    made.keep()
    places = {
        "bundle": contents(made.save(tmp_path / "a.ortbench")),
        "history": contents(wb.history().open(wb.history().entries()[0].id).save(tmp_path / "b.ortbench")),
        "page": made.export_html(tmp_path / "a.html").read_bytes(),
        "table": made.to_frame().to_csv().encode(),
        "words": f"{config} {config!r} {config._repr_html_()} {made}".encode(),
    }
    for place, content in places.items():
        for secret in (AZURE, TOKEN, SIGNATURE):
            assert secret.encode() not in content, place
    with pytest.warns(UserWarning, match="precision.model"):
        again = wb.open(tmp_path / "a.ortbench").runs[-1].config
    assert again.precision == wb.PreparedModel("…/https://example.org/model.onnx")
    with pytest.raises(wb.ConfigError, match="api_token was hidden when this was saved"):
        wb.measure("digits-conv", again.replace(precision=None), progress=False)
    assert AZURE in config.to_python("digits-conv")  # what the user asks for runs


@pytest.mark.slow
@pytest.mark.real
def test_what_a_reopened_bundle_draws_needs_no_weight(tmp_path: Path) -> None:
    result = wb.compare("digits-conv", wb.Config(level="disabled"), wb.Config(), budget_s=0.5, progress=False)
    result.examine("explanation", "profile", "memory", "roofline")
    again = wb.open(result.save(tmp_path / "a.ortbench"))
    for table in ("memory", "roofline"):
        assert getattr(again, table)().to_frame().equals(getattr(result, table)().to_frame())
    for label in "AB":
        before, after = result.profile(label), again.profile(label)
        assert after.to_frame().equals(before.to_frame())
        assert after.memory().to_frame().equals(before.memory().to_frame())
    assert again.fusions().to_frame().equals(result.fusions().to_frame())
