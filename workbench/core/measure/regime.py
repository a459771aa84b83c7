"""The rule for a quiet and for a busy machine: which rounds count, and what each look spends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

_PARTS = {  # of the error at each planned look: quiet; busy, for a difference and for a tie
    3: (0.002, 0.0003, 0.001),
    5: (0.007, 0.0008, 0.003),
    8: (0.021, 0.0022, 0.010),
    12: (0.011, 0.001, 0.006),
    18: (0.008, 0.001, 0.007),
    27: (0.006, 0.0006, 0.009),
    40: (0.004, 0.0006, 0.011),
    60: (0.0008, 0.00007, 0.0008),
    90: (0.0006, 0.00007, 0.0006),
    135: (0.0004, 0.00005, 0.0004),
    200: (0.0002, 0.00005, 0.0002),
    300: (0.0001, 0.00005, 0.0001),
}
LOOKS = tuple(_PARTS)
MIN_ROUNDS = min(LOOKS)
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Regime:
    """The rule for one state of the machine."""

    trims: tuple[float, ...]
    """The share of the rounds at either end that does not count; of two, that of the narrower interval."""
    spent_at: Mapping[int, float]
    """The part of the error that each planned look spends, by its number of rounds."""
    confidence: float
    """The confidence of the interval over all looks."""


QUIET = Regime(
    trims=(0.13, 0.3),
    spent_at={look: quiet for look, (quiet, _, _) in _PARTS.items()},
    confidence=CONFIDENCE,
)
"""Of a round in eight the log ratio is off by several times the scatter of the others, so of eight rounds
one at either end is trimmed. Where load comes and goes, one in three is off, and the larger trim leaves half
of the scatter or less. Most of the error is spent where the default budget ends, after seven or eight rounds,
and where an answer that stays open does, after 27 to 41.
"""
BUSY = Regime(
    trims=(0.3,),
    spent_at={look: difference for look, (_, difference, _) in _PARTS.items()},
    confidence=0.99,
)
"""With a busy core a process may share it throughout while its partner does not: a quarter of the rounds is
far off, and more where one core of two is free. Rounds scatter by more than the smallest effect, so only the
interval prevents false claims: simulated, 1 % over all looks.
"""
BUSY_TIE = replace(BUSY, spent_at={look: tie for look, (_, _, tie) in _PARTS.items()}, confidence=CONFIDENCE)
"""What a tie needs on a busy machine: the 95 % of a quiet one. Few rounds that scatter may lie on one side by
luck, so that a difference needs more; a tie has to exclude both sides.
"""
