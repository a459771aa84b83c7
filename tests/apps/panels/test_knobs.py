"""The knob table: every config beside the others, marks, a search over all options, further columns."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.factories.comparisons import ordinary
from workbench.apps.panels.configure import Configure
from workbench.apps.panels.knobs.option_row import option_rows
from workbench.apps.panels.knobs.rows import MEMORY, default_threads, standing_rows
from workbench.apps.panels.knobs.table import MOST_HITS, KnobTable
from workbench.apps.panels.request import LABELS
from workbench.apps.panels.sections.passes import fired_in, pass_rows
from workbench.apps.panels.state import BenchState
from workbench.core.config import KNOBS, catalogue

ROWS = ["model file", "level", "precision", "providers", "engine", "intra-op threads", "execution mode",
        "spinning", "transformer fusion", "memory", "IO binding", "inputs"]  # fmt: skip


@pytest.fixture
def column(bench: wb.Workbench) -> Configure:
    bench.state.budget_s = None
    return Configure(bench)


@pytest.fixture
def table(column: Configure) -> KnobTable:
    return column.table


def row(table: KnobTable, label: str) -> dict[str, Any]:
    """Return the row with this label, as the page gets it."""
    return next(row for row in (*table.view.rows, *table.view.hits) if row["label"] == label)


def cells(table: KnobTable, label: str) -> list[str]:
    return [cell["value"] for cell in row(table, label)["cells"]]


def do(table: KnobTable, act: str, **content: str) -> None:
    """Do what the page asks for."""
    table.view._received(table.view, {"act": act, **content}, [])


def test_both_configs_stand_beside_each_other_with_the_values_in_effect(table: KnobTable) -> None:
    assert [row["label"] for row in table.view.rows] == ROWS
    assert [column["name"] for column in table.view.columns] == ["A baseline", "B candidate"]
    assert cells(table, "level") == ["default: all"] * 2
    assert cells(table, "intra-op threads") == [f"default: {default_threads()}"] * 2
    assert cells(table, "providers") == ["default: CPU"] * 2
    assert cells(table, "memory") == ["default: all on"] * 2
    assert all(cell["default"] for row in table.view.rows for cell in row["cells"])


def test_every_knob_is_in_the_table_once_it_is_set() -> None:
    covered = {row.key for row in standing_rows()} | set(MEMORY)
    state = BenchState()
    bench = wb.Workbench()
    made = KnobTable(bench, lambda *_: None)
    values = {"level": "basic", "disabled_passes": ("GeluFusionL2",), "rewrites": ("conv1d-to-2d",),
              "saved_graph": "ort", "inter_op_threads": 2, "memory_reuse": False,
              "free_dimensions": {"batch": 1}, "deterministic": True,
              "session_entries": {"session.set_denormal_as_zero": "1"},
              "run_entries": {"memory.enable_memory_arena_shrinkage": "cpu:0"}}  # fmt: skip
    bench.b = state.b.replace(**values)
    assert set(values) <= covered | {row["key"] for row in made.view.rows}
    assert cells(made, "disabled passes") == ["none", "GeluFusionL2"]


def test_a_cell_sets_its_own_config(bench: wb.Workbench, table: KnobTable) -> None:
    do(table, "set", label="B", row="level", value="basic")
    do(table, "set", label="A", row="precision", value="dynamic int8")
    do(table, "set", label="B", row="memory", value="no arena")
    assert bench.b == wb.Config(level="basic", cpu_arena=False)
    assert bench.a == wb.Config(precision=wb.DynamicInt8())
    do(table, "set", label="B", row="level", value="default: all")
    assert bench.b == wb.Config(cpu_arena=False)


def test_what_differs_is_marked_and_a_click_on_the_mark_copies(bench: wb.Workbench, table: KnobTable) -> None:
    bench.a = wb.Config(level="extended", cpu_arena=False)
    assert [cell["differs"] for cell in row(table, "level")["cells"]] == [False, True]
    do(table, "copy", label="B", row="level")
    do(table, "copy", label="B", row="memory")
    assert bench.b == bench.a
    assert not any(cell["differs"] for row in table.view.rows for cell in row["cells"])


def test_a_value_that_no_cell_offers_is_shown(bench: wb.Workbench, table: KnobTable) -> None:
    bench.b = wb.Config(precision=wb.DynamicInt8(per_channel=True), intra_op_threads=999)
    assert cells(table, "precision")[1] == "dynamic int8 (scale per channel on)"
    assert cells(table, "intra-op threads")[1] == "999"


def test_a_refused_value_stays_in_its_cell_until_it_is_fixed(bench: wb.Workbench, table: KnobTable) -> None:
    do(table, "set", label="B", row="intra_op_threads", value="many")
    cell = row(table, "intra-op threads")["cells"][1]
    assert cell["value"] == "many"
    assert "whole number" in cell["error"]
    assert "Fix:" in table.status.value
    with pytest.raises(wb.WorkbenchError, match="was refused"):
        bench.compare()
    do(table, "set", label="B", row="intra_op_threads", value="3")
    assert bench.b == wb.Config(intra_op_threads=3)
    assert table.status.value == row(table, "intra-op threads")["cells"][1]["error"] == ""


def test_all_options_are_searched_set_and_dropped(bench: wb.Workbench, table: KnobTable) -> None:
    assert table.view.total == len(catalogue().all_options)
    assert table.view.hits == []
    table.view.search = "arena"
    labels = [row["label"] for row in table.view.hits]
    assert "memory" in labels
    assert "run memory.enable_memory_arena_shrinkage" in labels
    table.view.search = "session"
    assert len(table.view.hits) == MOST_HITS
    assert "more" in table.view.hit_count
    table.view.search = "denormal"
    (hit,) = (row for row in table.view.hits if row["label"] == "session session.set_denormal_as_zero")
    do(table, "set", label="B", row=hit["key"], value="on")
    assert bench.b == wb.Config(session_entries={"session.set_denormal_as_zero": True})
    assert cells(table, hit["label"]) == ["default: 0", "on"]
    do(table, "copy", label="B", row=hit["key"])
    assert bench.b == wb.Config()


def test_a_row_that_left_the_search_says_so(bench: wb.Workbench, table: KnobTable) -> None:
    table.view.search = "denormal"
    (hit,) = (row for row in table.view.hits if row["label"] == "session session.set_denormal_as_zero")
    table.view.search = ""
    do(table, "set", label="B", row=hit["key"], value="on")
    assert "is no row of the table now" in table.status.value
    assert bench.b == wb.Config()


def test_an_option_of_a_provider_brings_the_provider(bench: wb.Workbench, table: KnobTable) -> None:
    table.view.search = "cuda cudnn_conv_algo_search"
    do(table, "set", label="B", row=table.view.hits[0]["key"], value="HEURISTIC")
    assert bench.b.providers == (wb.Provider("cuda", cudnn_conv_algo_search="HEURISTIC"),)


def test_every_option_that_can_be_set_is_found() -> None:
    settable = [option for option in catalogue().all_options if option.instead is None]
    assert len(option_rows()) >= len(settable) - 8, "all but those with a knob of their own"
    assert len({row.key for row in option_rows()}) == len(option_rows())


def test_more_opens_the_section_of_that_config(bench: wb.Workbench, column: Configure) -> None:
    bench.state.editing = "A"
    do(column.table, "set", label="B", row="precision", value="more…")
    (precision,) = (section for section in column.sections if section.group == "precision")
    assert precision.open
    assert bench.state.editing == "B"
    do(column.table, "open", value="inputs")
    assert next(section for section in column.sections if section.group == "inputs").open


def test_columns_are_added_dropped_and_undone(bench: wb.Workbench, table: KnobTable) -> None:
    do(table, "set", label="B", row="level", value="basic")
    do(table, "duplicate", label="B")
    assert bench.state.configs == dict(zip("ABC", (wb.Config(), bench.b, bench.b), strict=True))
    assert bench.state.editing == "C"
    do(table, "set", label="C", row="spinning", value="off")
    assert cells(table, "spinning") == ["default: on", "default: on", "off"]
    do(table, "drop", label="B")
    assert bench.b == wb.Config(level="basic", spinning=False)
    assert bench.state.editing == "B"
    do(table, "drop", label="B")
    do(table, "drop", label="A")
    assert list(bench.state.configs) == ["A", "B"], "two stay"
    bench.state.undo()
    assert list(bench.state.configs) == ["A", "B", "C"]
    for _ in LABELS:
        do(table, "duplicate", label="A")
    assert "".join(bench.state.configs) == LABELS


def test_the_code_and_the_request_hold_every_column(bench: wb.Workbench) -> None:
    bench.state.set_configs({"A": wb.Config(), "B": wb.Config(level="basic"), "C": wb.Config(spinning=False)})
    assert list(bench.request().subject.configs) == ["A", "B", "C"]
    code = bench.code("panels")
    assert "c = wb.Config(spinning=False)" in code
    assert "wb.compare(model, a, b, c" in code
    assert "allow_spinning" in bench.code("C")


def test_the_inputs_are_named_by_their_dimensions(bench: wb.Workbench, table: KnobTable) -> None:
    settle(bench)
    line = row(table, "inputs")["line"]
    assert line.startswith("batch ")
    assert line.endswith("seed 0")
    bench.state.dims = (("batch", 7),)
    settle(bench)
    assert row(table, "inputs")["line"] == "batch 7, seed 0"
    bench.state.budget_s = 3.0
    assert row(table, "measuring")["line"] == "at most 3 s"
    bench.state.clock = "cpu"
    assert row(table, "measuring")["line"] == "at most 3 s, comparisons: processor time at one thread"


def test_the_fastest_column_is_marked(bench: wb.Workbench, table: KnobTable) -> None:
    result = wb.Comparison(ordinary())
    bench.state.show_comparison(result, bench.request().subject)
    assert [column["best"] for column in table.view.columns] == [False, result.verdict.kind == "faster"]
    bench.set("level", "basic")
    assert not any(column["best"] for column in table.view.columns), "another config than the measured one"


@pytest.mark.real
def test_three_configs_are_compared(bench: wb.Workbench) -> None:
    bench.set("level", "basic")
    bench.state.duplicate("B")
    bench.set("level", "disabled")
    bench.compare(wait=True)
    assert [run.label for run in bench.result.runs] == ["A", "B", "C"]
    bench.run("explanation", wait=True)
    assert {part.label for part in bench.result.parts} == {"A", "B", "C"}


@pytest.mark.real
def test_passes_that_fired_on_this_model_stand_first(bench: wb.Workbench) -> None:
    assert fired_in(bench.state) == {}
    bench.run("explanation", wait=True)
    fired = fired_in(bench.state)
    assert fired
    first = pass_rows(fired)[0]
    assert first[0] in fired
    assert first[1] == f"fired {max(fired.values()):,}×"


def test_every_knob_has_words_for_its_default() -> None:
    for standing in standing_rows():
        assert standing.is_default(wb.Config())
        assert standing.shown(wb.Config()) == next(iter(standing.settings))
    assert {knob.field for knob in KNOBS}


def test_another_model_file_is_a_column_with_a_precision_of_its_own(
    bench: wb.Workbench, table: KnobTable
) -> None:
    do(table, "set", label="B", row="file", value="digits-conv-qat")
    assert bench.b == wb.Config(precision=wb.PreparedModel("digits-conv-qat"))
    assert cells(table, "model file") == ["the open model", "digits-conv-qat"]
    assert cells(table, "precision") == ["as in the file"] * 2
    do(table, "set", label="B", row="precision", value="dynamic int8")
    inside = wb.PreparedModel("digits-conv-qat", precision=wb.DynamicInt8())
    assert bench.b == wb.Config(precision=inside)
    assert "wb.PreparedModel(" in bench.code("panels")
    do(table, "set", label="B", row="file", value="digits-conv")
    assert bench.b.precision.model == "digits-conv"  # type: ignore[union-attr]
    do(table, "copy", label="B", row="file")
    assert bench.b == wb.Config(precision=wb.DynamicInt8())
    do(table, "set", label="B", row="file", value="no-such-file.onnx")
    assert "There is no model file" in table.status.value
    assert bench.b == wb.Config(precision=wb.DynamicInt8())


@pytest.mark.real
def test_two_files_are_compared(bench: wb.Workbench, model: Any) -> None:
    other = model.with_name("other.onnx")
    other.write_bytes(model.read_bytes())
    do(Configure(bench).table, "set", label="B", row="file", value=str(other))
    bench.compare(wait=True)
    assert bench.result.runs[1].failure is None
    assert all(row.agrees for row in bench.result.agreement)
