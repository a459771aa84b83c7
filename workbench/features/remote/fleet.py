"""One call for many models on many machines: each pair has a result of its own, and no ratio joins two."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.bundle.entries import entry_of
from workbench.core.errors import Cancelled, ConfigError, WorkbenchError
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Progress, ShowProgress
from workbench.core.models import load
from workbench.core.text import counted

_MOST_CALLS = 1_000  # each waits in a thread of its own
_COLUMNS = ("cpu", "kind", "verdict", "ratio", "low", "high")  # of a history's entry


@dataclass(frozen=True, slots=True)
class FleetAnswer:
    """What came of one model on one target: a result, or why there is none."""

    model: str
    target: str
    result: Any | None
    failure: WorkbenchError | None


@dataclass(frozen=True, slots=True)
class FleetAnswers:
    """The answers of all pairs, in the order in which they were asked for."""

    answers: tuple[FleetAnswer, ...]

    def __getitem__(self, pair: tuple[str, str]) -> Any:
        """Return the result of a model on a target, or raise why there is none."""
        for answer in self.answers:
            if (answer.model, answer.target) == pair:
                if answer.failure is not None:
                    raise answer.failure
                return answer.result
        raise ConfigError(f"{pair!r} was not asked for", "give a pair of to_frame(): model, target")

    def to_frame(self) -> DataFrame:
        """Return one row per pair. A ratio is that of one machine's own comparison."""
        rows = []
        for answer in self.answers:
            row: dict[str, Any] = {"model": answer.model, "target": answer.target}
            row |= dict.fromkeys(_COLUMNS)
            if answer.result is not None:
                kind, about = answer.result.feature.name, answer.result.about
                entry = entry_of(answer.result.record, kind, about, "", 0)._asdict()
                row |= {name: entry[name] for name in _COLUMNS}
            rows.append({**row, "failure": None if answer.failure is None else answer.failure.args[0]})
        return data_frame(rows, columns=["model", "target", *_COLUMNS, "failure"])

    def __str__(self) -> str:
        failed = sum(answer.failure is not None for answer in self.answers)
        targets = counted(len({answer.target for answer in self.answers}), "target")
        models = counted(len({answer.model for answer in self.answers}), "model")
        return f"{models} on {targets}: {len(self.answers) - failed} answered, {failed} failed"


class Fleet:
    """The calls of `wb.on` for every model on every target; `ask` makes one of them."""

    def __init__(
        self, models: Sequence[Any], targets: Sequence[str], ask: Callable[[str, str], Callable[..., Any]]
    ) -> None:
        self._models, self._targets, self._ask = [load(model) for model in models], [*targets], ask
        count = len(self._models) * len(self._targets)
        if not 0 < count <= _MOST_CALLS:
            raise ConfigError(
                f"{len(self._models)} models on {len(self._targets)} targets are {count} calls",
                f"give at least one of both, and at most {_MOST_CALLS} pairs",
            )

    def __getattr__(self, name: str) -> Callable[..., FleetAnswers]:
        self._ask(self._targets[0], name)  # an AttributeError names the calls
        return partial(self._call, name)

    def _call(
        self,
        name: str,
        *arguments: Any,
        progress: ShowProgress = True,
        cancel: threading.Event | None = None,
        **options: Any,
    ) -> FleetAnswers:
        pairs, stop = [*product(self._models, self._targets)], cancel or threading.Event()
        options |= {"progress": False, "cancel": stop}

        def answer(model: Any, target: str) -> FleetAnswer:
            try:
                return FleetAnswer(
                    model.name, target, self._ask(target, name)(model, *arguments, **options), None
                )
            except WorkbenchError as error:
                return FleetAnswer(model.name, target, None, error)

        with bar(progress) as report, ThreadPoolExecutor(len(pairs), "fleet") as threads:
            try:
                waiting = [threads.submit(answer, *pair) for pair in pairs]
                for done, _ in enumerate(as_completed(waiting), 1):
                    report(Progress(f"{done} of {len(pairs)} answered"))
            except BaseException:
                stop.set()
                raise
        answers = tuple(future.result() for future in waiting)
        if stop.is_set():
            raise Cancelled("The call was cancelled.", "Call again.")
        return FleetAnswers(answers)
