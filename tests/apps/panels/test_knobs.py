"""The knob table: every config beside the others, marks, a search over all options, further columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.core.models import tiny
from tests.factories.comparisons import ordinary
from tests.test_running_inputs import text_line
from workbench.apps.panels.knobs.details import fired_in, pass_rows
from workbench.apps.panels.knobs.option_row import option_rows
from workbench.apps.panels.knobs.rows import default_threads, standing_rows
from workbench.apps.panels.knobs.table import CHIEF, MOST_HITS, KnobTable
from workbench.apps.panels.request import LABELS
from workbench.apps.panels.state import BenchState
from workbench.core.config import KNOBS, catalogue, pass_help, shipped_passes
from workbench.core.cpu import usable_cores
from workbench.core.measure.providers import ProviderState
from workbench.features.doctor.presets import PRESETS
from workbench.features.doctor.records import Plugin, Survey


@pytest.fixture
def table(bench: wb.Workbench) -> KnobTable:
    bench.state.budget_s = None
    made = KnobTable(bench)
    made.view.drawer = True
    return made


def row(table: KnobTable, label: str) -> dict[str, Any]:
    """Return the row with this label, as the page gets it."""
    return next(row for row in (*table.view.rows, *table.view.hits) if row["label"] == label)


def cells(table: KnobTable, label: str) -> list[str]:
    return [cell["value"] for cell in row(table, label)["cells"]]


def do(table: KnobTable, act: str, **content: str) -> None:
    """Do what the page asks for."""
    table.view.received(table.view, {"act": act, **content}, [])


def test_both_configs_stand_beside_each_other_with_the_values_in_effect(table: KnobTable) -> None:
    assert {row["key"] for row in table.view.rows} >= {knob.field for knob in KNOBS} - {"runtime"}
    assert [column["name"] for column in table.view.columns] == ["A baseline", "B candidate"]
    assert cells(table, "level") == ["default: all"] * 2
    assert cells(table, "intra-op threads") == [f"default: {default_threads()}"] * 2
    assert cells(table, "providers") == ["default: CPU"] * 2
    assert cells(table, "CPU arena") == ["default: on"] * 2
    assert all(cell["default"] for row in table.view.rows for cell in row["cells"] if not row.get("shared"))
    table.view.drawer = False
    assert tuple(row["key"] for row in table.view.rows if row["key"] in CHIEF) == tuple(
        row["key"] for row in table.view.rows
    )


def test_a_path_for_all_configs_stands_there_whole_and_as_it_is(
    bench: wb.Workbench, table: KnobTable
) -> None:
    """The page sends the whole text back when a person edits it."""
    path = f"/data/{'long ' * 50} two  spaces.npz"
    table.view.drawer = True
    bench.state.data = path
    assert path in [cell["value"] for row in table.view.rows if row.get("shared") for cell in row["cells"]]


def test_what_was_said_of_a_value_for_all_goes_with_a_new_result(
    bench: wb.Workbench, table: KnobTable
) -> None:
    do(table, "set", label="", row="seed", value="abc")
    assert "abc" in table.status.value
    bench.state.answer = replace(bench.state.answer, result=wb.Comparison(ordinary()))
    assert table.status.value == ""


def test_every_knob_is_in_the_table_once_it_is_set() -> None:
    covered = {row.key for row in standing_rows()}
    state = BenchState()
    bench = wb.Workbench()
    made = KnobTable(bench)
    values = {"level": "basic", "disabled_passes": ("GeluFusionL2",), "rewrites": ("conv1d-to-2d",),
              "saved_graph": "ort", "inter_op_threads": 2, "memory_reuse": False,
              "free_dimensions": {"batch": 1}, "deterministic": True,
              "session_entries": {"session.set_denormal_as_zero": "1"},
              "run_entries": {"memory.enable_memory_arena_shrinkage": "cpu:0"}}  # fmt: skip
    bench.b = state.configs["B"].replace(**values)
    assert set(values) <= covered | {row["key"] for row in made.view.rows}
    assert cells(made, "disabled passes") == ["none", "GeluFusionL2"]


def test_a_cell_sets_its_own_config(bench: wb.Workbench, table: KnobTable) -> None:
    do(table, "set", label="B", row="level", value="basic")
    do(table, "set", label="A", row="precision", value="dynamic int8")
    do(table, "set", label="B", row="cpu_arena", value="off")
    assert bench.b == wb.Config(level="basic", cpu_arena=False)
    assert bench.a == wb.Config(precision=wb.DynamicInt8())
    do(table, "set", label="B", row="level", value="default: all")
    assert bench.b == wb.Config(cpu_arena=False)


def test_what_differs_is_marked_and_a_click_on_the_mark_copies(bench: wb.Workbench, table: KnobTable) -> None:
    bench.a = wb.Config(level="extended", cpu_arena=False)
    assert [cell["differs"] for cell in row(table, "level")["cells"]] == [False, True]
    do(table, "copy", label="B", row="level")
    do(table, "copy", label="B", row="cpu_arena")
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
    assert {row["key"] for row in table.view.hits} >= {"level", "memory_pattern"}, "all knobs"
    table.view.search = "arena"
    labels = [row["label"] for row in table.view.hits]
    assert "CPU arena" in labels
    assert "run memory.enable_memory_arena_shrinkage" in labels
    table.view.search = "e"
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


def test_the_details_of_a_row_open_below_it(bench: wb.Workbench, table: KnobTable) -> None:
    bench.b = wb.Config(precision=wb.StaticInt8())
    do(table, "details", row="precision", value="open")
    keys = [row["key"] for row in table.view.rows]
    at = keys.index("precision")
    assert all(key.startswith("precision/static_int8/") for key in keys[at + 1 : at + 11])
    do(table, "set", label="B", row="precision/static_int8/calibrator", value="percentile")
    do(table, "set", label="B", row="precision/static_int8/percentile", value="99.5")
    do(table, "set", label="B", row="precision/static_int8/exclude", value="second, first")
    exclude = ("first", "second")
    assert bench.b.precision == wb.StaticInt8(calibrator="percentile", percentile=99.5, exclude=exclude)
    assert row(table, "calibrator")["cells"][0]["none"], "A has no such part"
    do(table, "set", label="B", row="precision/static_int8/percentile", value="many")
    assert "percentile" in table.status.value
    do(table, "details", row="precision", value="")
    assert not any(row["inner"] for row in table.view.rows if "inner" in row)


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


def test_the_inputs_and_the_measuring_have_rows_for_all_configs(
    bench: wb.Workbench, table: KnobTable
) -> None:
    settle(bench)
    assert row(table, "size of batch")["cells"][0]["value"].isdecimal()
    do(table, "set", row="dims/batch", value="7")
    do(table, "set", row="seed", value="5")
    do(table, "set", row="budget_s", value="3")
    do(table, "set", row="smallest_effect", value="2.5")
    do(table, "set", row="clock", value="processor time")
    settle(bench)
    do(table, "set", row="dims/batch", value="7")
    assert (bench.state.dims, bench.state.seed, bench.state.budget_s) == ((("batch", 7),), 5, 3.0)
    assert (bench.state.smallest_effect, bench.state.clock) == (0.025, "cpu")
    assert "[7," in row(table, "inputs")["line"]
    do(table, "set", row="dims/batch", value="9" * 5000)
    assert "size of batch: &#x27;9999" in table.status.value
    assert "cannot be read" in table.status.value
    do(table, "set", row="dims/batch", value="none of these")
    assert "Fix:" in table.status.value
    do(table, "set", row="dims/batch", value="")
    do(table, "set", row="budget_s", value="")
    assert (bench.state.dims, bench.state.budget_s) == ((), None)


def test_the_fastest_column_is_marked(bench: wb.Workbench, table: KnobTable) -> None:
    result = wb.Comparison(ordinary())
    bench.state.show_comparison(result, bench.request().subject)
    assert [column["best"] for column in table.view.columns] == [False, result.verdict.kind == "faster"]
    bench.set("level", "basic")
    assert not any(column["best"] for column in table.view.columns), "another config than the measured one"


@pytest.mark.real
def test_passes_that_fired_on_this_model_stand_first(bench: wb.Workbench) -> None:
    assert fired_in(bench.state) == {}
    bench.run("explanation", wait=True)
    fired = fired_in(bench.state)
    assert fired
    first = pass_rows(fired)[0]
    assert first.key in fired
    assert first.label == f"{first.key}, fired {max(fired.values()):,}×"


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


@pytest.mark.parametrize("text", ["~no-such-user/x.onnx", f"{'x' * 5000}.onnx"])
def test_a_text_that_is_no_path_is_refused_as_a_model_file(table: KnobTable, text: str) -> None:
    do(table, "set", label="B", row="file", value=text)
    assert "There is no model file" in table.status.value


def test_every_pass_has_its_sentence() -> None:
    assert not [name for name in shipped_passes().names if not pass_help(name)]


@pytest.mark.parametrize(
    ("level", "muted", "active"),
    [
        ("disabled", ("ConstantFolding", "GeluFusionL2", "NchwcTransformer"), ()),
        ("basic", ("GeluFusionL2", "NchwcTransformer"), ("ConstantFolding",)),
        ("extended", ("NchwcTransformer",), ("ConstantFolding", "GeluFusionL2")),
        ("all", (), ("ConstantFolding", "GeluFusionL2", "NchwcTransformer")),
    ],
)
def test_a_pass_is_left_out_and_those_above_the_level_say_so(
    bench: wb.Workbench, table: KnobTable, level: str, muted: tuple[str, ...], active: tuple[str, ...]
) -> None:
    bench.b = wb.Config(level=level)
    do(table, "details", row="disabled_passes", value="open")
    assert all(cells(table, name)[1] == f"does not run: level {level}" for name in muted)
    assert all(cells(table, name)[1] == "on" for name in active)
    do(table, "set", label="B", row="ConstantFolding", value="off")
    assert bench.b == wb.Config(level=level, disabled_passes=("ConstantFolding",))
    assert cells(table, "ConstantFolding")[1] == "off"


def test_names_are_typed_with_commas(bench: wb.Workbench, table: KnobTable) -> None:
    do(table, "set", label="B", row="rewrites", value="unused-weights-removed, weights-out-of-inputs")
    do(table, "set", label="B", row="free_dimensions", value="batch=1")
    do(table, "set", label="B", row="session_entries", value="session.set_denormal_as_zero=1")
    assert bench.b == wb.Config(
        rewrites=("weights-out-of-inputs", "unused-weights-removed"),
        free_dimensions={"batch": 1},
        session_entries={"session.set_denormal_as_zero": "1"},
    )


def test_single_fusions_are_switched(bench: wb.Workbench, table: KnobTable) -> None:
    bench.b = wb.Config(fusion=wb.TransformerFusion(options={"enable_gelu": False}))
    do(table, "details", row="fusion", value="open")
    assert cells(table, "enable gelu")[1] == "off"
    do(table, "set", label="B", row="fusion/transformer/options/enable_gelu", value="on")
    assert bench.b.fusion == wb.TransformerFusion(options={"enable_gelu": True})
    do(table, "set", label="B", row="fusion/transformer/options/enable_gelu", value="default")
    assert bench.b.fusion == wb.TransformerFusion()


def test_outputs_with_other_names_are_typed_as_pairs(bench: wb.Workbench, table: KnobTable) -> None:
    bench.b = wb.Config(precision=wb.PreparedModel("digits-conv-qat", compare_outputs=False))
    do(table, "details", row="file", value="open")
    do(table, "set", label="B", row="precision/prepared_model/renamed_outputs", value="339=logits")
    do(table, "set", label="B", row="file", value="digits-conv")
    renamed = (("339", "logits"),)
    named = wb.PreparedModel("digits-conv", renamed_outputs=renamed, compare_outputs=False)
    assert bench.b.precision == named
    do(table, "set", label="B", row="precision/prepared_model/renamed_outputs", value="339")
    assert "NAME=VALUE" in table.status.value
    assert bench.b.precision == named


def surveyed(bench: wb.Workbench, *checks: ProviderState, plugins: tuple[Plugin, ...] = ()) -> None:
    """Let the doctor have found this."""
    doctor = wb.Doctor.__new__(wb.Doctor)
    object.__setattr__(doctor, "survey", Survey("1.31.1", "Release", (), checks, (), None, plugins))
    bench.state.doctor = doctor


def test_providers_are_listed_in_order_and_have_their_options_below(
    bench: wb.Workbench, table: KnobTable
) -> None:
    surveyed(bench)
    do(table, "set", label="B", row="providers", value="cuda, cpu")
    assert [provider.short_name for provider in bench.b.providers] == ["cuda", "cpu"]
    do(table, "details", row="providers", value="open")
    do(table, "set", label="B", row="CUDAExecutionProvider/cudnn_conv_algo_search", value="HEURISTIC")
    assert bench.b.providers[0].option("cudnn_conv_algo_search") == "HEURISTIC"
    assert "NVIDIA" in row(table, "cuda")["line"]


def test_providers_that_do_not_work_here_stand_apart_with_why(bench: wb.Workbench, table: KnobTable) -> None:
    missing = ("libcublasLt.so.13", "libcurand.so.10")
    cuda = ProviderState("CUDAExecutionProvider", "does not load", "…", missing, "install it")
    surveyed(bench, cuda, ProviderState("DmlExecutionProvider", "works", "", (), ""))
    providers = row(table, "providers")
    assert providers["apart"]["cuda"] == "libcublasLt.so.13 was not found"
    assert set(providers["apart"]) <= set(providers["options"])
    assert not {"dml", "cpu"} & set(providers["apart"])
    do(table, "details", row="providers", value="open")
    assert "Fix: install it" in row(table, "cuda")["line"]
    table.view.search = "enable"
    whys = [row["why"] for row in table.view.hits]
    assert "libcublasLt.so.13 was not found" in whys
    assert whys == sorted(whys, key=bool), "what is not available stands last"


def test_a_plugin_that_is_installed_is_offered_and_found_by_itself(
    bench: wb.Workbench, table: KnobTable
) -> None:
    surveyed(bench, plugins=(Plugin("some-ep==1.0", ("own_ep: NPU of Somebody",), ""),))
    offered = "own_ep: plugin some-ep==1.0, NPU of Somebody"
    assert offered in row(table, "providers")["options"]
    do(table, "set", label="B", row="providers", value=offered)
    assert bench.b.providers == (wb.Provider("own_ep", library="auto"),)


def test_presets_copies_and_undo(bench: wb.Workbench, table: KnobTable) -> None:
    surveyed(bench)
    for preset in PRESETS:
        do(table, "command", label="B", value=preset.name)
        assert bench.b == preset.make(bench.state.model)
    last = bench.b
    do(table, "command", label="B", value="swap with A")
    assert (bench.a, bench.b) == (last, wb.Config())
    do(table, "command", label="B", value="make it the same as A")
    assert bench.a == bench.b
    assert "the same" in table.difference.value
    assert table.view.undoes
    do(table, "undo")
    do(table, "undo")
    assert (bench.a, bench.b) == (wb.Config(), last)
    do(table, "redo")
    assert bench.a == last
    do(table, "command", label="B", value="add a config like it")
    assert list(bench.state.configs) == ["A", "B", "C"]


def test_a_preset_that_usually_loses_here_says_so_before_it_runs(
    bench: wb.Workbench, table: KnobTable
) -> None:
    surveyed(bench)
    do(table, "command", label="B", value="int8 on the CPU")
    assert "this small usually gets slower" in table.status.value
    do(table, "command", label="B", value="CUDA")
    assert "not in this ONNX Runtime" in table.status.value
    do(table, "command", label="B", value="latency on the CPU")
    assert "⚠" not in table.status.value
    bench.state.doctor = None
    do(table, "command", label="B", value="CUDA")
    assert "not checked" in table.status.value


def test_the_int8_preset_fits_the_model(model: Path) -> None:
    """Dynamic int8 made a convolutional net 30 times slower."""
    preset = next(preset for preset in PRESETS if preset.name == "int8 on the CPU")
    models = {"digits-conv": wb.StaticInt8, "digits-vit": wb.DynamicInt8, str(model): wb.DynamicInt8}
    for source, kind in models.items():
        assert isinstance(preset.make(wb.load(source)).precision, kind), source
    assert preset.make(None).precision == wb.DynamicInt8()


def test_the_size_that_ort_gets_has_a_row_for_each_named_dimension(
    bench: wb.Workbench, table: KnobTable
) -> None:
    do(table, "details", row="free_dimensions", value="open")
    do(table, "set", label="B", row="size/batch", value="4")
    assert bench.b.free_dimensions == (("batch", 4),)
    do(table, "set", label="B", row="size/batch", value="many")
    assert "whole number" in table.status.value
    do(table, "set", label="B", row="size/batch", value="free")
    assert bench.b == wb.Config()


def test_the_size_of_an_unnamed_axis_is_given_by_input_and_axis(
    bench: wb.Workbench, table: KnobTable, tmp_path: Path
) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], "relu")
    ends = [tiny.tensor(name, ["?", 3, "?", "?"]) for name in "xy"]
    bench.load(tiny.save(tiny.model([node], ends[:1], ends[1:]), tmp_path), wait=True)
    do(table, "set", row="dims/x.2", value="48")
    do(table, "set", row="dims/x.3", value="192")
    do(table, "details", row="free_dimensions", value="open")
    settle(bench)
    assert not any(row["key"].startswith("size/") for row in table.view.rows), "ORT knows them by name"
    assert "float32[1,3,48,192]" in row(table, "inputs")["line"]
    subject = bench.request().subject
    do(table, "set", row="dims/x.2", value="64")
    assert bench.request().subject != subject
    settle(bench)
    do(table, "set", row="dims/x.2", value="48")
    assert bench.request().subject == subject, "the same sizes bring back their answer"
    do(table, "set", row="dims/x.2", value="")
    assert bench.state.dims == (("x.3", 192),)


@pytest.mark.real
def test_the_inputs_that_the_panels_offer_were_tried(
    bench: wb.Workbench, table: KnobTable, tmp_path: Path
) -> None:
    bench.load(tiny.save(text_line("panels"), tmp_path), wait=True)
    settle(bench)
    assert "float32[1,3,48,320]" in row(table, "inputs")["line"]


def test_a_preset_sets_only_what_differs_from_the_defaults() -> None:
    for preset in PRESETS:
        config = preset.make(None)
        assert config.level is None, preset.name
        assert config.execution_mode is None, preset.name
        assert config.memory_pattern is None, preset.name
        assert config.intra_op_threads != usable_cores() or usable_cores() == 1, preset.name


def test_a_further_result_leaves_what_was_refused_on_the_screen(
    bench: wb.Workbench, table: KnobTable
) -> None:
    settle(bench)
    made = bench.state.preview
    do(table, "set", label="", row="seed", value="abc")
    assert "abc" in table.status.value
    bench.state.show_parts(bench.request(), {"load test": object()}, "load test")
    settle(bench)
    assert "abc" in table.status.value
    assert bench.state.preview is made, "the inputs are the same"
