"""`wb.matrix`: cells, failures, continuing, the heat table, the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.core.models import tiny
from tests.factories import results as examples
from workbench.apps.cli import main
from workbench.core.errors import ConfigError
from workbench.drawing.palette import GAIN, LOSS
from workbench.drawing.shapes import Rect, TextLine
from workbench.features.grid.calls import by_model
from workbench.features.grid.chart import matrix_data, matrix_figure, matrix_scene


def test_cells_say_latency_verdict_or_reason() -> None:
    record = examples.matrix()
    texts = [[cell.text for cell in record.cells(row)] for row in record.places]
    assert texts[0] == ["1.994 ms", "1.83× faster"]
    assert texts[1][1] == "1.52× slower"
    assert set(texts[2]) == {"no such file"}
    assert record.headline == "3 models under 2 configs; A wins 1 time, B wins 1 time, not measured: 1"
    assert "gone: no such file" in str(record)


@pytest.mark.parametrize(
    ("kind", "text"), [("tie", "tie"), ("unknown", "not settled"), ("outputs differ", "outputs differ")]
)
def test_no_speed_is_shown_where_none_is_settled(kind: Any, text: str) -> None:
    record = examples.matrix()
    measured = record.places[0].measured
    assert measured is not None
    verdicts = (replace(measured.verdicts[0], kind=kind),)
    row = replace(record.places[0], measured=replace(measured, verdicts=verdicts))
    assert record.cells(row)[1].text == text
    data = matrix_data(replace(record, places=(row,)))
    assert data.rows[0][1][1].level == 0


def test_the_frame_has_a_row_a_cell_and_nothing_is_zero() -> None:
    frame = examples.matrix().to_frame()
    assert list(frame["model"]) == ["tiny", "tiny", "small", "small", "gone", "gone"]
    assert list(frame["label"]) == ["A", "B"] * 3
    assert frame.iloc[-1][["median_ms", "ratio", "load_s", "peak_rss_bytes"]].isna().all()
    assert frame.iloc[-1]["failure"] == "no such file"
    assert frame.iloc[1]["ratio"] == 1.83


def test_rows_are_sorted_by_the_speed_up_of_a_config() -> None:
    result = wb.Matrix(examples.matrix(), examples.about())
    assert [row.model for row in result.sorted_by("B").record.places] == ["tiny", "small", "gone"]
    backwards = replace(result.record, places=result.record.places[::-1])
    assert backwards.sorted_by("B").places == result.record.places
    assert [row.model for row in backwards.sorted_by("A").places] == ["tiny", "small", "gone"]
    with pytest.raises(ConfigError, match="no config 'Z'"):
        result.sorted_by("Z")


def test_the_heat_table_is_coloured_where_settled() -> None:
    data = matrix_data(examples.matrix())
    (_, (first, faster)), (_, (_, slower)), (_, (missing, _)) = data.rows
    assert first.level == missing.level == 0
    assert faster.level > -slower.level > 0
    assert "1.79 to 1.88" in faster.detail
    (heat,) = matrix_figure(examples.matrix()).data
    assert heat.text[0][1] == "1.83× faster"
    assert heat.z[0][1] == faster.level
    shapes = matrix_scene(examples.matrix()).shapes
    fills = [(shape.fill, shape.opacity) for shape in shapes if isinstance(shape, Rect)]
    assert fills[1] == (GAIN, faster.level)
    assert fills[3] == (LOSS, -slower.level)
    assert fills[0] == fills[2] == fills[4] == (None, 1.0)
    texts = [shape.text for shape in shapes if isinstance(shape, TextLine)]
    assert {"tiny", "A", "B", "1.83× faster", "no such file"} <= set(texts)


def test_one_model_as_a_comparison() -> None:
    result = wb.Matrix(examples.matrix(), examples.about())
    assert result.comparison("tiny").verdict.kind == "faster"
    with pytest.raises(ConfigError, match="no such file"):
        result.comparison("gone")
    with pytest.raises(ConfigError, match="no model 'x'"):
        result.comparison("x")


@pytest.mark.parametrize(
    ("models", "configs", "problem"),
    [
        ([], [wb.Config()], "there are no models"),
        (["m.onnx"], [], "there are no configs"),
        ("m.onnx", [wb.Config()], "is no list of models"),
        (["m.onnx"], wb.Config(), "is no list of configs"),
        (["m.onnx"], ["level=all"], "is no config"),
    ],
)
def test_lists_are_asked_for(models: Any, configs: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        wb.matrix(models, configs)


def test_the_rows_are_sorted_by_a_menu_without_a_kernel() -> None:
    record = examples.matrix()
    figure = matrix_figure(replace(record, places=record.places[::-1]))
    (menu,) = figure.layout.updatemenus
    assert [button.label for button in menu.buttons] == ["as given", "sorted by A", "sorted by B"]
    assert figure.layout.yaxis.ticktext == ("gone", "small", "tiny")
    traces, layout = menu.buttons[2].args
    assert layout == {"yaxis.ticktext": ["tiny", "small", "gone"]}
    assert traces["text"][0][0][1] == "1.83× faster"
    assert {key: len(rows[0]) for key, rows in traces.items()} == {"z": 3, "text": 3, "hovertext": 3}
    assert not matrix_figure(replace(record, places=record.places[:1])).layout.updatemenus


def test_an_argument_is_one_for_all_models_or_one_by_model() -> None:
    arrays = {"x": [1.0]}
    assert by_model(arrays, ["a", "b"])["b"] is arrays
    assert by_model({"a": "a.npz"}, ["a", "b"]) == {"a": "a.npz", "b": None}
    shared = by_model(iter([1, 2]), ["a", "b"])
    assert [list(shared[name]) for name in "ab"] == [[1, 2], [1, 2]]


@pytest.mark.real
def test_every_model_gets_the_inputs_and_keeps_its_accuracy(tmp_path: Path) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    shape = wb.load(path).inputs().feeds[0]["x"].shape
    mine = np.ones((3, *shape[1:]), np.float32)
    configs = [wb.Config(), wb.Config(precision=wb.DynamicInt8())]
    result = wb.matrix([path], configs, inputs={"x": mine}, budget_s=0.3, progress=False, keep=False)
    measured = result.record.places[0].measured
    assert measured is not None
    assert measured.inputs.shapes[0][1] == f"float32[{','.join(map(str, mine.shape))}]"
    assert result.best(max_accuracy_drop=0.1).answer == "not settled"
    labels = np.zeros(len(mine), np.int64)
    tables = result.accuracy({"tiny": ({"x": mine}, labels)}, progress=False)
    assert [score.label for score in tables["tiny"].scores] == ["A", "B"]
    checks = [check for row in result.best(max_accuracy_drop=1.0).contenders for check in row.checks]
    assert {check.what: check.passed for check in checks}["accuracy"] is True
    again = wb.open(result.save(tmp_path / "matrix.ortbench"))
    assert again.accuracy_of("tiny") == tables["tiny"].record
    with pytest.raises(wb.WorkbenchError, match="the model is not at hand"):
        again.accuracy()
    with pytest.raises(ConfigError, match="not in the matrix"):
        result.accuracy({"other": None})


def test_measuring_the_accuracy_of_the_first_model_again_replaces_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(model: wb.Model, *_: Any, **__: Any) -> Any:
        return replace(examples.accuracy(), model_name=model.name)

    monkeypatch.setattr("workbench.features.grid.result.accuracy", measured)
    paths = {name: tiny.save(tiny.mlp(), tmp_path, f"{name}.onnx") for name in ("tiny", "small")}
    models = {name: wb.load(path) for name, path in paths.items()}
    result = wb.Matrix(examples.matrix(), examples.about()).of_models(models, {})
    for _ in range(2):
        result.accuracy(progress=False)
    again = wb.open(result.save(tmp_path / "matrix.ortbench"))
    assert [again.accuracy_of(name).model_name for name in models] == ["tiny", "small"]


@pytest.mark.slow
@pytest.mark.real
def test_two_files_of_one_name_are_two_models(tmp_path: Path) -> None:
    paths = []
    for folder, made in (("a", tiny.mlp()), ("b", tiny.conv_net()), ("b/again", tiny.mlp())):
        (tmp_path / folder).mkdir()
        paths.append(tiny.save(made, tmp_path / folder, "model.onnx"))
    result = wb.matrix([*paths, paths[0]], [wb.Config()] * 2, budget_s=0.4, progress=False, keep=False)
    names = ["a/model", "b/model", "again/model", "a/model (2)"]
    assert [row.model for row in result.record.places] == names
    assert [result.comparison(name).record.model.sha256 for name in names] == [
        row.sha256 for row in result.record.places
    ]
    tables = result.accuracy(progress=False)
    assert list(tables) == names
    assert [result.accuracy_of(name) for name in names] == [tables[name].record for name in names]


@pytest.mark.real
def test_a_failure_is_a_cell_and_a_file_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, file = tiny.save(tiny.mlp(), tmp_path), tmp_path / "all.ortbench"
    configs = [wb.Config(), wb.Config(level="disabled")]
    gone = tmp_path / "gone.onnx"
    first = wb.matrix([path, gone], configs, file=file, budget_s=0.2, progress=False)
    assert [row.problem is None for row in first.record.places] == [True, False]
    assert "gone.onnx" in str(first.record.places[1].problem)
    assert wb.open(file).record.places[0] == first.record.places[0]
    gone.write_bytes(path.read_bytes()[:-1])  # no model
    measured: list[str] = []

    def measure_runs(model: Any, *_: Any, **__: Any) -> Any:
        measured.append(model.name)

    monkeypatch.setattr("workbench.features.grid.calls.measure_runs", measure_runs)
    again = wb.matrix([path, gone], configs, file=file, progress=False, keep=False)
    assert measured == [], "the model in the file is not measured again"
    assert again.record.places[0] == first.record.places[0]
    with pytest.raises(ConfigError, match="no matrix of these configs"):
        wb.matrix([path], configs[:1], file=file, progress=False)


def test_a_file_in_the_home_folder_is_continued_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "held.ortbench").write_bytes(b"no bundle")
    with pytest.raises(ConfigError, match="cannot be continued"):
        wb.matrix(["gone.onnx"], [wb.Config()], file="~/held.ortbench", progress=False, keep=False)
    assert (tmp_path / "held.ortbench").read_bytes() == b"no bundle"


def test_bytes_that_are_no_model_do_not_name_their_row() -> None:
    result = wb.matrix([b"no model" * 10_000], [wb.Config()], progress=False, keep=False)
    (place,) = result.record.places
    assert (place.model, place.measured) == ("bytes", None)


@pytest.mark.real
def test_the_command_prints_the_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny.save(tiny.mlp(), tmp_path)
    arguments = ["matrix", str(path), "--b", "level=disabled", "--budget", "0.5", "--no-history", "--csv"]
    assert main([*arguments, "--sort", "b"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("model,label,config,median_ms")
    assert len(rows) == 2
    assert main([*arguments, "--sort", "z"]) == 2
