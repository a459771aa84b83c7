"""What the panels say while something runs, of a result that is not what is set now, and of what was made."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from workbench.apps.panels.folded import clock_text
from workbench.apps.panels.live import progress_html, strip_svg

import workbench as wb
from tests.apps.panels.conftest import settle
from tests.factories import results as examples
from tests.factories.comparisons import HOSTILE, ordinary
from tests.factories.graphs import fused
from workbench.apps.panels.jobs import Job, JobView
from workbench.apps.panels.tabs.results import MARK, TABS
from workbench.core.measure.limits import Progress

TITLES = [tab.title for tab in TABS]


def measured(bench: wb.Workbench) -> wb.Comparison:
    """Put a comparison of what is set now into the results."""
    record = ordinary()
    a, b = (run.config for run in record.runs)
    bench.state.change(a=a, b=b)
    result = wb.Comparison(record)
    bench.state.show_comparison(result, bench.request().subject)
    return result


def test_the_banner_says_round_time_ratio_interval_and_draws_samples() -> None:
    job = Job("Compare")
    job.tell(
        Progress(
            "sampling", 3, 4.0, 10.0, 0.4, 6.0, ordinary().verdicts, (("A", (0.002, 0.003)), ("B", (0.001,)))
        )
    )
    html = progress_html(job.view())
    assert "Compare: round 3: sampling" in html
    assert "about 6 s left" in html
    assert "so far 1.83× (1.79 to 1.88)" in html
    assert html.count("<circle") == 3
    assert "from 0 to 3 ms" in html


def test_without_samples_nothing_is_drawn_and_names_are_text() -> None:
    assert strip_svg(()) == strip_svg((("A", ()),)) == ""
    assert "<img" not in progress_html(JobView(HOSTILE, HOSTILE, 1.0))


@pytest.mark.parametrize("job", ["Compare", "Measure longer"])
def test_the_banner_is_there_while_something_runs(bench: wb.Workbench, job: str) -> None:
    live, folded = bench.panels.live, bench.panels.folded
    assert live.widget.layout.display == "none"
    bench.state.job = JobView(job, "round 1", 1.0)
    assert live.widget.layout.display is None
    assert "round 1" in live.progress.value
    assert "wbp-dimmed" in folded.widget._dom_classes
    bench.state.job = JobView("Roofline", "peaks", 1.0)
    assert "wbp-dimmed" not in folded.widget._dom_classes, "its verdict stays"
    bench.state.job = None
    assert "wbp-dimmed" not in folded.widget._dom_classes


def test_the_time_of_a_result_is_local_with_its_day_if_that_is_not_today() -> None:
    now = datetime.now().astimezone()
    assert clock_text(now.isoformat(), now) == f"{now:%H:%M}"
    before = now - timedelta(days=3)
    assert clock_text(before.isoformat(), now) == f"{before:%Y-%m-%d %H:%M}"


def ended(bench: wb.Workbench, kind: str, parts: dict[str, Any], *, moved_to: int | None = None) -> int:
    """Return the selected tab after a run of a kind, with a person who moved meanwhile."""
    tabs = bench.panels.results.tabs
    bench.state.job = JobView(kind, "working", 0.0)
    if moved_to is not None:
        tabs.selected_index = moved_to
    bench.state.job = None
    bench.state.show_parts(bench.request(), parts, kind)
    settle(bench)
    return int(tabs.selected_index)


def test_the_results_turn_to_what_was_made(bench: wb.Workbench) -> None:
    levels = {"levels/B": wb.Levels(examples.levels())}
    assert ended(bench, "levels", levels) == TITLES.index("fusions")
    page: Any = bench.panels.results.pages[TITLES.index("fusions")]
    assert page.which.value == "levels"
    explained = {part.name: wb.Comparison(ordinary(), parts=(part,)).made(part.kind, part.label)
                 for part in examples.parts(fused()) if part.kind == "explanation"}  # fmt: skip
    assert ended(bench, "explanation", explained) == TITLES.index("fusions"), "it stands there, too"


@pytest.mark.parametrize("place", [TITLES.index("memory")])
def test_a_person_who_went_elsewhere_finds_a_mark_at_the_tab(bench: wb.Workbench, place: int) -> None:
    results = bench.panels.results
    assert ended(bench, "levels", {"levels/B": wb.Levels(examples.levels())}, moved_to=place) == place
    assert results.tabs.titles[TITLES.index("fusions")] == f"fusions{MARK}"
    results.turn("fusions")
    assert results.tabs.titles[TITLES.index("fusions")] == "fusions"
