"""What stands beside the progress bar."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from workbench.core.bundle.comparison import Kind, Verdict
from workbench.core.measure import bar as bars
from workbench.core.measure.bar import bar, in_words, steps
from workbench.core.measure.limits import Progress


@pytest.mark.parametrize(
    ("kind", "ratio", "words"),
    [
        ("faster", 1.5, "round 3: judging, so far about 1.5×, about 4 s left"),
        ("unknown", None, "round 3: judging, about 4 s left"),
        ("outputs differ", 1.5, "round 3: judging, about 4 s left"),
    ],
)
def test_no_speed_stands_beside_outputs_that_differ(kind: Kind, ratio: float | None, words: str) -> None:
    verdict = Verdict("B", kind, ratio, None, None, 0.95, 0.01, 3, True, "because")
    assert in_words(Progress("judging", 3, 5.0, 9.0, 0.5, 4.0, (verdict,))) == words


def test_the_ratio_so_far_has_its_interval() -> None:
    verdict = Verdict("B", "unknown", 1.5, 1.2, 1.9, 0.95, 0.01, 1, True, "because")
    assert "so far about 1.5× (1.2 to 1.9)" in in_words(
        Progress("judging", 1, 1.0, 9.0, 0.1, 8.0, (verdict,))
    )


class Outputs:
    """What a notebook would show in one output, from first to last."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []
        self.ids: set[str] = set()

    def publish(self, data: dict[str, str], *, transient: dict[str, str], update: bool = False) -> None:
        assert update is bool(self.shown), "the first is an output, what follows takes its place"
        self.shown.append(data)
        self.ids.add(transient["display_id"])


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> Outputs:
    found = Outputs()
    monkeypatch.setattr(bars, "publisher", lambda: found.publish)
    monkeypatch.setattr(bars, "EVERY_S", 0.0)
    return found


def told(doing: str = "measuring <b>") -> Progress:
    return Progress(doing, 3, 5.0, 9.0, 0.5, 4.0, ())


def test_a_notebook_keeps_a_line_and_no_bar(outputs: Outputs) -> None:
    with bar(True) as on_progress:
        on_progress(told())
    first, middle, last = outputs.shown
    assert len(outputs.ids) == 1
    assert "<progress" in first["text/html"]
    assert 'value="0.500"' in middle["text/html"]
    assert "&lt;b&gt;" in middle["text/html"], "a name is text"
    assert set(last) == {"text/plain"}
    assert last["text/plain"].startswith("took ")
    assert last["text/plain"].endswith(" s, 3 rounds")


def test_a_step_is_shown_at_once(outputs: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars, "EVERY_S", 3600.0)
    with steps(None) as on_step:
        on_step("preparation")
        on_step("profile")
    assert [shown["text/plain"] for shown in outputs.shown[:3]] == ["starting", "preparation", "profile"]


def test_what_was_interrupted_says_so(outputs: Outputs) -> None:
    with pytest.raises(KeyboardInterrupt), bar(True):
        raise KeyboardInterrupt
    assert outputs.shown[-1]["text/plain"].startswith("stopped after ")


def test_a_terminal_has_its_line_and_nothing_after() -> None:
    written = io.StringIO()
    with redirect_stderr(written), bar(True) as on_progress:
        on_progress(told("measuring"))
    assert "measuring" in written.getvalue()
    assert written.getvalue().endswith("\r")
