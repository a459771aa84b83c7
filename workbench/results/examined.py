"""The parts of a comparison, and the results that are made of them: also from a reopened bundle."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.analysis.difference.joining import in_the_names_of
from workbench.errors import ConfigError, WorkbenchError
from workbench.records.comparison import ComparisonRecord
from workbench.records.kinds import Part
from workbench.results.explanation import Explanation
from workbench.results.fusions import Fusions
from workbench.results.profile import Profile
from workbench.results.resources import ColdStarts, Memory, OfRuns, Roofline
from workbench.results.result import Result, kept_history

if TYPE_CHECKING:
    from workbench.analysis.explanation import Explained
    from workbench.models import Inputs, Model
    from workbench.results.examining import Examination
    from workbench.views.flame.view import FlameView, Way
    from workbench.views.graph import GraphView
    from workbench.views.graph.view import ColorBy


class Examined(Result):
    """A comparison with its parts, and the model where it is at hand."""

    record: ComparisonRecord
    _model: Model | None = None
    _inputs: Inputs | None = None
    _calibration: Any = None

    def attach(
        self, model: Model | str | Path | Any, *, inputs: Any = None, calibration: Any = None
    ) -> Examined:
        """Give a reopened result its model, the same one, so that `examine` can make what is missing."""
        from workbench.models import Inputs, Model, load
        from workbench.results.examining import check_same

        loaded = model if isinstance(model, Model) else load(model)
        check_same(loaded, self.record)
        self._model, self._calibration = loaded, calibration
        if inputs is not None:
            self._inputs = inputs if isinstance(inputs, Inputs) else loaded.inputs(inputs)
        return self

    def examine(
        self,
        *what: Examination,
        cancel: threading.Event | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> Examined:
        """Make what is missing for each run: explanation, profile, cold start, memory, roofline; or all.

        What was made is kept with the result, and in its entry of the history. A run that failed has none.
        """
        from workbench.results.examining import Examiner, check_what, inputs_again

        chosen = check_what(what)
        if self._model is None:
            raise self._without_model(f"{', '.join(chosen)} cannot be made: the model is not at hand")
        inputs = self._inputs or inputs_again(self._model, self.record)
        examiner = Examiner(self._model, inputs, self._calibration, cancel, on_step)
        before = len(self.parts)
        try:
            for run in self.record.runs:
                if run.failure is None:
                    there = {part.name: part for part in self.parts}
                    for part in examiner.parts(run, chosen, there):
                        self.parts = (*self.parts, part)
        finally:
            if len(self.parts) > before:
                self._update_history()
        return self

    def part(self, kind: str, label: str | None = None) -> Any:
        """The record of a part; a WorkbenchError says how to get one that is missing."""
        name = kind if label is None else f"{kind}/{label}"
        found = next((part for part in self.parts if part.name == name), None)
        if found is None:
            raise self._missing(kind, label)
        return found.record

    def with_part(self, part: Part) -> None:
        """Keep one more record with the result, in place of the one of that name."""
        self.parts = (*(one for one in self.parts if one.name != part.name), part)
        self._update_history()

    def explanation(self, label: str = "A") -> Explanation:
        """What ORT made of the model under the config of that run."""
        return Explanation(self.part("explanation", label), self._about_part("explanation", label))

    def profile(self, label: str = "A") -> Profile:
        """Where the time of that run goes."""
        return Profile.reopened(self.part("profile", label), self._about_part("profile", label))

    def graph(
        self, label: str | None = None, *, baseline: str = "A", color: ColorBy | None = None
    ) -> GraphView:
        """The partitioned graph of the baseline beside that of a candidate (the first unless told)."""
        from workbench.views.graph import graph_view

        other = label or self._first_candidate()
        before, after = (self.part("explanation", one) for one in (baseline, other))
        times = [self._times_s(one) for one in (baseline, other)]
        return graph_view(before, after, times_s=times[0], after_times_s=times[1], color=color)

    def fusions(self) -> Fusions:
        """What became what, for each run, counted by pattern."""
        labels = [part.label or "A" for part in self.parts if part.kind == "explanation"]
        if not labels:
            raise self._missing("explanation", None)
        order = [run.label for run in self.record.runs if run.label in labels]
        return Fusions({label: self.part("explanation", label) for label in order})

    def flame(self, label: str | None = None, *, baseline: str = "A", way: Way | None = None) -> FlameView:
        """Where the time goes, the baseline above a candidate (the first unless told)."""
        from workbench.views.flame.view import flame_of_two

        other = label or self._first_candidate()
        explained = [self._explained(one) for one in (baseline, other)]
        return flame_of_two(
            self.profile(baseline), self.profile(other), *explained, labels=(baseline, other), way=way
        )

    def memory(self) -> Memory:
        """Memory of a run of each config, node by node."""
        found: Memory = self._of_runs(Memory)
        return found

    def roofline(self) -> Roofline:
        """Each node against this machine's peaks, for each config."""
        found: Roofline = self._of_runs(Roofline)
        return found

    def cold_start(self) -> ColdStarts:
        """From no process to a steady run, for each config."""
        found: ColdStarts = self._of_runs(ColdStarts)
        return found

    def _of_runs(self, cls: type[OfRuns]) -> Any:
        found = {part.label or "A": part.record for part in self.parts if part.kind == cls.kind}
        if not found:
            raise self._missing(cls.kind, None)
        order = [run.label for run in self.record.runs if run.label in found]
        first = next(part for part in self.parts if part.name == f"{cls.kind}/{order[0]}")
        return cls.of({label: found[label] for label in order}, about=first.about)

    def _first_candidate(self) -> str:
        return self.record.runs[1].label

    def _explained(self, label: str) -> Explained | None:
        return next((part.record for part in self.parts if part.name == f"explanation/{label}"), None)

    def _about_part(self, kind: str, label: str) -> Any:
        return next(part.about for part in self.parts if part.name == f"{kind}/{label}")

    def _times_s(self, label: str) -> dict[str, float] | None:
        """The time of a run by node, where there is a profile."""
        if all(part.name != f"profile/{label}" for part in self.parts):
            return None
        profile, explained = self.profile(label), self._explained(label)
        told = profile if explained is None else in_the_names_of(explained, profile)
        table, runs = told.to_frame(), len(told.runs_s) or 1
        return {
            str(node): float(own) / runs for node, own in zip(table["node"], table["self_s"], strict=True)
        }

    def _missing(self, kind: str, label: str | None) -> WorkbenchError:
        run = next((run for run in self.record.runs if run.label == label), None)
        if label is not None and run is None:
            known = ", ".join(run.label for run in self.record.runs)
            return ConfigError(f"there is no run {label!r}", f"the runs are: {known}")
        if run is not None and run.failure is not None:
            problem = f"{label} failed ({run.failure.problem}), so it has no {kind}"
            return WorkbenchError(problem, run.failure.fix)
        of = "" if label is None else f" of {label}"
        problem = f"this result has no {kind}{of} yet"
        if self._model is None:
            return self._without_model(problem, kind)
        return WorkbenchError(problem, f"result.examine({kind!r}) makes it")

    def _without_model(self, problem: str, kind: str = "") -> WorkbenchError:
        told = f"result.attach(model).examine({kind!r})" if kind else "result.attach(model).examine(…)"
        return WorkbenchError(problem, f"give it the model that was measured: {told}")

    def _update_history(self) -> None:
        """The entry of this result, if the history has one."""
        try:
            kept_history().update(self.saved, self.structure, about=self.about, parts=self.parts)
        except WorkbenchError as error:
            warnings.warn(f"the history was not updated: {error}", stacklevel=3)
