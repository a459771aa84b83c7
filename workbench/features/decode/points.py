"""A decoding in figures: time to the first token, milliseconds a token against position, tokens a second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import verdict_cells
from workbench.core.bundle.display import config_in_words
from workbench.core.measure.pairs import LEAST_S, Pair, typical_s
from workbench.core.measure.percentiles import Figure, mean_of
from workbench.core.measure.wording import headline
from workbench.core.text import counted, in_mib, in_ms
from workbench.features.decode.record import DecodePass, DecodeRun, DecodingRecord, What

if TYPE_CHECKING:
    import pandas as pd

WHATS: tuple[What, ...] = ("first token", "next tokens")


@dataclass(frozen=True, slots=True)
class DecodeFigures:
    """One config of a decoding."""

    run: DecodeRun
    first_token: Figure  # seconds
    token: Figure  # seconds of each token after the first
    position_s: tuple[float, ...]  # the median of each step over all passes
    same: int  # steps at which it picks the baseline's token
    first_other: int | None  # the first step at which it picks another one

    @property
    def tokens_per_s(self) -> float | None:
        return None if not self.token.value else 1 / self.token.value


def figures_of(record: DecodingRecord) -> tuple[DecodeFigures, ...]:
    """Return the figures of every config."""
    return tuple(_figures(run, record) for run in record.runs)


def decode_pairs(baseline: DecodeRun, candidate: DecodeRun, what: What) -> tuple[Pair, ...]:
    """Return one pair a round: log(A's time / B's)."""
    pairs = []
    for number in sorted({part.round for part in baseline.passes}):
        ours, theirs = (
            [part for part in run.passes if part.round == number] for run in (baseline, candidate)
        )
        if not ours or not theirs:
            continue
        ratio = math.log(_typical_s(ours, what) / _typical_s(theirs, what))
        clean = not any(part.disturbed for part in (*ours, *theirs))
        pairs.append(Pair(number, ratio if clean else None, ratio, 1, int(clean)))
    return tuple(pairs)


def decode_frame(record: DecodingRecord) -> pd.DataFrame:
    """Return one row per config; units stand in the names."""
    import pandas as pd

    verdicts = {(row.verdict.label, row.what): row.verdict for row in record.verdicts}
    return pd.DataFrame(
        [
            {
                "label": figures.run.label,
                "config": config_in_words(figures.run.config),
                "cache": _cache_in_words(figures.run, record),
                **figures.first_token.cells("first_token", "_s"),
                **figures.token.cells("token", "_s"),
                "tokens_per_s": figures.tokens_per_s,
                "cache_bytes": figures.run.cache_bytes,
                "rss_bytes": max(figures.run.rss_bytes, default=None),
                "same_tokens": figures.same if figures.run.picked else None,
                "first_other_token": figures.first_other,
                **{
                    f"{what.replace(' ', '_')}_{name}": value
                    for what in WHATS
                    for name, value in verdict_cells(verdicts.get((figures.run.label, what))).items()
                },
                "failure": figures.run.failure.problem if figures.run.failure else None,
            }
            for figures in figures_of(record)
        ]
    )


def positions_frame(record: DecodingRecord) -> pd.DataFrame:
    """Return one row per config and step: how long its token took, and which one it picked."""
    import pandas as pd

    rows = []
    for figures in figures_of(record):
        for at, seconds in enumerate(figures.position_s):
            picked = figures.run.picked[at] if figures.run.picked else None
            rows.append((figures.run.label, record.prompt_count + at, seconds, record.tokens[at], picked))
    return pd.DataFrame(rows, columns=["label", "position", "step_s", "token", "picked"])


def in_words(record: DecodingRecord) -> str:
    """Return each config in a sentence, each verdict, and where other tokens were picked."""
    lines = [_sentence(figures, record) for figures in figures_of(record)]
    lines += [f"{row.what}: {headline(row.verdict)}" for row in record.verdicts]
    for figures in figures_of(record)[1:]:
        if figures.run.picked:
            lines.append(_tokens_in_words(figures, record))
    if not record.cached:
        lines.append(
            "the model has no cache, so every token runs the whole sequence again: export it with "
            "past_key_values to run one token at a time"
        )
    return "\n".join([*lines, *(f"note: {note}" for note in record.notes)])


def _figures(run: DecodeRun, record: DecodingRecord) -> DecodeFigures:
    rounds = sorted({part.round for part in run.passes})
    by_round = [[part for part in run.passes if part.round == number] for number in rounds]
    later = max(1, record.token_count - 1)
    others = [
        at for at, pair in enumerate(zip(run.picked, record.tokens, strict=False)) if pair[0] != pair[1]
    ]
    return DecodeFigures(
        run=run,
        first_token=mean_of("first token", [_typical_s(parts, "first token") for parts in by_round]),
        token=mean_of(
            "token",
            [_typical_s(parts, "next tokens") / later for parts in by_round if record.token_count > 1],
        ),
        position_s=tuple(median(steps) for steps in zip(*(part.step_s for part in run.passes), strict=True)),
        same=len(run.picked) - len(others),
        first_other=others[0] if others else None,
    )


def _typical_s(parts: Sequence[DecodePass], what: What) -> float:
    times_s = (part.first_token_s if what == "first token" else part.next_tokens_s for part in parts)
    return max(typical_s(times_s), LEAST_S)


def _cache_in_words(run: DecodeRun, record: DecodingRecord) -> str:
    if not record.cached:
        return "none"
    return {"binding": "bound", "run": "copied", None: "not known"}[run.io]


def _sentence(figures: DecodeFigures, record: DecodingRecord) -> str:
    run = figures.run
    what = f"{run.label} ({config_in_words(run.config)})"
    if run.failure is not None:
        return f"{what} failed during {run.failure.in_words}"
    if figures.first_token.value is None:
        return f"{what}: nothing was measured"
    parts = [f"first token after {in_ms(figures.first_token.value, 3)}"]
    if figures.token.value is not None:
        parts.append(
            f"then {in_ms(figures.token.value, 3)} a token ({figures.tokens_per_s or 0:,.3g} tokens/s)"
        )
    if run.cache_bytes is not None:
        whole = counted(record.prompt_count + record.token_count - 1, "token")
        parts.append(f"{in_mib(run.cache_bytes)} of cache at {whole}, {_cache_in_words(run, record)}")
    return f"{what}: {', '.join(parts)}"


def _tokens_in_words(figures: DecodeFigures, record: DecodingRecord) -> str:
    label, whole = figures.run.label, record.token_count
    if figures.first_other is None:
        return f"{label} picks the same token as A at all {whole} steps"
    return (
        f"{label} picks the same token as A at {figures.same} of {whole} steps; "
        f"step {figures.first_other + 1} is the first other one"
    )
