"""The best config within limits: each limit is kept, broken, or not settled by the interval of its figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from workbench.core.bounds import check_number
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame
from workbench.core.bundle.goal import Goal
from workbench.core.bundle.run import Run
from workbench.core.errors import ConfigError
from workbench.core.measure.gates import FINE, OPEN, WORSE, Gate
from workbench.core.measure.percentiles import Figure, percentiles, throughput
from workbench.core.text import in_mib, in_ms, one_line, printable, shorten
from workbench.drawing.markup import text
from workbench.features.accuracy.acceptance import Check, drop_check
from workbench.features.accuracy.record import AccuracyRecord

Answer = Literal["yes", "no", "not settled"]
_CODES: dict[Answer, int] = {"yes": FINE, "no": WORSE, "not settled": OPEN}
_MOST_OPEN = 6  # reasons; more are folded
NO_ACCURACY = "the accuracy was not measured: result.accuracy(data) measures it"


@dataclass(frozen=True, slots=True)
class Contender:
    """One config of one model at one size, with the check of each limit."""

    group: str  # within which the best is chosen: the model
    place: str  # the sizes; empty: there is one place
    label: str
    config: str
    median_s: float | None
    rate: float | None  # items a second: what the best has most of
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool | None:
        """Return whether all limits are kept; None if one is not settled and none is broken."""
        results = [check.passed for check in self.checks]
        return False if False in results else None if None in results else True

    @property
    def name(self) -> str:
        """Return the label with the place."""
        return f"{self.label} at {self.place}" if self.place else self.label


@dataclass(frozen=True, slots=True)
class Best:
    """The answer: the fastest contender of each group that keeps every limit."""

    contenders: tuple[Contender, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the groups, each once."""
        return tuple(dict.fromkeys(contender.group for contender in self.contenders))

    @property
    def answer(self) -> Answer:
        """Return yes if each group has a config that keeps all limits, no if one surely has none."""
        answers = [self.answer_of(group) for group in self.groups]
        return "no" if "no" in answers else "yes" if all(a == "yes" for a in answers) else "not settled"

    def answer_of(self, group: str) -> Answer:
        """Return whether a config of this group keeps all limits."""
        results = [contender.passed for contender in self.contenders if contender.group == group]
        return "yes" if True in results else "not settled" if None in results else "no"

    def winner(self, group: str | None = None) -> Contender | None:
        """Return the fastest contender that keeps every limit, by default of the first group."""
        chosen = self.groups[0] if group is None else group
        passing = [
            contender for contender in self.contenders if contender.group == chosen and contender.passed
        ]
        return max(passing, key=lambda contender: contender.rate or 0.0, default=None)

    @property
    def label(self) -> str | None:
        """Return the label of the best config; None where no config keeps the limits for sure."""
        winner = self.winner()
        return None if winner is None else winner.label

    def to_frame(self) -> DataFrame:
        """Return one row per contender and limit: passed (None: not settled), reason, best."""
        best = [self.winner(group) for group in self.groups]
        rows = [
            (c.group, c.place, c.label, c.config, check.what, check.passed, check.reason, c in best)
            for c in self.contenders
            for check in c.checks
        ]
        columns = ["model", "place", "label", "config", "limit", "passed", "reason", "best"]
        return data_frame(rows, columns=columns)

    def headline(self, group: str) -> str:
        """Return the answer of a group with its best config, in words."""
        winner = self.winner(group)
        named = f": {winner.name} ({shorten(winner.config)})" if winner is not None else ""
        return f"{shorten(group)}: {self.answer_of(group)}{named}"

    def gates(self) -> Iterator[Gate]:
        """Yield a check for each model: whether a config keeps the limits."""
        return (Gate(group, _CODES[self.answer_of(group)], self.headline(group)) for group in self.groups)

    def reasons(self, group: str) -> tuple[str, ...]:
        """Return in words how far each config of a group keeps each limit, with the intervals."""
        return tuple(
            f"{contender.name}: {'; '.join(map(_check_text, contender.checks))}"
            for contender in self.contenders
            if contender.group == group
        )

    def __str__(self) -> str:
        lines = []
        for group in self.groups:
            lines += [self.headline(group), *(f"  {reason}" for reason in self.reasons(group))]
        return printable("\n".join(lines), keep="\n")

    @property
    def html(self) -> str:
        """The answer for each model, and how far each config keeps each limit; many reasons are folded."""
        answers = ""
        for group in self.groups:
            reasons = self.reasons(group)
            rows = f"<ul>{''.join(f'<li>{text(reason)}</li>' for reason in reasons)}</ul>"
            if len(reasons) > _MOST_OPEN:
                rows = f"<details><summary>each of {len(reasons)}</summary>{rows}</details>"
            head = f"<b>{text(self.headline(group))}</b>"
            answers += f'<div class="wbp-limits" role="status">{head}{rows}</div>'
        return answers

    def _repr_html_(self) -> str:
        from workbench.core.html_table import html_table

        frame = self.to_frame()
        return html_table([*map(str, frame)], frame.itertuples(index=False, name=None), self.answer)

    def __repr__(self) -> str:
        return f"<Best: {printable(self.answer)}>"


class ConfigChoice:
    """A result that holds measured configs to choose from."""

    knows_best = True

    def _contenders(self, limits: Goal) -> Iterable[Contender]:
        """Return every config, as far as it keeps the limits."""
        raise NotImplementedError

    def best(
        self,
        *,
        max_p50_s: float | None = None,
        max_p99_s: float | None = None,
        max_memory_bytes: int | None = None,
        max_accuracy_drop: float | None = None,
        max_file_bytes: int | None = None,
    ) -> Best:
        """Return what is best within these limits: yes, no, or not settled.

        Of a comparison: its fastest config. Of a matrix: that of each model. Over sizes: the point with
        most items a second.
        `max_accuracy_drop` is judged by what `accuracy()` kept: 0.01 is one point below the baseline's.
        """
        limits = Goal(
            max_p50_s=max_p50_s, max_p99_s=max_p99_s, max_memory_bytes=max_memory_bytes,
            max_accuracy_drop=max_accuracy_drop, max_file_bytes=max_file_bytes,
        )  # fmt: skip
        _check_limits(limits)
        return Best(tuple(self._contenders(limits)))


def _check_limits(limits: Goal) -> None:
    """Refuse what is no limit, or none at all."""
    given = {name: value for name, value in asdict(limits).items() if value is not None}
    if not given:
        raise ConfigError("no limit was given", "give one or more: best(max_p99_s=0.010)")
    for name, value in given.items():
        least = 0 if name == "max_accuracy_drop" else None
        fix = "give a number above 0, such as max_p99_s=0.010"
        check_number(name, value, fix, what="limit", least=least)


def contenders_of(
    record: ComparisonRecord,
    limits: Goal,
    accuracy: AccuracyRecord | None = None,
    *,
    group: str = "",
    place: str = "",
    items: int = 1,
) -> Iterable[Contender]:
    """Yield every config of what was measured together."""
    for run in record.runs:
        rate = throughput(run).value
        yield Contender(
            group=group or record.model.name,
            place=place,
            label=run.label,
            config=config_in_words(run.config),
            median_s=run.latency.median_s,
            rate=None if rate is None else rate * items,
            checks=tuple(_checks(record, run, limits, accuracy)),
        )


def missing(group: str, problem: str, *, place: str = "") -> Contender:
    """Return the contender that stands for what could not be measured."""
    return Contender(group, place, "A", "", None, None, (Check("measured", False, one_line(problem)),))


def _checks(
    record: ComparisonRecord, run: Run, limits: Goal, accuracy: AccuracyRecord | None
) -> Iterable[Check]:
    if run.failure is not None or not run.processes:
        problem = "nothing was measured" if run.failure is None else run.failure.problem
        yield Check("measured", False, one_line(problem))
        return
    for verdict in record.verdicts:
        if verdict.label == run.label and verdict.kind == "outputs differ":
            yield Check("outputs", False, verdict.reason)
    for percent, most_s in ((50.0, limits.max_p50_s), (99.0, limits.max_p99_s)):
        if most_s is not None:
            (estimate,) = percentiles(run, (percent,))
            yield time_check(estimate, most_s)
    if limits.max_memory_bytes is not None:
        yield memory_check(run, limits.max_memory_bytes)
    if limits.max_file_bytes is not None:
        yield file_check(file_bytes(record, run), limits.max_file_bytes)
    if limits.max_accuracy_drop is not None:
        yield _accuracy(record, run, limits.max_accuracy_drop, accuracy)


def time_check(estimate: Figure, most_s: float) -> Check:
    """Check a time by its interval, which settles it if it lies on one side of the limit."""
    asked = f"at most {in_ms(most_s)} asked for"
    if estimate.value is None:
        return Check(estimate.name, None, f"{estimate.name} is not known: {estimate.note}; {asked}")
    low, high = estimate.low, estimate.high
    passed = True if high is not None and high <= most_s else None
    if low is not None and low > most_s:
        passed = False
    ends = f"({in_ms(low) or 'open'} to {in_ms(high) or 'open'})"
    return Check(estimate.name, passed, f"{estimate.name} {in_ms(estimate.value)} {ends}; {asked}")


def memory_check(run: Run, most: int) -> Check:
    """Check the peak of every process: memory hardly varies, so the extremes are the interval."""
    peaks = [peak for process in run.processes if (peak := process.peak_rss_bytes) is not None]
    asked = f"at most {in_mib(most)} asked for"
    if not peaks:
        return Check("memory", None, f"the memory is not known; {asked}")
    passed = True if max(peaks) <= most else False if min(peaks) > most else None
    return Check("memory", passed, f"peak memory {in_mib(min(peaks))} to {in_mib(max(peaks))}; {asked}")


def rate_check(estimate: Figure, least: float) -> Check:
    """Check a throughput by its interval, which settles it if it lies on one side of the limit."""
    asked = f"at least {least:,.4g} a second asked for"
    if estimate.value is None:
        return Check(estimate.name, None, f"{estimate.name} is not known: {estimate.note}; {asked}")
    low, high = estimate.low, estimate.high
    passed = True if low is not None and low >= least else None
    if high is not None and high < least:
        passed = False
    ends = " to ".join("open" if end is None else f"{end:,.4g}" for end in (low, high))
    return Check(estimate.name, passed, f"{estimate.name} {estimate.value:,.4g} a second ({ends}); {asked}")


def file_check(size: int, most: int) -> Check:
    """Check the size of a model file, which is known exactly."""
    return Check("file size", size <= most, f"its file has {in_mib(size)}; at most {in_mib(most)} asked for")


def file_bytes(record: ComparisonRecord, run: Run) -> int:
    """Return the size of the file that ORT loads, with its external data."""
    model, prepared = record.model, run.preparation
    return model.graph_bytes + model.external_bytes if prepared is None else prepared.file_bytes


def _accuracy(record: ComparisonRecord, run: Run, most: float, accuracy: AccuracyRecord | None) -> Check:
    if accuracy is None:
        return Check("accuracy", None, NO_ACCURACY)
    if run.label == record.runs[0].label:
        return Check("accuracy", True, "it is the baseline of the accuracy")
    return drop_check(accuracy, run.label, most)


def _check_text(check: Check) -> str:
    answers = {True: "yes", False: "no", None: "not settled"}
    return f"{answers[check.passed]} ({one_line(check.reason)})"
