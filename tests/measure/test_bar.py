"""What stands beside the progress bar."""

from __future__ import annotations

import pytest

from workbench.measure.bar import in_words
from workbench.measure.limits import Progress
from workbench.records.comparison import Kind, Verdict


@pytest.mark.parametrize(
    ("kind", "ratio", "words"),
    [
        ("faster", 1.5, "round 3: judging, so far 1.50×, at most 4 s left"),
        ("unknown", None, "round 3: judging, at most 4 s left"),
        ("outputs differ", 1.5, "round 3: judging, at most 4 s left"),
    ],
)
def test_no_speed_stands_beside_outputs_that_differ(kind: Kind, ratio: float | None, words: str) -> None:
    verdict = Verdict("B", kind, ratio, None, None, 0.95, 0.01, 3, True, "because")
    assert in_words(Progress("judging", 3, 5.0, 9.0, 0.5, 4.0, (verdict,))) == words
