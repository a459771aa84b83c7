"""The configure column: every knob has a control, and what a person does reaches the config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets as W
import pytest
from onnx import helper

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.core.models import tiny
from workbench.apps.panels.configure import Configure
from workbench.apps.panels.presets import PRESETS
from workbench.apps.panels.sections.providers import APART
from workbench.apps.panels.sections.section import Section
from workbench.core.config import KNOBS, pass_help, shipped_passes
from workbench.core.cpu import usable_cores
from workbench.core.measure.providers import ProviderState
from workbench.features.doctor.records import Plugin, Survey

OWN = {"disabled_passes", "providers", "free_dimensions", "session_entries", "run_entries"}


@pytest.fixture
def column(bench: wb.Workbench) -> Configure:
    bench.state.doctor = wb.Doctor.__new__(wb.Doctor)  # nobody asks the machine in these tests
    object.__setattr__(bench.state.doctor, "survey", type("Survey", (), {"providers": (), "plugins": ()})())
    made = Configure(bench)
    for section in made.sections:
        section.toggle()
    return made


def section(column: Configure, group: str) -> Any:
    return next(section for section in column.sections if section.group == group)


def test_every_knob_has_its_control(column: Configure) -> None:
    built = {field for section in column.sections for field in section.controls}
    assert built | OWN == {knob.field for knob in KNOBS}
    assert not built & OWN


def test_every_pass_has_its_sentence() -> None:
    assert not [name for name in shipped_passes().names if not pass_help(name)]


def test_a_dropdown_sets_and_unsets(bench: wb.Workbench, column: Configure) -> None:
    level = section(column, "graph").controls["level"].widget
    level.index = 2
    assert bench.b == wb.Config(level="basic")
    level.index = 0
    assert bench.b == wb.Config()


def test_model_rewrites_are_picked_from_a_list(bench: wb.Workbench, column: Configure) -> None:
    rewrites = section(column, "graph").controls["rewrites"].widget
    rewrites.value = ("unused-weights-removed", "weights-out-of-inputs")
    assert bench.b == wb.Config(rewrites=("weights-out-of-inputs", "unused-weights-removed"))
    bench.b = wb.Config(rewrites=("conv1d-to-2d",))
    assert rewrites.value == ("conv1d-to-2d",)
    rewrites.value = ()
    assert bench.b == wb.Config()


def test_threads_are_unset_or_a_number(bench: wb.Workbench, column: Configure) -> None:
    control = next(section for section in column.sections if section.group == "threads").controls[
        "intra_op_threads"
    ]
    chosen, unset, slider, box = control.widget.children
    chosen.value = True
    assert bench.b.intra_op_threads == 1
    box.value = 64
    assert bench.b.intra_op_threads == 64
    assert slider.value == slider.max
    chosen.value = False
    assert bench.b.intra_op_threads is None
    assert unset.layout.display is None


def test_the_panels_follow_the_config(bench: wb.Workbench, column: Configure) -> None:
    bench.b = wb.Config(level="extended", disabled_passes=("GeluFusionL2",))
    graph, passes = section(column, "graph"), section(column, "passes").passes
    assert graph.controls["level"].widget.value == "extended"
    assert passes.picked == ["GeluFusionL2"]
    bench.state.editing = "A"
    assert passes.picked == []
    assert bench.a == wb.Config()


@pytest.mark.parametrize(
    ("level", "words"), [("disabled", "none of these passes runs"), ("basic", "above level basic do not run")]
)
def test_passes_that_do_not_run_at_a_level_are_named(
    bench: wb.Workbench, column: Configure, level: str, words: str
) -> None:
    assert "run" not in section(column, "passes").passes.caption
    bench.b = wb.Config(level=level)
    assert words in section(column, "passes").passes.caption


@pytest.mark.parametrize(
    ("level", "muted", "active"),
    [
        ("disabled", ("ConstantFolding", "GeluFusionL2", "NchwcTransformer"), ()),
        ("basic", ("GeluFusionL2", "NchwcTransformer"), ("ConstantFolding",)),
        ("extended", ("NchwcTransformer",), ("ConstantFolding", "GeluFusionL2")),
        ("all", (), ("ConstantFolding", "GeluFusionL2", "NchwcTransformer")),
    ],
)
def test_passes_above_the_level_have_no_check_and_a_reason(
    bench: wb.Workbench, column: Configure, level: str, muted: tuple[str, ...], active: tuple[str, ...]
) -> None:
    graph = section(column, "passes")
    assert graph.passes.muted == {}
    bench.b = wb.Config(level=level)
    for name in muted:
        assert "does not run" in graph.passes.muted[name]
        assert level in graph.passes.muted[name]
    assert not set(active) & graph.passes.muted.keys()
    bench.b = wb.Config()
    assert graph.passes.muted == {}


def test_a_pass_is_left_out(bench: wb.Workbench, column: Configure) -> None:
    section(column, "passes").passes.picked = ["ConstantFolding"]
    assert bench.b.disabled_passes == ("ConstantFolding",)


def test_an_error_stands_where_it_belongs(bench: wb.Workbench, column: Configure) -> None:
    threads = next(section for section in column.sections if section.group == "threads")
    threads.controls["affinity"].widget.value = "9;9;9"
    assert "Fix:" in threads.status.value
    assert bench.state.refused
    assert not [section for section in column.sections if section is not threads and section.status.value]
    bench.set("intra_op_threads", 4)
    assert not bench.state.refused
    assert threads.controls["affinity"].widget.value == ""


def test_a_kind_that_needs_a_file_shows_its_knob_before_it_has_one(
    bench: wb.Workbench, column: Configure
) -> None:
    precision = section(column, "precision")
    part = precision.controls["precision"]
    part.kind.value = "prepared_model"
    assert "names no file" in precision.status.value
    part.controls["model"].widget.value = "digits-conv-qat"
    assert bench.b.precision == wb.PreparedModel("digits-conv-qat")
    assert not precision.status.value


def test_precision_brings_its_own_knobs(bench: wb.Workbench, column: Configure) -> None:
    precision = section(column, "precision")
    part = precision.controls["precision"]
    part.kind.value = "static_int8"
    assert bench.b.precision == wb.StaticInt8()
    part.controls["calibrator"].widget.value = "percentile"
    part.controls["percentile"].widget.value = "99.5"
    part.controls["exclude"].widget.value = "first\n second \n"
    assert bench.b.precision == wb.StaticInt8(
        calibrator="percentile", percentile=99.5, exclude=("first", "second")
    )
    assert precision.calibration.layout.display is None
    part.controls["percentile"].widget.value = "many"
    assert "percentile" in precision.status.value
    part.kind.value = ""
    assert bench.b.precision is None


def test_single_fusions_are_switched(bench: wb.Workbench, column: Configure) -> None:
    part = section(column, "graph").controls["fusion"]
    part.kind.value = "transformer"
    bench.set("fusion", wb.TransformerFusion(options={"enable_gelu": False}))
    options = part.controls["options"]
    box = options.widget.children[1].children[0].children[0].children[0]
    assert (box.description, box.value) == ("enable_gelu", "off")
    box.value = "on"
    assert bench.b.fusion == wb.TransformerFusion(options={"enable_gelu": True})


def test_providers_are_added_configured_moved_and_dropped(bench: wb.Workbench, column: Configure) -> None:
    providers = section(column, "providers")
    for name in ("CUDAExecutionProvider", "CPUExecutionProvider"):
        providers.choice.value = name
        providers.add.click()
    assert [provider.short_name for provider in bench.b.providers] == ["cuda", "cpu"]
    options = providers.boxes[0, "CUDAExecutionProvider"].options
    options.begin("cudnn_conv_algo_search")
    assert bench.b.providers[0].option("cudnn_conv_algo_search") == "EXHAUSTIVE"
    options.shown["cudnn_conv_algo_search"][1].value = "HEURISTIC"
    assert bench.b.providers[0].option("cudnn_conv_algo_search") == "HEURISTIC"
    options.begin("no_such_option")
    options.shown["no_such_option"][1].value = "1"
    assert "no_such_option" in providers.status.value
    providers._move(1, 0)
    assert [provider.short_name for provider in bench.b.providers] == ["cpu", "cuda"]
    providers._drop(0)
    assert [provider.short_name for provider in bench.b.providers] == ["cuda"]


def test_providers_that_do_not_work_here_stand_apart_with_why(bench: wb.Workbench, column: Configure) -> None:
    cuda = ProviderState(
        "CUDAExecutionProvider", "does not load", "…", ("libcublasLt.so.13", "libcurand.so.10"), "install it"
    )
    dml = ProviderState("DmlExecutionProvider", "works", "", (), "")
    survey = Survey("1.31.1", "Release", (), (cuda, dml), (), None)
    doctor = wb.Doctor.__new__(wb.Doctor)
    object.__setattr__(doctor, "survey", survey)
    bench.state.doctor = doctor
    choice = section(column, "providers").choice
    words = [label for label, _ in choice.options]
    assert words[:3] == ["cpu: not in this ONNX Runtime", "dml: works", APART]
    assert "cuda: libcublasLt.so.13 was not found" in words[3:]
    assert "qnn: not in this ONNX Runtime" in words[3:]
    choice.value = ""
    section(column, "providers").add.click()
    assert bench.b.providers == (), "the line between them is no provider"
    (row,) = [row for row in column.table.view.rows if row["key"] == "providers"]
    assert row["apart"]["cuda"] == "libcublasLt.so.13 was not found"
    assert set(row["apart"]) <= set(row["options"])
    assert not {"dml", "cpu"} & set(row["apart"])


def test_a_plugin_that_is_installed_is_offered_and_found_by_itself(
    bench: wb.Workbench, column: Configure
) -> None:
    doctor = wb.Doctor.__new__(wb.Doctor)
    plugin = Plugin("some-ep==1.0", ("own_ep: NPU of Somebody",), "")
    object.__setattr__(doctor, "survey", Survey("1.31.1", "Release", (), (), (), None, (plugin,)))
    bench.state.doctor = doctor
    providers = section(column, "providers")
    assert ("own_ep: plugin some-ep==1.0, NPU of Somebody", "own_ep") in providers.choice.options
    providers.choice.value = "own_ep"
    assert "A plugin" in providers.about.value
    providers.add.click()
    assert bench.b.providers == (wb.Provider("own_ep", library="auto"),)


def test_a_widget_that_has_the_focus_is_kept(bench: wb.Workbench, column: Configure) -> None:
    """A widget that is made anew while somebody types in it loses the focus."""
    bench.b = wb.Config(providers=[wb.Provider("cuda", device_id=1), "cpu"])
    providers = section(column, "providers")
    before, row = providers.list.children, providers.boxes[0, "CUDAExecutionProvider"].options.rows.children
    bench.set("providers", [wb.Provider("cuda", device_id=2), "cpu"])
    assert providers.list.children == before
    assert providers.boxes[0, "CUDAExecutionProvider"].options.rows.children == row


def test_the_clock_is_chosen_and_stays(bench: wb.Workbench, column: Configure) -> None:
    clock = section(column, "measuring").clock
    assert [label for label, _ in clock.options] == ["wall time", "processor time"]
    assert "Sweeps, load tests and searches take the configs as they are set." in clock.tooltip
    clock.value = "cpu"
    assert bench.state.clock == bench.request().clock == "cpu"
    again = Configure(bench)
    measuring = section(again, "measuring")
    measuring.toggle()
    assert measuring.clock.value == "cpu"


def test_presets_copies_and_undo(bench: wb.Workbench, column: Configure) -> None:
    for preset in PRESETS:
        column.presets.value = preset.name
        assert bench.b == preset.make(bench.state.model)
        assert column.presets.index == 0
    column.copies.value = "make A the same as B"
    assert bench.a == bench.b
    assert "the same" in column.difference.value
    column.buttons["↶"].click()
    assert bench.a == wb.Config()
    column.copies.value = "swap A and B"
    assert bench.b == wb.Config()
    assert not column.buttons["↶"].disabled


def test_a_preset_that_usually_loses_here_says_so_before_it_runs(
    bench: wb.Workbench, column: Configure
) -> None:
    column.presets.value = "int8 on the CPU"
    assert "this small usually gets slower" in column.status.value
    column.presets.value = "CUDA"
    assert "not in this ONNX Runtime" in column.status.value
    column.presets.value = "latency on the CPU"
    assert "⚠" not in column.status.value
    bench.state.doctor = None
    column.presets.value = "CUDA"
    assert "not checked" in column.status.value


def test_the_int8_preset_fits_the_model(model: Path) -> None:
    """Dynamic int8 made a convolutional net 30 times slower."""
    preset = next(preset for preset in PRESETS if preset.name == "int8 on the CPU")
    models = {"digits-conv": wb.StaticInt8, "digits-vit": wb.DynamicInt8, str(model): wb.DynamicInt8}
    for source, kind in models.items():
        assert isinstance(preset.make(wb.load(source)).precision, kind), source
    assert preset.make(None).precision == wb.DynamicInt8()


def test_sizes_of_inputs_and_dimensions_fixed_for_ort(bench: wb.Workbench, column: Configure) -> None:
    inputs = section(column, "inputs")
    (name, (size, fixed)), *_ = inputs.sizes.items()
    size.value = "8"
    assert bench.state.dims == ((name, 8),)
    fixed.value = "4"
    assert bench.b.free_dimensions == ((name, 4),)
    fixed.value = "many"
    assert "whole number" in inputs.status.value
    size.value = ""
    assert bench.state.dims == ()
    settle(bench)
    assert "float32" in inputs.preview.value


def test_the_size_of_an_unnamed_axis_is_given_by_input_and_axis(
    bench: wb.Workbench, column: Configure, tmp_path: Path
) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], "relu")
    ends = [tiny.tensor(name, ["?", 3, "?", "?"]) for name in "xy"]
    bench.load(tiny.save(tiny.model([node], ends[:1], ends[1:]), tmp_path), wait=True)
    inputs = section(column, "inputs")
    inputs.sizes["x.2"][0].value, inputs.sizes["x.3"][0].value = "48", "192"
    assert inputs.sizes["x.2"][1].disabled
    settle(bench)
    assert "float32[1,3,48,192]" in inputs.preview.value


def test_every_button_and_control_says_what_it_does(column: Configure) -> None:
    """A tooltip on each; a text or a tooltip is what a screen reader reads."""
    widgets: list[W.Widget] = []

    def walk(widget: W.Widget) -> None:
        widgets.append(widget)
        for child in getattr(widget, "children", ()):
            walk(child)

    walk(column.widget)
    mute = [
        widget
        for widget in widgets
        if isinstance(widget, W.Button | W.Dropdown | W.Text | W.IntSlider) and not widget.tooltip
    ]
    assert not [f"{type(widget).__name__} {widget.description!r}" for widget in mute]


def test_a_section_is_built_when_it_is_opened(bench: wb.Workbench) -> None:
    made: Section = Configure(bench).sections[0]
    assert not made.body.children
    made.toggle()
    assert made.body.children
    assert made.header.description.startswith("▾")
    made.toggle()
    assert made.header.description.startswith("▸")


def test_a_preset_sets_only_what_differs_from_the_defaults() -> None:
    for preset in PRESETS:
        config = preset.make(None)
        assert config.level is None, preset.name
        assert config.execution_mode is None, preset.name
        assert config.memory_pattern is None, preset.name
        assert config.intra_op_threads != usable_cores() or usable_cores() == 1, preset.name
