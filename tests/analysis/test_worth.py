"""Ablation, levels and the figures: from hand-made comparisons, by equality; and one of each for real."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.conftest import Explain
from tests.analysis.models import conv
from tests.factories.comparisons import HOSTILE, comparison, run
from tests.models import tiny
from workbench.analysis import ablation, levels
from workbench.analysis.explanation import Explained
from workbench.analysis.observe import Observation
from workbench.config import Config
from workbench.figures.ablation import ablation_data, ablation_figure
from workbench.figures.levels import levels_data, levels_figure
from workbench.figures.passes import histogram_data, histogram_figure, passes_figure
from workbench.figures.provenance import flow_data, flow_figure
from workbench.records.comparison import ComparisonRecord, Verdict


def _verdict(label: str, kind: str, low: float | None, ratio: float | None, high: float | None) -> Verdict:
    return Verdict(label, kind, ratio, low, high, 0.95, 0.01, 5, False, "why")  # type: ignore[arg-type]


def _record(verdicts: list[Verdict]) -> ComparisonRecord:
    labels = ["A", *(one.label for one in verdicts)]
    made = comparison(*(run(label, [[[0.001, 0.0012]]]) for label in labels))
    return replace(made, verdicts=tuple(verdicts))


def _ablation(explained: Explain, name: str = "conv") -> ablation.AblationRecord:
    """The first pass helps, the second hurts, the rest is a tie; the control moves by 1 %."""
    passes = explained("conv").passes
    verdicts = [_verdict("B", "tie", 0.99, 1.0, 1.01)]
    for index, _ in enumerate(passes.names):
        kind, middle = (("slower", 0.5), ("faster", 2.0), ("tie", 1.0))[min(index, 2)]
        verdicts.append(_verdict(chr(ord("C") + index), kind, middle * 0.995, middle, middle * 1.005))
    return ablation.ablation(name, Config(), passes, _record(verdicts))


@pytest.mark.real
def test_each_pass_is_switched_off_alone_beside_a_control(explained: Explain) -> None:
    passes = explained("conv").passes
    base = Config(disabled_passes=("ConstantSharing",))
    first, *rest = ablation.configs(base, passes)
    assert first == base
    assert [set(one.disabled_passes) for one in rest] == [{"ConstantSharing", name} for name in passes.names]


@pytest.mark.real
def test_worth_is_what_the_model_takes_longer_without(explained: Explain) -> None:
    told = _ablation(explained)
    names = explained("conv").passes.names
    by_name = {one.name: one for one in told.rows}
    helps, hurts = by_name[names[0]], by_name[names[1]]
    assert (helps.effect, hurts.effect) == ("helps", "hurts")
    assert helps.worth == pytest.approx(1.0)
    assert hurts.worth == pytest.approx(-0.5)
    assert hurts.low < hurts.worth < hurts.high  # type: ignore[operator]
    assert told.hurts == (names[1],)
    assert {by_name[name].effect for name in names[2:]} <= {"no effect"}
    assert told.control.effect == "no effect"
    assert f"Slower here because of {names[1]}" in str(told)
    note = ablation_figure(told).layout.title.text
    assert "make the model slower here:" in note
    assert names[1] in note
    assert told.to_frame()["pass"].tolist()[-1].startswith("control")


@pytest.mark.real
def test_a_pass_that_others_build_on_says_so(explained: Explain) -> None:
    passes = explained("gelu").passes
    gelu = next(name for name in passes.names if name.startswith("GeluFusion"))
    assert ablation.built_on(passes, gelu) == ("BiasGeluFusion",)
    assert ablation.built_on(passes, "BiasGeluFusion") == ()
    verdicts = [_verdict("B", "tie", 0.99, 1.0, 1.01)]
    verdicts += [_verdict(chr(ord("C") + i), "tie", 0.99, 1.0, 1.01) for i, _ in enumerate(passes.names)]
    told = ablation.ablation("gelu", Config(), passes, _record(verdicts))
    said = {one.name: one.reason for one in told.rows}
    assert said[gelu].endswith("BiasGeluFusion")
    assert "BiasGeluFusion" not in said["BiasGeluFusion"]


@pytest.mark.real
def test_an_effect_that_the_control_shows_too_is_not_claimed(explained: Explain) -> None:
    passes = explained("conv").passes
    verdicts = [_verdict("B", "unknown", 0.8, 0.9, 1.25)]
    verdicts += [_verdict(chr(ord("C") + i), "slower", 0.9, 0.92, 0.94) for i, _ in enumerate(passes.names)]
    told = ablation.ablation("conv", Config(), passes, _record(verdicts))
    assert {one.effect for one in told.rows} == {"unknown"}


@pytest.mark.real
def test_what_was_not_measured_is_absent(explained: Explain) -> None:
    passes = explained("conv").passes
    verdicts = [
        _verdict(chr(ord("B") + i), "unknown", None, None, None) for i in range(len(passes.names) + 1)
    ]
    told = ablation.ablation("conv", Config(), passes, _record(verdicts))
    assert {(one.effect, one.worth, one.low) for one in told.rows} == {("unknown", None, None)}
    assert ablation_data(told)[0].worth is None
    assert "not measured" in ablation_figure(told).to_json()


@pytest.mark.real
def test_levels_are_compared_with_the_lowest(explained: Explain) -> None:
    told = explained("conv")
    seen = _observation(told)
    verdicts = [_verdict(label, "faster", 1.9, 2.0, 2.1) for label in "BCDE"]
    record = levels.levels("conv", seen, _record(verdicts))
    assert [row.level for row in record.rows] == ["disabled", "basic", "extended", "layout", "all"]
    assert record.rows[0].nodes == len(told.source.nodes)
    assert record.rows[-1].nodes == len(told.optimized.nodes)
    assert record.rows[0].verdict is None
    assert record.rows[4].speedup == 2.0
    data = levels_data(record)
    assert data.speedup[:2] == ("baseline", "2.00× (1.90 to 2.10)")
    assert data.load_ms == tuple((row.load_s or 0) * 1e3 for row in record.rows)
    assert (data.ratio[4], data.low[4], data.high[4]) == (2.0, 1.9, 2.1)
    assert data.outputs == "Outputs agree at every level"
    told_of = replace(record, rows=(*record.rows[:3], replace(record.rows[3], outputs_agree=False),
                                    replace(record.rows[4], outputs_agree=None)))  # fmt: skip
    assert levels_data(told_of).outputs == "Outputs differ at layout. Outputs were not compared at all"
    assert "Outputs differ at layout" in levels_figure(told_of).to_json()
    assert [config.level for config in levels.configs(Config())] == [row.level for row in record.rows]


def _observation(told: Explained) -> Observation:
    from workbench.analysis.observe import Snapshot

    return Observation(
        told.source, (Snapshot("required", 0, told.source), Snapshot("x", 2, told.optimized)),
        True, True, True, None, (), ("CPUExecutionProvider",), (), (), (), 0.1, 4,
    )  # fmt: skip


@pytest.mark.real
def test_figures_hold_what_the_tables_hold(explained: Explain) -> None:
    told = explained("conv")
    data = histogram_data(told)
    assert sum(row[1] for row in data.ops) == len(told.source.nodes)
    assert sum(row[2] for row in data.ops) == len(told.optimized.nodes)
    short = histogram_data(told, most=3)
    assert len(short.ops) == 3
    assert sum(row[1] for row in short.ops) == len(told.source.nodes)
    assert short.ops[-1][0] == "all others"
    assert sum(count for _, _, count in flow_data(told).flows) == len(told.source.nodes)
    assert sum(count for _, _, count in flow_data(told, most=1).flows) == len(told.source.nodes)


@pytest.mark.real
def test_hostile_names_are_text_in_every_figure(explained: Explain) -> None:
    told = replace(explained("conv"), model_name=HOSTILE)
    record = replace(_ablation(explained), model_name=HOSTILE)
    verdicts = [_verdict(label, "tie", 0.99, 1.0, 1.01) for label in "BCDE"]
    by_level = levels.levels(HOSTILE, _observation(told), _record(verdicts))
    for figure in (
        histogram_figure(told), passes_figure(told), flow_figure(told), ablation_figure(record),
        levels_figure(by_level),
    ):  # fmt: skip
        assert "<img" not in figure.layout.title.text
        assert "script>" not in figure.layout.title.text
    assert "<img" not in record._repr_html_()
    assert "<img" not in by_level._repr_html_()


@pytest.mark.real
def test_explain_ablate_and_levels_for_real(tmp_path: Path) -> None:
    import workbench as wb

    path = tiny.save(conv(), tmp_path)
    told = wb.explain(path)
    assert told.provenance.to_frame()["fate"].isin(["kept", "fused", "folded", "eliminated"]).all()
    assert "source nodes" in str(told)
    assert told._repr_mimebundle_()[0]["application/vnd.plotly.v1+json"]["data"]
    assert told.what_if("nnapi").nodes
    worth = wb.ablate(path, wb.Config(intra_op_threads=1), budget_s=1.0, progress=False)
    assert set(worth.to_frame()["pass"][:-1]) == set(told.passes.names)
    assert worth.to_frame()["outputs_agree"].all()
    side = wb.levels(path, wb.Config(intra_op_threads=1), budget_s=1.0, progress=False).to_frame()
    assert side["level"].tolist() == ["disabled", "basic", "extended", "layout", "all"]
    assert side["nodes"].tolist() == sorted(side["nodes"], reverse=True)
    assert side["nodes"].iloc[-1] == len(told.provenance.optimized_frame())
