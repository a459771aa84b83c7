"""Ablation, levels and the figures: from hand-made comparisons, by equality; and one of each for real."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.core.models import tiny
from tests.factories.comparisons import comparison, run
from tests.features.explain.conftest import Explain
from tests.features.explain.models import conv
from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.config import Config
from workbench.drawing.chart import GREY
from workbench.drawing.chart_figure import chart_figure
from workbench.features.explain.charts import (
    OTHERS,
    explanation_chart,
    flow_data,
    operators_chart,
)
from workbench.features.explain.explanation import Explained
from workbench.features.explain.observe import Observation
from workbench.features.variants import levels, worth
from workbench.features.variants.levels import levels_chart
from workbench.features.variants.worth import worth_chart


def _verdict(label: str, kind: str, low: float | None, ratio: float | None, high: float | None) -> Verdict:
    return Verdict(label, kind, ratio, low, high, 0.95, 0.01, 5, False, "why")  # type: ignore[arg-type]


def _record(verdicts: list[Verdict]) -> ComparisonRecord:
    labels = ["A", *(verdict.label for verdict in verdicts)]
    record = comparison(*(run(label, [[[0.001, 0.0012]]]) for label in labels))
    return replace(record, verdicts=tuple(verdicts))


def _ablation(explained: Explain, name: str = "conv") -> worth.WorthRecord:
    """The first pass helps, the second hurts, the rest is a tie; the control moves by 1 %."""
    passes = explained("conv").passes
    verdicts = [_verdict("B", "tie", 0.99, 1.0, 1.01)]
    for index, _ in enumerate(passes.names):
        kind, middle = (("slower", 0.5), ("faster", 2.0), ("tie", 1.0))[min(index, 2)]
        verdicts.append(_verdict(chr(ord("C") + index), kind, middle * 0.995, middle, middle * 1.005))
    return worth.worth_of(name, Config(), passes, _record(verdicts))


@pytest.mark.real
def test_each_pass_is_disabled_alone_beside_a_control(explained: Explain) -> None:
    passes = explained("conv").passes
    base = Config(disabled_passes=("ConstantSharing",))
    first, *rest = worth.pass_configs(base, passes)
    assert first == base
    assert [set(config.disabled_passes) for config in rest] == [
        {"ConstantSharing", name} for name in passes.names
    ]


@pytest.mark.real
def test_worth_is_the_share_by_which_a_run_takes_longer_without_the_pass(explained: Explain) -> None:
    record = _ablation(explained)
    names = explained("conv").passes.names
    by_name = {row.name: row for row in record.rows}
    helps, hurts = by_name[names[0]], by_name[names[1]]
    assert (helps.effect, hurts.effect) == ("helps", "hurts")
    assert helps.worth == pytest.approx(1.0)
    assert hurts.worth == pytest.approx(-0.5)
    assert hurts.share.low < hurts.worth < hurts.share.high  # type: ignore[operator]
    assert record.hurts == (names[1],)
    assert {by_name[name].effect for name in names[2:]} <= {"no effect"}
    assert record.control.effect == "no effect"
    assert f"Slower here because of {names[1]}" in str(record)
    note = chart_figure(worth_chart(record)).layout.meta["title"][-1]
    assert "make the model slower here:" in note
    assert names[1] in note
    assert record.to_frame()["pass"].tolist()[-1].startswith("control")


@pytest.mark.real
def test_a_pass_that_others_build_on_says_so(explained: Explain) -> None:
    passes = explained("gelu").passes
    gelu = next(name for name in passes.names if name.startswith("GeluFusion"))
    assert worth.built_on(passes, gelu) == ("BiasGeluFusion",)
    assert worth.built_on(passes, "BiasGeluFusion") == ()
    verdicts = [_verdict("B", "tie", 0.99, 1.0, 1.01)]
    verdicts += [_verdict(chr(ord("C") + i), "tie", 0.99, 1.0, 1.01) for i, _ in enumerate(passes.names)]
    record = worth.worth_of("gelu", Config(), passes, _record(verdicts))
    reasons = {row.name: row.reason for row in record.rows}
    assert reasons[gelu].endswith("BiasGeluFusion")
    assert "BiasGeluFusion" not in reasons["BiasGeluFusion"]


@pytest.mark.real
def test_an_effect_that_the_control_shows_too_is_not_claimed(explained: Explain) -> None:
    passes = explained("conv").passes
    verdicts = [_verdict("B", "unknown", 0.8, 0.9, 1.25)]
    verdicts += [_verdict(chr(ord("C") + i), "slower", 0.9, 0.92, 0.94) for i, _ in enumerate(passes.names)]
    record = worth.worth_of("conv", Config(), passes, _record(verdicts))
    assert {row.effect for row in record.rows} == {"unknown"}


@pytest.mark.real
def test_what_was_not_measured_is_absent(explained: Explain) -> None:
    passes = explained("conv").passes
    verdicts = [
        _verdict(chr(ord("B") + i), "unknown", None, None, None) for i in range(len(passes.names) + 1)
    ]
    record = worth.worth_of("conv", Config(), passes, _record(verdicts))
    assert {(row.effect, row.worth, row.share.low) for row in record.rows} == {("unknown", None, None)}
    assert worth_chart(record).rows[0].values[0][0].value is None
    assert "not measured" in chart_figure(worth_chart(record)).to_json()


@pytest.mark.real
def test_levels_are_compared_with_the_lowest(explained: Explain) -> None:
    conv_model = explained("conv")
    observation = _observation(conv_model)
    verdicts = [_verdict(label, "faster", 1.9, 2.0, 2.1) for label in "BCDE"]
    record = levels.levels_of("conv", observation, _record(verdicts))
    assert [row.name for row in record.rows] == ["disabled", "basic", "extended", "layout", "all"]
    assert record.rows[0].nodes == len(conv_model.source.nodes)
    assert record.rows[-1].nodes == len(conv_model.optimized.nodes)
    assert record.rows[0].verdict is None
    assert record.rows[4].ratio.value == 2.0
    chart = levels_chart(record)
    loads, speedups = ([row.values[axis][0] for row in chart.rows] for axis in (1, 3))
    assert [value.text for value in speedups[:2]] == ["baseline", "2.0× (1.9 to 2.1)"]
    assert [value.value for value in loads] == [row.load_s and row.load_s * 1e3 for row in record.rows]
    assert (speedups[4].value, speedups[4].interval) == (2.0, (1.9, 2.1))
    assert chart.note.endswith("outputs agree at every level")
    changed = replace(record, rows=(*record.rows[:3], replace(record.rows[3], outputs_agree=False),
                                    replace(record.rows[4], outputs_agree=None)))  # fmt: skip
    assert levels_chart(changed).note.endswith("outputs differ at layout; outputs were not compared at all")
    assert "outputs differ" in chart_figure(levels_chart(changed)).to_json()
    assert [config.level for config in levels.level_configs(Config())] == [row.name for row in record.rows]


@pytest.mark.real
def test_a_level_without_an_interval_says_why(explained: Explain) -> None:
    reason = "the interval spans more than a factor of 100"
    verdicts = [replace(_verdict(label, "unknown", None, 2.0, None), reason=reason) for label in "BCDE"]
    record = levels.levels_of("conv", _observation(explained("conv")), _record(verdicts))
    assert [row.reason for row in record.rows] == [None, *[reason] * 4]
    speedups = [row.values[3][0] for row in levels_chart(record).rows]
    assert [value.text for value in speedups] == ["baseline", *["not settled"] * 4]
    assert [value.value for value in speedups] == [None] * 5
    assert speedups[1].detail == reason


def _observation(explained: Explained) -> Observation:
    from workbench.features.explain.observe import Snapshot

    return Observation(
        explained.source, (Snapshot("required", 0, explained.source), Snapshot("x", 2, explained.optimized)),
        True, True, True, None, (), ("CPUExecutionProvider",), (), (), (), 0.1, 4,
    )  # fmt: skip


@pytest.mark.real
def test_figures_hold_what_the_tables_hold(explained: Explain) -> None:
    conv_model = explained("conv")
    chart = explanation_chart(conv_model)
    before, after = (sum(row.values[0][at].value or 0 for row in chart.rows) for at in (0, 1))
    assert (before, after) == (len(conv_model.source.nodes), len(conv_model.optimized.nodes))
    short = operators_chart({GREY: conv_model.passes.statistics}, "", most=3)
    assert len(short.rows) == 3
    assert sum(row.values[0][0].value or 0 for row in short.rows) == len(conv_model.source.nodes)
    assert short.rows[-1].label == OTHERS
    assert sum(count for _, _, count in flow_data(conv_model).flows) == len(conv_model.source.nodes)
    assert sum(count for _, _, count in flow_data(conv_model, most=1).flows) == len(conv_model.source.nodes)


@pytest.mark.slow
@pytest.mark.real
def test_explain_ablate_and_levels_for_real(tmp_path: Path) -> None:
    import workbench as wb

    path = tiny.save(conv(), tmp_path)
    explained = wb.explain(path)
    assert explained.provenance.to_frame()["fate"].isin(["kept", "fused", "folded", "eliminated"]).all()
    assert "source nodes" in str(explained)
    assert explained._repr_mimebundle_()[0]["application/vnd.plotly.v1+json"]["data"]
    assert explained.what_if("nnapi").nodes
    made = wb.ablate(path, wb.Config(intra_op_threads=1), budget_s=1.0, progress=False)
    assert set(made.to_frame()["pass"][:-1]) == set(explained.passes.names)
    assert made.to_frame()["outputs_agree"].all()
    side = wb.levels(path, wb.Config(intra_op_threads=1), budget_s=1.0, progress=False).to_frame()
    assert side["level"].tolist() == ["disabled", "basic", "extended", "layout", "all"]
    assert side["nodes"].tolist() == sorted(side["nodes"], reverse=True)
    assert side["nodes"].iloc[-1] == len(explained.provenance.optimized_frame())
