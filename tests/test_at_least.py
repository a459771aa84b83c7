"""A large effect whose size is open is told as such wherever a verdict is: "at least 2.7× faster"."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import workbench as wb
from benchmarks.zoo import figures_of
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run, ordinary
from workbench.apps.cli import main
from workbench.apps.course.effect import EFFECTS
from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.bundle.estimate import Estimate
from workbench.core.measure.measured_again import contradiction
from workbench.core.measure.wording import in_short
from workbench.drawing.page.banner import axis_html
from workbench.drawing.verdict_picture import axis_of
from workbench.features.accuracy.acceptance import speed
from workbench.features.base.history import History
from workbench.features.base.history_rows import SHOWN_COLUMNS, row_of
from workbench.features.grid.record import Winner, winner_of
from workbench.features.tune.result import Study
from workbench.features.variants.variant import gates_of_variants
from workbench.features.variants.worth import Worth, effect_of, worth_chart

REASON = "the 5 rounds differ too much to say by how much more"


def record(kind: str) -> ComparisonRecord:
    low, high = (2.7, None) if kind == "faster" else (None, 1 / 2.7)
    (verdict,) = ordinary().verdicts
    large = replace(verdict, kind=kind, ratio=None, low=low, high=high, reason=REASON)  # type: ignore[arg-type]
    return replace(ordinary(), verdicts=(large,))


@pytest.mark.parametrize("kind", ["faster", "slower"])
def test_every_text_of_a_comparison_says_at_least(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, path = f"t least 2.7× {kind}", tmp_path / "large.ortbench"
    wb.Comparison(record(kind)).save(path)
    opened = wb.open(path)
    assert opened.record == record(kind)
    assert str(opened).startswith(f"B is a{words}: {REASON}; ")
    page = tmp_path / "page.html"
    opened.export_html(page)
    assert f"A{words}" in page.read_text("utf-8")
    assert REASON[1:] in page.read_text("utf-8")
    assert f": a{words}" in in_short(opened.record)
    known = "at least 2.7×" if kind == "faster" else "at most 0.37×"
    assert f"<Verdict on B: {kind}; A's time over B's is {known}, {REASON}>" == repr(opened.verdict)
    assert f": {kind}, {known}. {REASON}" in opened.record._repr_html_()
    row = replace(examples.levels().rows[1], verdict=kind, ratio=Estimate.of(opened.verdict))
    (check,) = gates_of_variants(replace(examples.levels(), rows=(row,)), ())
    assert f"; {kind}; {known}" in check.text
    assert main(["show", str(path)]) == 0
    assert f"a{words}" in capsys.readouterr().out
    assert main(["show", str(path), "--json"]) == 0
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert (verdict["kind"], verdict["ratio"]) == (kind, None)


@pytest.mark.parametrize("kind", ["faster", "slower"])
def test_the_scale_marks_the_end_that_is_known_and_points_to_the_other(kind: str) -> None:
    (verdict,) = record(kind).verdicts
    axis = axis_of(verdict)
    assert axis is not None
    known = axis.place(2.7 if kind == "faster" else 1 / 2.7)
    assert sorted(map(axis.place, axis.interval or ())) == (
        [known, 1.0] if kind == "faster" else [0.0, known]
    )
    drawn = axis_html(axis, "gain")
    assert "<polygon" in drawn
    assert "<circle" not in drawn, "no ratio is claimed"
    words = "at least 2.7×" if kind == "faster" else "at most 0.37×"
    assert f'aria-label="ratio {words}, on' in drawn


def test_a_large_effect_wins_and_passes_what_it_surely_reaches() -> None:
    faster, slower = (record(kind).verdicts[0] for kind in ("faster", "slower"))
    assert str(winner_of(record("faster"))) == "B wins"
    assert str(winner_of(record("slower"))) == "A wins"
    assert [passed(faster, least) for least in (1.0, 2.7, 3.0)] == [True, True, None]
    assert [passed(slower, least) for least in (1.0, 2.7)] == [False, False]


def passed(verdict: Verdict, least: float) -> bool | None:
    return speed(verdict, least).passed


def test_the_history_tells_the_end_that_is_known(tmp_path: Path) -> None:
    history = History(tmp_path / "history.db")
    history.add(record("faster"))
    (entry,) = history.entries()
    assert "faster (at least 2.7×)" in repr(history)
    assert "at least 2.7×" in history._repr_html_()
    assert row_of(entry, "")[SHOWN_COLUMNS.index("ratio")] == "at least 2.7×"


def test_a_large_effect_that_is_ranked_by_its_least_still_wins() -> None:
    """B takes a fifth of A's time, and C half of it: B is known to be twice as fast as A at least."""
    runs = [drawn_run("A", 0.002), drawn_run("B", 0.0004), drawn_run("C", 0.001)]
    three = comparison(*runs)
    first, second = three.verdicts
    large = replace(first, kind="faster", ratio=None, low=1.9, high=None)
    closed = replace(second, kind="faster", ratio=2.0, low=1.95, high=2.05)
    assert winner_of(replace(three, verdicts=(large, closed))) == Winner("B", "clear")


@pytest.mark.parametrize(
    ("kind", "effect", "words"),
    [("slower", "helps", "at least +170 %"), ("faster", "hurts", "at most -63 %")],
)
def test_a_pass_of_large_worth_helps_or_hurts(kind: str, effect: str, words: str) -> None:
    verdict = record(kind).verdict
    share = Worth.share.fget(SimpleNamespace(ratio=Estimate.of(verdict)))  # type: ignore[attr-defined]
    assert effect_of(verdict, share, None) == effect
    ablation = examples.ablation()
    row = replace(ablation.rows[0], effect=effect, ratio=Estimate.of(verdict))  # type: ignore[arg-type]
    ablation = replace(ablation, rows=(row, *ablation.rows[1:]))
    assert f" {effect} ({words})" in str(ablation)
    assert worth_chart(ablation).rows[0].values[0][0].text == f"{words}, {effect}"


def test_the_course_says_at_least_and_the_figure_of_precisions_why_it_draws_none() -> None:
    verdict = record("faster").verdict
    size = EFFECTS["wider-is-faster"].read(verdict)
    assert (size.present, EFFECTS["wider-is-faster"].words(size)) == (True, "at least 2.7×")
    study = examples.study()
    fresh = replace(study.confirmations[-1], verdicts=record("faster").verdicts)
    text = str(Study(replace(study, confirmations=(fresh,))).proof())
    assert "at least 2.7× on fresh rounds: faster." in text
    result = wb.Comparison(record("faster"))
    assert "the size of the speed-up is open: B" in str(result.precision_figure().layout.meta)
    assert result.precision_frame()["best"].tolist() == [False, True]


def test_a_large_loss_contradicts_a_gain_and_no_difference_a_large_gain() -> None:
    slower, tie = (
        record("slower").verdict,
        replace(ordinary().verdict, kind="tie", ratio=1.0, low=0.99, high=1.01),
    )
    assert contradiction([(1.5, 1.4, 1.6)], slower).endswith(
        "at first, and at most 0.37× when it was measured again"
    )
    assert contradiction([(None, 2.7, None)], tie).startswith("at least 2.7× at first, and 1.00×")
    assert contradiction([(None, 2.7, None)], record("faster").verdict) == ""


@pytest.mark.parametrize(("kind", "words"), [("faster", "at least 2.7×"), ("slower", "at most 0.37×")])
def test_the_page_of_real_models_says_it_of_a_fix(kind: str, words: str) -> None:
    finding = examples.improvement().steps[0].finding
    made = wb.FixResult(finding, True, "because", wb.Config(), wb.Comparison(record(kind)))
    assert figures_of(made).endswith(f"predicted, {words} measured")
