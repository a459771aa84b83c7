"""What a config can run on: other engines, and the ONNX Runtime of other environments, in one cell."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.factories.environments import environment
from workbench.apps.panels.knobs.table import KnobTable
from workbench.apps.panels.recent import ENVIRONMENTS, recent, remember
from workbench.features.doctor.engines import Environment, choices, read_environment

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def table(bench: wb.Workbench) -> KnobTable:
    made = KnobTable(bench)
    made.view.drawer = True
    settle(bench)
    return made


def options(table: KnobTable) -> list[str]:
    return next(row["options"] for row in table.view.rows if row["key"] == "engine")


def put(table: KnobTable, text: str) -> None:
    """Choose or type a value in B's cell."""
    table.view.received(table.view, {"act": "set", "label": "B", "row": "engine", "value": text}, [])


def cell(table: KnobTable) -> str:
    return str(next(row["cells"][1]["value"] for row in table.view.rows if row["key"] == "engine"))


def test_engines_stand_beside_this_onnx_runtime(bench: wb.Workbench, table: KnobTable) -> None:
    first, *others = options(table)
    assert first.startswith("default: ONNX Runtime 1.")
    assert cell(table) == first
    (openvino,) = (option for option in others if option.startswith("OpenVINO 2"))
    assert "TensorRT (not installed here)" in others
    put(table, openvino)
    assert bench.b == wb.Engine("openvino")
    assert cell(table) == openvino
    put(table, first)
    assert bench.b == wb.Config()


def test_a_typed_environment_is_offered_by_its_versions(
    bench: wb.Workbench, table: KnobTable, tmp_path: Path
) -> None:
    python = environment(tmp_path / "ort120", onnxruntime="1.20.1", torch="2.9.0")
    put(table, str(tmp_path / "ort120"))
    assert bench.b == wb.Config(runtime=str(tmp_path / "ort120"))
    settle(bench)
    assert cell(table) == "ONNX Runtime 1.20.1 (ort120)"
    put(table, "PyTorch 2.9.0 (ort120)")
    assert bench.b == wb.Engine("pytorch").replace(runtime=str(tmp_path / "ort120"))
    assert Path(recent(ENVIRONMENTS)[0]) == Path(python).parents[1]


def test_the_next_kernel_offers_it_while_it_is_there(
    bench: wb.Workbench, table: KnobTable, tmp_path: Path
) -> None:
    assert not [option for option in options(table) if "ort119" in option]
    remember(environment(tmp_path / "ort119", onnxruntime="1.19.2"), ENVIRONMENTS)
    remember(environment(tmp_path / "gone", onnxruntime="1.18.0"), ENVIRONMENTS)
    (tmp_path / "gone" / "bin" / "python").unlink()
    later = KnobTable(bench)
    later.view.drawer = True
    settle(bench)
    assert [option for option in options(later) if "(ort119)" in option] == ["ONNX Runtime 1.19.2 (ort119)"]
    assert not [option for option in options(later) if "gone" in option]


def test_a_path_without_a_python_is_refused_in_its_cell(
    bench: wb.Workbench, table: KnobTable, tmp_path: Path
) -> None:
    put(table, str(tmp_path / "nothing"))
    assert bench.b == wb.Config()
    assert "there is no such interpreter" in table.status.value


def test_an_engine_beside_a_level_is_refused_in_its_cell(bench: wb.Workbench, table: KnobTable) -> None:
    bench.b = wb.Config(level="basic")
    put(table, next(option for option in options(table) if option.startswith("OpenVINO")))
    assert bench.b == wb.Config(level="basic")
    assert "cannot be set beside" in table.status.value


def test_a_program_that_is_no_python_is_said(bench: wb.Workbench, table: KnobTable, tmp_path: Path) -> None:
    (tmp_path / "true").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "true").chmod(0o755)
    put(table, str(tmp_path / "true"))
    settle(bench)
    assert "does not tell its packages" in str(bench.state.run_error)
    assert recent(ENVIRONMENTS) == ()


def test_the_search_finds_it_by_runtime_and_by_engine(table: KnobTable) -> None:
    for word in ("runtime", "pytorch"):
        table.view.search = word
        assert "engine" in [row["key"] for row in table.view.hits]


def test_options_of_an_engine_are_shown_in_words(bench: wb.Workbench, table: KnobTable) -> None:
    bench.b = wb.Engine("openvino", hint="latency")
    assert cell(table) == "OpenVINO (performance hint latency)"


def test_each_engine_of_an_environment_is_one_choice() -> None:
    here = Environment(None, "1.31.1", (("openvino", "2026.1"),))
    other = Environment("/envs/old", "1.20.0", (("torch", "2.9"),))
    assert choices((here, other)) == {
        "default: ONNX Runtime 1.31.1": (None, None),
        "OpenVINO 2026.1": (wb.OpenVino(), None),
        "ONNX Runtime 1.20.0 (old)": (None, "/envs/old"),
        "PyTorch 2.9 (old)": (wb.PyTorch(), "/envs/old"),
        "PyTorch (not installed here)": (wb.PyTorch(), None),
        "TensorRT (not installed here)": (wb.TensorRt(), None),
        "ONNX Runtime GenAI (not installed here)": (wb.GenAi(), None),
    }
    assert next(iter(choices(()))) == "default: ONNX Runtime"


def test_this_environment_needs_no_process() -> None:
    assert read_environment(None).onnxruntime is not None
