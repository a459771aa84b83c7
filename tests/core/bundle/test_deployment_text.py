"""What the check of a deployment says of the time that HTTP adds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import results as examples
from workbench.features.deploy.record import ServedLoad, ServedRound


@pytest.mark.parametrize(
    ("added_s", "words"),
    [
        ((0.001, 0.0011, 0.0012), "HTTP adds 1.1 ms (0.8516 ms to 1.348 ms)"),
        ((-0.0002, 0.0001, 0.0001), "HTTP adds at most "),
        ((-0.0014, -0.0013, -0.0014), "what HTTP adds is not known (the session itself was slower"),
        ((0.001, 0.001), "what HTTP adds is not known (no interval from fewer than 3 rounds)"),
    ],
)
def test_http_takes_no_time_away(added_s: tuple[float, ...], words: str) -> None:
    rounds = tuple(
        ServedRound((0.005,), (ServedLoad(1, (0.005 + added,), 0.01 + added),)) for added in added_s
    )
    record = examples.deployment()
    assert record.check is not None
    text = str(replace(record, check=replace(record.check, rounds=rounds)))
    assert words in text
    assert "adds -" not in text
    (rate,) = [part for part in text.split("; ") if "requests/s" in part]
    assert "requests/s (" in rate
