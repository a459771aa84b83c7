"""The rule for a quiet and for a busy machine: which passes and rounds count, and what each look spends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_PARTS = {  # of the error at each planned look, on a quiet and on a busy machine
    3: (0.002, 0.0003),
    5: (0.007, 0.0008),
    8: (0.021, 0.0022),
    12: (0.015, 0.001),
    18: (0.010, 0.001),
    27: (0.003, 0.0007),
    40: (0.0015, 0.00007),
    60: (0.0008, 0.00007),
    90: (0.0006, 0.00007),
    135: (0.0004, 0.00005),
    200: (0.0002, 0.00005),
    300: (0.0001, 0.00005),
}
LOOKS = tuple(_PARTS)
MIN_ROUNDS = min(LOOKS)
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Regime:
    """The rule for one state of the machine."""

    passes: float
    """The share of the passes, the fastest ones, whose mean is a config's time in a round."""
    trim: float
    """The share of the rounds at either end that does not count."""
    spent_at: Mapping[int, float]
    """The part of the error that each planned look spends, by its number of rounds."""
    confidence: float
    """The confidence of the interval over all looks."""


QUIET = Regime(
    passes=1 / 3,
    trim=0.13,
    spent_at={look: quiet for look, (quiet, _) in _PARTS.items()},
    confidence=CONFIDENCE,
)
"""What others do to the machine makes runs slower, never faster. On identical configs of a model that waits
for memory (6 ms, two shared cores) the log ratio of the fastest third scatters by 1.2 % from round to round,
that of the fastest half by 2.0 %, of three quarters by 3.2 %. One round in eight is off by several times the
scatter of the others, so of eight rounds one at either end is trimmed. Most of the error is spent where the
default budget ends, after eight rounds or nine.
"""
BUSY = Regime(
    passes=1 / 20,
    trim=0.3,
    spent_at={look: busy for look, (_, busy) in _PARTS.items()},
    confidence=0.99,
)
"""With a busy core most passes wait for it, and long: of the fastest twentieth the log ratio scatters less
than of more. In every fifth round a process has both threads on one core throughout, and takes twice as long.
Rounds scatter by more than the smallest effect, so only the interval prevents false claims: simulated, 1 %
over all looks.
"""
