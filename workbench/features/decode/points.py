"""A decoding in figures: time to the first token, milliseconds a token against position, tokens a second."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from workbench.core.bundle.comparison import verdict_cells
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame
from workbench.core.measure.gates import FINE, OPEN, Gate, code_of
from workbench.core.measure.pairs import LEAST_S, Pair, typical_s
from workbench.core.measure.percentiles import Figure, mean_of
from workbench.core.measure.wording import headline
from workbench.core.text import bytes_text, counted, in_digits, in_mib, in_ms
from workbench.features.decode.record import DecodeCase, DecodePass, DecodeRun, DecodingRecord, What

WHATS: tuple[What, ...] = ("first token", "next tokens")


@dataclass(frozen=True, slots=True)
class DecodeFigures:
    """One config of a decoding."""

    run: DecodeRun
    case: DecodeCase
    first_token: Figure  # seconds
    token: Figure  # seconds of each token after the first
    position_s: tuple[float, ...]  # the median of each step over all passes
    same: int  # steps at which it picks the baseline's tokens
    first_other: int | None  # the first step at which it picks another one

    @property
    def tokens_per_s(self) -> Figure:
        """The tokens after the first, of all sequences of the batch."""
        rate = self.token.falling(lambda seconds: self.case.batch / seconds if seconds else None)
        return replace(rate, name="tokens/s")

    @property
    def step_bytes(self) -> float | None:
        """The weights and the cache that a step after the first reads: the mean; None: not known."""
        run, case = self.run, self.case
        if run.weight_bytes is None or run.cache_bytes is None:
            return None
        steps = len(case.tokens) // case.batch
        held = run.cache_bytes / (case.prompt_count + steps - (run.io != "in place"))  # of one position
        return run.weight_bytes + held * (case.prompt_count + (steps - 2) / 2)

    @property
    def roof_tokens_per_s(self) -> float | None:
        """What memory bandwidth allows: each step reads its weights and its cache once; None: not known."""
        if not self.step_bytes or self.run.memory_bytes_per_s is None:
            return None
        return self.case.batch * self.run.memory_bytes_per_s / self.step_bytes

    @property
    def roof_share(self) -> float | None:
        """How much of the roof was reached. Above 1: the processor's caches held what a step reads."""
        rate, roof = self.tokens_per_s.value, self.roof_tokens_per_s
        return rate / roof if rate is not None and roof else None


def figures_of(record: DecodingRecord) -> tuple[DecodeFigures, ...]:
    """Return the figures of every config, for each prompt and batch."""
    return tuple(_figures(run, case) for case in record.cases for run in case.runs)


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


def decode_frame(record: DecodingRecord) -> DataFrame:
    """Return one row per config, prompt and batch; units stand in the names."""
    verdicts = {
        (case.name, row.verdict.label, row.what): row.verdict
        for case in record.cases
        for row in case.verdicts
    }
    return data_frame(
        [
            {
                "label": figures.run.label,
                "config": config_in_words(figures.run.config),
                "cache": _cache_in_words(figures.run, record),
                "prompt": figures.case.prompt_count,
                "batch": figures.case.batch,
                **figures.first_token.cells("first_token", "_s"),
                **figures.token.cells("token", "_s"),
                **figures.tokens_per_s.cells("tokens", "_per_s"),
                "step_bytes": figures.step_bytes,
                "roof_tokens_per_s": figures.roof_tokens_per_s,
                "roof_share": figures.roof_share,
                "cache_bytes": figures.run.cache_bytes,
                "cache_type": figures.run.cache_type or None,
                "rss_bytes": max(figures.run.rss_bytes, default=None),
                "same_tokens": figures.same if figures.run.picked else None,
                "first_other_token": figures.first_other,
                **{
                    f"{what.replace(' ', '_')}_{name}": value
                    for what in WHATS
                    for name, value in verdict_cells(
                        verdicts.get((figures.case.name, figures.run.label, what))
                    ).items()
                },
                "failure": figures.run.failure.problem if figures.run.failure else None,
            }
            for figures in figures_of(record)
        ]
    )


def positions_frame(record: DecodingRecord) -> DataFrame:
    """Return one row per config, step and sequence: how long it took, and which token was picked."""
    rows = []
    for figures in figures_of(record):
        case, run = figures.case, figures.run
        for at, token in enumerate(case.tokens[: len(figures.position_s) * case.batch]):
            step, sequence = divmod(at, case.batch)
            picked = run.picked[at] if run.picked else None
            place = (run.label, case.prompt_count, case.batch, sequence, case.prompt_count + step)
            rows.append((*place, figures.position_s[step], token, picked))
    columns = ["label", "prompt", "batch", "sequence", "position", "step_s", "token", "picked"]
    return data_frame(rows, columns=columns)


def in_words(record: DecodingRecord) -> str:
    """Return each config in a sentence, each verdict, and where other tokens were picked."""
    lines: list[str] = []
    every = figures_of(record)
    for case in record.cases:
        start = f"{case.name}: " if record.further else ""
        rows = [figures for figures in every if figures.case.name == case.name]
        lines += [start + _sentence(figures, record) for figures in rows]
        lines += [f"{start}{row.what}: {headline(row.verdict)}" for row in case.verdicts]
        lines += [start + _tokens_in_words(row, record) for row in rows[1:] if row.run.picked]
    if not record.cached:
        lines.append(
            "the model has no cache, so every token runs the whole sequence again: export it with "
            "past_key_values to run one token at a time"
        )
    threads = record.runs[0].threads
    if record.cached and threads and all(row.roof_share is None for row in every):
        lines.append(
            f"the roof of memory is not known here: wb.peaks([{threads}]) measures its bandwidth once"
        )
    return "\n".join([*lines, *(f"note: {note}" for note in record.notes)])


def _figures(run: DecodeRun, case: DecodeCase) -> DecodeFigures:
    rounds = sorted({part.round for part in run.passes})
    by_round = [[part for part in run.passes if part.round == number] for number in rounds]
    steps = len(case.tokens) // case.batch
    later = max(1, steps - 1)
    picks = zip(run.picked, case.tokens, strict=False)
    others = sorted({at // case.batch for at, (ours, theirs) in enumerate(picks) if ours != theirs})
    return DecodeFigures(
        run=run,
        case=case,
        first_token=mean_of("first token", [_typical_s(parts, "first token") for parts in by_round]),
        token=mean_of(
            "token",
            [_typical_s(parts, "next tokens") / later for parts in by_round if steps > 1],
        ),
        position_s=tuple(median(steps) for steps in zip(*(part.step_s for part in run.passes), strict=True)),
        same=len(run.picked) // case.batch - len(others),
        first_other=others[0] if others else None,
    )


def _typical_s(parts: Sequence[DecodePass], what: What) -> float:
    times_s = (part.first_token_s if what == "first token" else part.next_tokens_s for part in parts)
    return max(typical_s(times_s), LEAST_S)


def _cache_in_words(run: DecodeRun, record: DecodingRecord) -> str:
    if not record.cached:
        return "none"
    return {"binding": "bound", "in place": "in place", "run": "copied", None: "not known"}[run.io]


def _sentence(figures: DecodeFigures, record: DecodingRecord) -> str:
    run = figures.run
    what = f"{run.label} ({config_in_words(run.config)})"
    if run.failure is not None:
        return f"{what} failed during {run.failure.in_words}"
    if figures.first_token.value is None:
        return f"{what}: nothing was measured"
    parts = [f"first token after {_time_in_words(figures.first_token)}"]
    if figures.token.value is not None:
        step = "token" if figures.case.batch == 1 else f"step of {figures.case.batch} tokens"
        rate = in_digits(figures.tokens_per_s.value or 0, 3)
        parts.append(
            f"then {_time_in_words(figures.token)} a {step}: {rate} tokens/s{_roof_in_words(figures)}"
        )
    if run.cache_bytes is not None:
        whole = counted(figures.case.prompt_count + record.token_count - 1, "token")
        kind = f"{run.cache_type} " if run.cache_type else ""
        parts.append(f"{in_mib(run.cache_bytes)} of {kind}cache at {whole}, {_cache_in_words(run, record)}")
    return f"{what}: {', '.join(parts)}"


def _roof_in_words(figures: DecodeFigures) -> str:
    share, rate, read = figures.roof_share, figures.run.memory_bytes_per_s, figures.step_bytes
    if share is None or rate is None or read is None:
        return ""
    roof = f"{bytes_text(round(read))} a step at {bytes_text(round(rate))}/s"
    if share > 1:
        times = in_digits(share, 3)
        return f" ({times} times the roof of memory, {roof}: the processor's caches hold a part)"
    return f" ({share * 100:.0f} % of the roof: {roof})"


def _time_in_words(time: Figure) -> str:
    text = in_ms(time.value or 0, 3) or ""
    if time.low is None or time.high is None:
        return text
    return f"{text} (95 % CI {in_digits(time.low * 1e3, 3)} to {in_digits(time.high * 1e3, 3)})"


def _tokens_in_words(figures: DecodeFigures, record: DecodingRecord) -> str:
    label, whole = figures.run.label, record.token_count
    if figures.first_other is None:
        return f"{label} picks the same token as A at all {whole} steps"
    return (
        f"{label} picks the same token as A at {figures.same} of {whole} steps; "
        f"step {figures.first_other + 1} is the first other one"
    )


def decoding_gates(record: DecodingRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each config, and one for each verdict."""
    for run in record.runs:
        if run.failure is not None or not run.passes:
            problem = "it did not run" if run.failure is None else run.failure.problem
            yield Gate(run.label, OPEN, f"not measured: {problem}")
        else:
            yield Gate(run.label, FINE, f"{len(run.passes):,} passes")
    for case in record.cases:
        start = f"{case.name}, " if record.further else ""
        for row in case.verdicts:
            name = f"{start}{row.what}: {row.verdict.label} against A"
            yield Gate(name, code_of(row.verdict.kind, fail_if), headline(row.verdict))
