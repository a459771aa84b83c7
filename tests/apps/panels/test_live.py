"""What the panels say while something runs, of a result that is not what is set now, and of what was made."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

import workbench as wb
from tests.apps.panels.conftest import settle, steps_of
from tests.factories import results as examples
from tests.factories.comparisons import HOSTILE, ordinary
from tests.factories.graphs import fused
from workbench.apps.panels.jobs import Job, JobView
from workbench.apps.panels.tabs.answer_words import progress_html, running_html
from workbench.apps.panels.tabs.results import MARK, VIEWS
from workbench.core.bundle.entries import clock_text
from workbench.core.measure.limits import Progress

TITLES = [tab.title for tab in VIEWS]


def measured(bench: wb.Workbench) -> wb.Comparison:
    """Put a comparison of what is set now into the results."""
    record = ordinary()
    a, b = (run.config for run in record.runs)
    bench.state.set_configs({"A": a, "B": b})
    result = wb.Comparison(record)
    bench.state.show_comparison(result, bench.request().subject)
    return result


SO_FAR = (("A", (0.002, 0.003)), ("B", (0.001, 0.001)))


def view_of(name: str) -> JobView:
    job = Job(name)
    step = "step 2 of 2, measuring" if name == "Compare" else ""
    job.tell(Progress("sampling", 3, 4.0, 10.0, 0.4, 6.0, ordinary().verdicts, SO_FAR, step))
    return job.view()


def test_a_running_comparison_has_the_ratio_so_far_on_the_scale_of_the_answer(bench: wb.Workbench) -> None:
    place = bench.panels.results.place
    before = place.words.value
    bench.state.job = view_of("Compare")
    assert "1.83× faster so far" in place.words.value
    assert "round 3: sampling" in place.words.value
    assert "about 6 s left" in place.words.value
    assert "2.5 → 1 ms" in place.words.value
    for part in ("v-axis", "v-tiles"):
        assert part in before, "nothing appears that was not there"
        assert part in place.words.value
    bench.state.job = None
    assert place.words.value == before


def test_the_medians_of_a_running_comparison_are_those_of_its_ratio() -> None:
    (verdict,) = ordinary().verdicts
    verdicts = (replace(verdict, kind="outputs differ"), replace(verdict, label="C"))
    job = Job("Compare")
    job.tell(Progress("sampling", 3, 4.0, 10.0, 0.4, 6.0, verdicts, (*SO_FAR, ("C", (0.0005, 0.0005)))))
    assert "2.5 → 0.5 ms" in running_html(job.view())


def test_other_jobs_leave_the_answer_and_say_what_they_do_below_it(bench: wb.Workbench) -> None:
    measured(bench)
    place = bench.panels.results.place
    before = place.words.value
    bench.state.job = view_of("Ablate")
    assert place.words.value == before
    assert "Ablate: round 3: sampling" in place.why.value
    assert "so far 1.83× (1.79 to 1.88)" in place.why.value
    assert all(step.disabled for step in steps_of(place).values())


class Counted(wb.Comparison):
    """A comparison that counts how often somebody reads its samples, of which there can be very many."""

    looks = 0

    @property
    def runs(self) -> Any:
        self.looks += 1
        return super().runs

    def time_elsewhere(self) -> Any:
        self.looks += 1
        return super().time_elsewhere()


def test_a_job_that_goes_on_reads_no_sample_of_the_answer(bench: wb.Workbench) -> None:
    result, place = Counted(measured(bench).record), bench.panels.results.place
    bench.state.show_comparison(result, bench.request().subject)
    for title in TITLES:
        bench.panels.results.turn(title)
    settle(bench)
    bench.state.job = JobView("Profile A and B", "running", 1.0)
    looks = result.looks
    bench.state.job = JobView("Profile A and B", "running", 7.0)
    assert "7 s" in place.why.value
    assert result.looks == looks


def test_names_of_what_runs_are_text() -> None:
    assert "<img" not in progress_html(JobView(HOSTILE, HOSTILE, 1.0))
    assert "<img" not in running_html(JobView(HOSTILE, HOSTILE, 1.0))


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
    assert ended(bench, "levels", levels) == TITLES.index("What ORT did")
    page: Any = bench.panels.results.pages["What ORT did"]
    assert page.title == "levels"
    explained = {part.name: wb.Comparison(ordinary(), parts=(part,)).made(part.kind, part.label)
                 for part in examples.parts(fused()) if part.kind == "explanation"}  # fmt: skip
    assert ended(bench, "explanation", explained) == TITLES.index("What ORT did"), "it stands there, too"


@pytest.mark.parametrize("place", [TITLES.index("Memory and start")])
def test_a_person_who_went_elsewhere_finds_a_mark_at_the_tab(bench: wb.Workbench, place: int) -> None:
    results = bench.panels.results
    assert ended(bench, "levels", {"levels/B": wb.Levels(examples.levels())}, moved_to=place) == place
    assert results.tabs.titles[TITLES.index("What ORT did")] == f"What ORT did{MARK}"
    results.turn("What ORT did")
    assert results.tabs.titles[TITLES.index("What ORT did")] == "What ORT did"


def test_what_was_made_of_something_that_is_no_longer_set_turns_to_no_empty_view(bench: wb.Workbench) -> None:
    results, request = bench.panels.results, bench.request()
    bench.b = wb.Config(level="basic")
    bench.state.show_parts(request, {"levels/B": wb.Levels(examples.levels())}, "levels")
    settle(bench)
    assert results.shown == TITLES[0]
    assert list(results.tabs.titles) == TITLES
    assert "levels" in results.place.why.value, "it can be shown again"


def test_a_running_comparison_says_which_of_its_steps_it_is_at(bench: wb.Workbench) -> None:
    place = bench.panels.results.place
    job = Job("Compare")
    job.step("making inputs")
    bench.state.job = job.view()
    assert "Compare: making inputs" in place.words.value, "what follows is not known yet"
    for step in ("step 1 of 3, preparing", "step 3 of 3, measuring"):
        job.tell(Progress("sampling", 3, 4.0, 10.0, 0.4, 6.0, step=step))
        bench.state.job = job.view()
        assert f"Compare, {step}: round 3: sampling" in place.words.value
        assert f"Compare, {step}" in place.line.value


def test_finding_the_reason_is_the_last_step(bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    result, said = measured(bench), list[str]()

    def compare(*_: Any, progress: Any, **__: Any) -> wb.Comparison:
        progress(Progress("judging", 3, 9.0, 9.0, 1.0, 0.0, step="step 2 of 2, measuring"))
        return result

    def examine(*_: Any, on_step: Any, **__: Any) -> None:
        on_step("A: explanation")
        said.append(running_html(bench.jobs.running.view()))

    monkeypatch.setattr("workbench.compare", compare)
    monkeypatch.setattr("workbench.apps.panels.actions.why_is_cheap", lambda _: True)
    monkeypatch.setattr(result, "examine", examine)
    bench.compare(wait=True)
    assert "Compare, last step: finding out why, A: explanation" in said[0]
