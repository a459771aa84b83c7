"""Blocks in the order measured."""

from __future__ import annotations

from dataclasses import replace

from tests.factories.comparisons import HOSTILE, comparison, drawn_run, failed, ordinary, run
from workbench.drawing.scale import Scale
from workbench.drawing.timeline import (
    BlockPoint,
    BlockSeries,
    TimelineData,
    timeline_data,
    timeline_figure,
    timeline_table,
)


def test_everything_by_equality() -> None:
    record = comparison(run("A", [[[0.001, 0.003], [0.002]], [[0.004]]], aside=[1]), failed("B", "why"))
    assert timeline_data(record) == TimelineData(
        scale=Scale("ms", 1e3, False),
        model="tiny",
        courses=(
            BlockSeries(
                "A",
                (
                    BlockPoint(0, 0.025, 0.002, 2, ()),
                    BlockPoint(0, 0.125, 0.002, 1, ("others used 1.2 cores",)),
                    BlockPoint(1, 1.025, 0.004, 1, ()),
                ),
                3,
                None,
            ),
            BlockSeries("B", (), 0, "failed at load: why"),
        ),
    )


def test_processes_are_not_joined_and_disturbed_blocks_are_hollow() -> None:
    figure = timeline_figure(comparison(run("A", [[[0.001], [0.002]], [[0.004]]], aside=[1]), failed("B")))
    first = figure.data[0]
    assert first.x == (0.025, 0.125, None, 1.025)
    assert first.marker.symbol == ("circle", "circle-open", "circle", "circle")
    assert "excluded: others used 1.2 cores" in first.hovertext[1]
    assert figure.data[1].name == "B: no blocks"
    assert figure.data[-1].name == "excluded"
    assert "B failed at load" in figure.layout.meta["title"][-1]


def test_disturbed_blocks_that_count_are_not_called_excluded() -> None:
    busy = replace(run("A", [[[0.001], [0.002]]], aside=[1]), population="all")
    figure = timeline_figure(comparison(busy, failed("B")))
    assert set(figure.data[0].marker.symbol) == {"circle"}
    assert not any("excluded" in text for text in figure.data[0].hovertext)
    assert "excluded" not in [trace.name for trace in figure.data]
    assert set(timeline_table(comparison(busy, failed("B")))["excluded_because"]) == {""}


def test_a_strangers_reason_stays_text() -> None:
    one = run("A", [[[0.001], [0.002]]])
    (process,) = one.processes
    blocks = (process.blocks[0], replace(process.blocks[1], disturbed=(HOSTILE,)))
    one = replace(one, processes=(replace(process, blocks=blocks),))
    told = str(timeline_figure(comparison(one, failed("B", HOSTILE), model=HOSTILE)).to_dict())
    assert "excluded: " in told
    assert "<img" not in told


def test_too_many_blocks_are_thinned_and_the_figure_says_so() -> None:
    record = comparison(drawn_run("A", 0.001, samples=1), drawn_run("B", 0.001, samples=1))
    thinned = timeline_data(record, most=20)
    assert [len(course.moments) for course in thinned.courses] == [10, 10]
    assert [course.measured for course in thinned.courses] == [40, 40]
    every = timeline_data(record)
    assert thinned.courses[0].moments[0] == every.courses[0].moments[0]
    assert thinned.courses[0].moments[-1] == every.courses[0].moments[-1]


def test_the_table_holds_every_block() -> None:
    table = timeline_table(ordinary())
    assert len(table) == 80
    assert table["at_s"].is_monotonic_increasing
    assert (table["excluded_because"] != "").sum() == 2
