"""The picture of a verdict, by equality: decided, tied, not settled, failed, and with outputs that differ."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from tests.amount import amount
from tests.core.bundle.strategies import comparisons
from tests.factories.comparisons import HOSTILE, comparison, drawn_run, failed, ordinary
from workbench.core.bundle.comparison import ComparisonRecord, Doubt
from workbench.core.bundle.preparation import Preparation
from workbench.core.bundle.run import Stage
from workbench.core.config import Config, PreparedModel
from workbench.drawing.numbers import NumbersRow, numbers_table
from workbench.drawing.page.banner import VERDICT_STYLE, axis_html, numbers_html, verdict_html
from workbench.drawing.strips import density
from workbench.drawing.verdict_picture import RatioAxis, Tile, VerdictPicture, verdict_picture


def judged(**changes: Any) -> ComparisonRecord:
    record = ordinary()
    return replace(record, verdicts=(replace(record.verdict, **changes),))


def picture(**changes: Any) -> VerdictPicture:
    record = judged(**changes)
    return verdict_picture(record, record.verdict)


def test_a_faster_candidate_by_equality() -> None:
    assert picture() == VerdictPicture(
        label="B",
        kind="faster",
        head="1.83× faster",
        effect="gain",
        estimate="",
        lines=("95 % sure: between 1.79 and 1.88 times",),
        outputs="Outputs agree (signal to noise 92 dB)",
        axis=RatioAxis((1 / 1.01, 1.01), 1.83, (1.79, 1.88)),
        tiles=(
            Tile("median", "1.99 → 1.10 ms", "\u221245 %", "gain"),
            Tile("slowest 1 in 100", "2.26 → 1.23 ms", "\u221245 %", "gain"),
            Tile("memory", "61 → 61 MiB", "the same"),
            Tile("time to load", "250 → 250 ms", "the same"),
            Tile("file", "1.23 kB", "the same"),
        ),
    )


@pytest.mark.parametrize(
    ("sqnr_db", "percent"),
    [(-3.0, "over 100"), (0.0, "100"), (1.0, "89"), (30.0, "3.2"), (60.0, "0.1"), (140.0, "under 0.0001")],
)
def test_the_error_of_other_arithmetic_is_written_without_an_exponent(sqnr_db: float, percent: str) -> None:
    record = ordinary()
    near = tuple(replace(row, sqnr_db=sqnr_db, least_sqnr_db=-10.0) for row in record.agreement)
    outputs = verdict_picture(replace(record, agreement=near), record.verdict).outputs
    assert outputs.startswith(f"Outputs are {percent} % off (signal to noise {sqnr_db:.0f} dB)")


def test_a_change_to_a_multiple_is_written_without_an_exponent() -> None:
    record = comparison(drawn_run("A", 0.001), drawn_run("B", 1.5), kind="slower")
    median = verdict_picture(record, record.verdict).tiles[0]
    assert re.fullmatch(r"1,[45]\d\d times", median.change)


@pytest.mark.parametrize("kind", ["unknown", "tie"])
def test_a_difference_that_was_not_found_is_in_no_tile(kind: str) -> None:
    assert [tile.change for tile in picture(kind=kind, ratio=1.0, low=0.99, high=1.01).tiles[:2]] == ["", ""]


def test_a_slower_candidate_has_the_inverse_ratio_and_interval() -> None:
    slower = picture(kind="slower", ratio=0.5, low=0.4, high=0.625)
    assert (slower.head, slower.effect, slower.lines[0]) == (
        "About 2× slower",
        "loss",
        "95 % sure: between 1.6 and 2.5 times",
    )
    assert slower.lines[1].startswith("Of all samples the median is 45 % lower"), "and why"
    assert slower.axis is not None
    assert slower.axis.place(0.5) < slower.axis.place(1.0) < 1
    assert slower.tiles[0].effect == "none", "the colour is that of the verdict, never of one figure"


def test_an_undecided_comparison_has_its_estimate_and_what_it_would_take() -> None:
    reason = "no difference of 7.0 % or more; about 20 s more would settle 1.0 %"
    unknown = picture(kind="unknown", ratio=1.03, low=0.99, high=1.07, reason=reason)
    assert (unknown.head, unknown.effect) == ("Not settled yet", "none")
    assert unknown.estimate == "no difference seen so far"
    assert unknown.lines == ("No difference of 7.0 % or more", "About 20 s more would settle 1.0 %")


def test_an_interval_whose_ends_are_said_is_not_said_twice() -> None:
    reason = "no difference of 88.1 % or more (0.532 to 1.654); more than 10 minutes would be needed"
    wide = picture(kind="unknown", ratio=0.938, low=0.532, high=1.654, reason=reason)
    assert wide.estimate == "between 0.53× and 1.7× so far"
    assert wide.lines == ("More than 10 minutes would be needed",)


@pytest.mark.parametrize(
    ("file_bytes", "text"), [(1_540_000, "4.75 → 1.54 MB"), (540_000, "4.75 MB → 540 kB")]
)
def test_sizes_of_files_share_their_unit(file_bytes: int, text: str) -> None:
    record = ordinary()
    baseline, candidate = (
        replace(run, preparation=Preparation((), None, 0.0, size, None, ()))
        for run, size in zip(record.runs, (4_750_000, file_bytes), strict=True)
    )
    made = verdict_picture(replace(record, runs=(baseline, candidate)), record.verdict)
    assert [tile.value for tile in made.tiles if tile.name == "file"] == [text]


def test_outputs_that_were_not_judged_say_why() -> None:
    record = ordinary()
    why = "every probability is below 0.01 with both: on these inputs the model finds nothing; give real ones"
    (row,) = (replace(row, agrees=None, reason=why) for row in record.agreement)
    alone, beside = replace(record, agreement=(row,)), replace(record, agreement=(*record.agreement, row))
    said = [verdict_picture(each, record.verdict).outputs for each in (alone, beside)]
    assert said == [
        "Outputs were not judged: every probability is below 0.01 with both",
        "Some outputs were not judged: every probability is below 0.01 with both",
    ]


def test_a_ratio_that_the_verdict_refuses_is_not_shown() -> None:
    refused = picture(kind="unknown", ratio=1.0, low=None, high=None, reason="the rounds differ too much")
    assert (refused.estimate, refused.axis) == ("", None)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "words"),
    [
        (1.0002, 0.95, 1.05, "no difference seen so far"),
        (0.98, 0.89, 1.06, "no difference seen so far"),
        (1.03, 0.7, 1.5, "between 0.70× and 1.5× so far"),
        (1.015, 1.005, 1.025, "1.02× faster so far"),
        (1 / 1.015, 1 / 1.025, 1 / 1.005, "1.02× slower so far"),
    ],
)
def test_an_estimate_names_a_direction_only_where_the_other_is_excluded(
    ratio: float, low: float, high: float, words: str
) -> None:
    assert picture(kind="unknown", ratio=ratio, low=low, high=high).estimate == words


@pytest.mark.parametrize(
    "changes", [{"kind": "outputs differ"}, {"kind": "unknown", "low": None, "high": None}]
)
def test_no_tile_repeats_a_ratio_that_the_verdict_refuses(changes: dict[str, Any]) -> None:
    median, tail, *others = picture(**changes).tiles
    assert median == Tile("median", "1.99 → 1.10 ms")
    assert (tail.name, tail.change) == ("slowest 1 in 100", "")
    assert others == [*picture().tiles[2:]]


def test_the_speed_of_wrong_outputs_is_not_shown() -> None:
    reason = "B's outputs differ from A's (y: error 44 % (root mean square; SQNR 7 dB))"
    wrong = picture(kind="outputs differ", reason=reason)
    assert (wrong.head, wrong.effect, wrong.axis, wrong.estimate) == ("Outputs differ", "loss", None, "")
    assert wrong.lines[0] == reason, "brackets stay whole"


def test_a_tie_and_a_failure_say_so() -> None:
    assert picture(kind="tie", ratio=1.0, low=0.995, high=1.005).head == "A tie"
    record = comparison(drawn_run("A", 0.002), failed("B"), kind="unknown")
    made = verdict_picture(record, replace(record.verdict, ratio=None, low=None, high=None))
    assert (made.head, made.effect) == ("B failed", "error"), "it does not look like an open answer"
    reason = "B could not be measured: load: no kernel of Conv"
    of_reason = replace(record, verdicts=(replace(record.verdict, reason=reason),))
    made = verdict_picture(of_reason, of_reason.verdict)
    assert made.lines[0] == "Load: no kernel of Conv", "the head has said that B failed"
    assert made.lines[-1] == "Fix: Use another model."
    assert {(tile.value, tile.change) for tile in made.tiles} == {("\u2013", "")}, "nothing is compared"


@pytest.mark.parametrize("ratio", [1.0001, 1.03, 0.7, 3.0, 1e6, 1e-6])
def test_every_ratio_has_a_place_on_its_axis(ratio: float) -> None:
    axis = picture(ratio=ratio, low=ratio * 0.99, high=ratio * 1.01).axis
    assert axis is not None
    assert 0 <= axis.place(ratio) <= 1
    assert axis.place(1.0) == pytest.approx(0.5), "the scale is the same for every answer"
    assert ("<polygon" in axis_html(axis, "gain")) == (ratio > 4 or ratio < 0.25), "an arrow beyond its ends"


def test_two_nets_are_compared_by_time_alone_and_the_answer_says_so() -> None:
    record = ordinary()
    other = Config(precision=PreparedModel("other.onnx", compare_outputs=False))
    runs = (record.runs[0], replace(record.runs[1], config=other))
    record = replace(record, runs=runs, agreement=())
    made = verdict_picture(record, record.verdict)
    assert made.outputs == "Another net, as asked: timing only"
    assert "timing only" in verdict_html(record)


def test_numbers_are_a_row_a_config_with_three_digits() -> None:
    table = numbers_table(ordinary())
    assert table.heads[1:4] == ("median (ms)", "95 % interval", "p90 (ms)")
    row = table.rows[1]
    assert (row.label, row.cells[0], row.cells[5]) == ("B", "1.10", "760")
    assert table.notes == ("B: 40 samples are excluded because the machine was busy",)


def test_a_narrow_table_of_numbers_has_a_row_for_each_head() -> None:
    assert f"repeat({len(numbers_table(ordinary()).heads)}, auto)" in VERDICT_STYLE


def test_a_run_without_numbers_has_its_reason() -> None:
    table = numbers_table(comparison(drawn_run("A", 0.002, blocks=2), failed("B", "no such kernel")))
    assert isinstance(table.rows[1], NumbersRow)
    assert table.rows[1].failure == "failed at load: no such kernel"
    assert "p99: not enough samples: 200 of 662" in table.notes
    assert numbers_html(table).count("<td") == 9


def test_doubts_are_one_line_that_unfolds() -> None:
    doubt = Doubt("noise", "A", "rounds scatter", "Measure longer.")
    record = replace(ordinary(), doubts=(doubt, replace(doubt, kind="drift", label=None)))
    html = verdict_html(record)
    assert ">⚠ 2 doubts: noise, drift</summary>" in html
    assert "noise about A:" in html
    assert "<details" not in verdict_html(ordinary())


@pytest.mark.parametrize("stage", ["load", "provider"])
def test_texts_of_strangers_are_escaped(stage: Stage) -> None:
    """Labels, names of providers, reasons and doubts, of one candidate and of two."""
    image = "<img src=x onerror=alert(1)>"
    config = Config(providers=[image], allow_unknown=True)
    broken = failed("B", HOSTILE)
    assert broken.failure is not None
    broken = replace(broken, label=image, config=config, failure=replace(broken.failure, stage=stage))
    for more in ((), (replace(drawn_run("C", 0.001), label=f"{image}2"),)):
        record = comparison(drawn_run("A", 0.002), broken, *more, model=HOSTILE, kind="unknown")
        record = replace(
            record,
            verdicts=tuple(replace(verdict, reason=HOSTILE, low=None) for verdict in record.verdicts),
            doubts=(Doubt(HOSTILE, image, HOSTILE, HOSTILE),),
        )
        for html in (verdict_html(record), numbers_html(numbers_table(record))):
            assert "<img" not in html
            assert "&lt;img" in html


@settings(max_examples=amount(15, 4))
@given(comparisons())
def test_any_record_has_a_picture_and_numbers(record: ComparisonRecord) -> None:
    html = verdict_html(record)
    assert html.count('class="v-hero"') == max(1, len(record.verdicts))
    assert len(numbers_table(record).rows) == len(record.runs)


def test_the_density_has_its_peak_where_the_samples_are() -> None:
    curve = density([1.0, 2.0, 2.0, 2.1, 2.1, 2.0, 1.9, 2.0, 3.0])
    place, height = max(curve, key=lambda point: point[1])
    assert height == pytest.approx(1.0)
    assert place == pytest.approx(2.0, abs=0.1)
    assert density([1.0] * 7) == ()
    assert len(density([1.0] * 8)) > 0, "equal samples are a peak"
