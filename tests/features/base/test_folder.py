"""A result as a folder of plain files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest

import workbench as wb
from tests.core.bundle import forks
from tests.factories.comparisons import ordinary
from tests.factories.records import comparison
from tests.factories.results import every_kind, further
from workbench.core.bundle.display import config_in_words
from workbench.features.base.folder import tables_of
from workbench.features.base.history import History

pytestmark = pytest.mark.usefixtures("coarse")


def test_a_comparison_is_tables_configs_scripts_and_a_picture(tmp_path: Path) -> None:
    result = wb.Comparison(ordinary())
    folder = result.export(tmp_path / "out")
    index = json.loads((folder / "index.json").read_text())
    assert index["kind"] == "comparison"
    listed = {*index["tables"], *index["pictures"], index["bundle"], "index.json"}
    for files in index["configs"].values():
        listed |= {files["config"], files["script"]}
    assert listed == {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    samples = pd.read_csv(folder / "tables/samples.csv", converters={"latency_s": float})
    assert list(samples["latency_s"]) == [s for run in result.runs for s in every_sample(run)]
    about = index["tables"]["tables/samples.csv"]
    assert about["rows"] == len(samples)
    assert (about["columns"]["latency_s"], about["columns"]["label"]) == ("seconds", None)
    config = json.loads((folder / index["configs"]["B"]["config"]).read_text())
    assert wb.Config.from_dict(config) == result.runs[1].config
    compile((folder / index["configs"]["B"]["script"]).read_text(), "B.py", "exec")
    assert wb.open(folder / "result.ortbench").record == result.record


def every_sample(run: object) -> list[float]:
    return [s for process in run.processes for block in process.blocks for s in block.samples_s]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "units"),
    [
        ("peaks", {"threads": None, "float32_gflops": "GFLOP/s", "int8_gops": "Gop/s", "gb_per_s": "GB/s"}),
        ("roofline", {"time_s": "seconds", "flops": "FLOPs", "bytes_moved": "bytes", "achieved": None}),
        ("sweep", {"items_per_s": "1/s", "items_per_s_low": "1/s", "items_per_s_high": "1/s", "batch": None}),
        ("accuracy", {"accuracy": None, "accuracy_low": None}),
    ],
)
def test_each_column_has_its_unit(tmp_path: Path, kind: str, units: dict[str, str | None]) -> None:
    index = json.loads((every_kind()[kind].export(tmp_path / "out") / "index.json").read_text())
    assert units.items() <= index["tables"]["tables/result.csv"]["columns"].items()


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_failed_export_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = every_kind()["comparison"]

    def export() -> list[str]:
        texts = []
        for folder in ("new", "empty"):
            with pytest.raises(wb.WorkbenchError) as caught:
                result.export(tmp_path / folder)
            texts.append(str(caught.value))
        return texts

    assert all("written" in text for text in forks.call_limited(export, file_bytes=2000))
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


def test_parts_have_tables_of_their_own() -> None:
    result = wb.Comparison(comparison())
    levels = further()["levels"]
    result.add(levels, "B")
    frame = dict(tables_of(result))["levels/B"]
    assert frame.equals(levels.to_frame())


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(wb.ConfigError, match="not empty"):
        wb.Comparison(comparison()).export(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_history_has_configs_in_columns(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    history.add(comparison("02-abc"))
    history.add(further()["levels"].record)
    frame = history.to_frame(configs=True)
    assert list(frame["id"]) == list(history.to_frame()["id"])
    compared = frame[frame["id"] == "02-abc"].iloc[0]
    assert compared["config_A"] == config_in_words(comparison().runs[0].config)
    assert compared["config_B"] == config_in_words(comparison().runs[1].config)
    assert "config_A" not in history.to_frame()
