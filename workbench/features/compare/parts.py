"""A result about several runs, with further results about them as parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partialmethod
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.goal import Goal
from workbench.core.bundle.kinds import Part
from workbench.core.measure.providers import asked_for
from workbench.core.prepare.preparing import prepare
from workbench.features import FEATURES
from workbench.features.base.examining import Continued, missing_model, missing_part
from workbench.features.base.registry import KINDS, written_offers
from workbench.features.base.result import Result, origin_of, run_of
from workbench.features.compare.best import ConfigChoice, Contender, contenders_of
from workbench.features.compare.side_by_side import precision_frame
from workbench.features.explain.explanation import why_in_words
from workbench.features.explain.file_difference import file_difference
from workbench.features.explain.fusions import Fusions
from workbench.features.explain.model_files import ModelFiles
from workbench.features.explain.result import Explanation
from workbench.features.findings.record import badges
from workbench.features.profile.difference.by_operator import operators_in_words
from workbench.features.profile.difference.matching import in_the_names_of
from workbench.features.profile.result import Profile

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.features.explain.explanation import Explained
    from workbench.features.explain.graph_view import GraphView
    from workbench.features.explain.graph_view.pane import TensorErrors
    from workbench.features.explain.graph_view.view import ColorBy
    from workbench.features.profile.flame.view import FlameView, Way


class EachRun:
    """A result about several runs, of which each may have a record of such a feature."""

    def each(self, kind: str) -> Any:
        """Return the results of a kind of all runs as one."""
        raise NotImplementedError


def _each(self: EachRun, kind: str) -> Any:
    return self.each(kind)


for offer in written_offers().values():
    if offer.side_by_side and offer.name in FEATURES:
        setattr(EachRun, offer.method, partialmethod(_each, offer.name))


@dataclass(frozen=True, slots=True)
class Reason:
    """What makes the difference of two runs, in a sentence."""

    words: str  # with names from the model, which is untrusted
    kind: str  # the kind of result that shows it


class ResultWithParts(ConfigChoice, EachRun, Continued):
    """A result about several runs; further results about these runs are kept with it."""

    record: ComparisonRecord
    # the parts that tell the reason, and the reason
    _reason: tuple[tuple[Part, ...] | None, Reason | None] = (None, None)

    def add(self, result: Result, label: str = "B") -> None:
        """Keep a further result about the same model with this one: what `wb.levels`, `wb.ablate`… return.

        `label` says which run's config it is about. It replaces an older one of its kind and label, and is
        saved, exported and reopened with the comparison.
        """
        for part in result.as_parts(label):
            self.with_part(part)

    def made(self, kind: str, label: str | None = None) -> Any:
        """Return a further result that is kept with this one: `result.made("levels", "B").figure()`."""
        return KINDS.result_of_part(self._part(kind, label)).measured_at(self._latencies_s, label)

    def part(self, kind: str, label: str | None = None) -> Any:
        """Return the record of a part; a WorkbenchError says how to get one that is missing."""
        return self._part(kind, label).record

    def with_part(self, part: Part) -> None:
        """Keep one more record with the result, in place of the one of that name."""
        self.parts = (*(kept for kept in self.parts if kept.name != part.name), part)
        self._update_history()

    def explanation(self, label: str = "A") -> Explanation:
        """Return what ORT made of the model under the config of that run."""
        return Explanation.of_part(self._part("explanation", label))

    def profile(self, label: str = "A") -> Profile:
        """Return where the time of that run goes: shares of its measured median."""
        return Profile.of_part(self._part("profile", label)).measured_at(self._latencies_s, label)

    def graph(
        self, label: str | None = None, *, baseline: str = "A", color: ColorBy | None = None
    ) -> GraphView:
        """Show the partitioned graph of the baseline beside that of a candidate, by default the first.

        `color` is one of provider, time, memory, fate, op and, once `result.add(result.first_difference())`
        has kept it, error.
        """
        from workbench.features.explain.graph_view import graph_view

        labels = (baseline, label or self.record.runs[1].label)
        before, after = (self.part("explanation", run) for run in labels)
        before_s, after_s = (self._node_times_s(run) for run in labels)
        errors = self._tensor_errors()
        view = graph_view(before, after, times_s=before_s, after_times_s=after_s, errors=errors, color=color)
        view.badges = self._badges()
        return view

    def files(self, label: str = "B") -> ModelFiles:
        """Return what differs between the model's file and the one that a run loads: nodes and weights.

        It is kept with the result. `wb.compare` of model files keeps it from the start.
        """
        run = next((run for run in self.record.runs if run.label == label), None)
        if run is None:
            raise missing_part(self.record, "file", label, True)
        name = f"model files/{label}"
        part = next((part for part in self.parts if part.name == name), None)
        if part is None:
            if self._model is None:
                raise missing_model("the files cannot be compared: the model is not at hand", "files()")
            file = prepare(self._model, run.config, calibration=self._calibration).model
            part = Part(name, file_difference(self._model, file), origin_of(self._model, run.config))
            self.with_part(part)
        return ModelFiles.of_part(part)

    def fusions(self) -> Fusions:
        """Return what was fused into what in each run, counted by pattern."""
        return Fusions(self._records("explanation"))

    def flame(self, label: str | None = None, *, baseline: str = "A", way: Way | None = None) -> FlameView:
        """Show where the time goes, the baseline above a candidate, by default the first."""
        from workbench.features.profile.flame.view import flame_of_two

        labels = (baseline, label or self.record.runs[1].label)
        first, second = map(self.profile, labels)
        view = flame_of_two(first, second, *map(self._explained, labels), labels=labels, way=way)
        view.badges = self._badges()
        return view

    @property
    def why(self) -> str:
        """What makes the difference, in a sentence; empty until A and B are explained or profiled."""
        return "" if self.reason is None else self.reason.words

    @property
    def reason(self) -> Reason | None:
        """What makes the difference, with the kind of result that shows it; None: no part tells it."""
        if self._reason[0] is not self.parts:  # summing up profiles takes a while, and panels ask often
            self._reason = self.parts, self._find_reason()
        return self._reason[1]

    def _find_reason(self) -> Reason | None:
        for part in self.parts:
            if part.kind == "why slower" and part.record.reasons:
                return Reason(part.record.costliest, part.kind)
        base, candidate = (run.label for run in self.record.runs[:2])
        before, after = self._explained(base), self._explained(candidate)
        graphs = why_in_words(candidate, before, after) if before and after else ""
        times = self._times_apart(base, candidate)
        words = "; ".join(filter(None, (times, graphs)))
        return Reason(words, "profile" if times else "explanation") if words else None

    def _times_apart(self, base: str, candidate: str) -> str:
        """Return whose time makes a settled difference; empty without both profiles."""
        sign = {"faster": -1, "slower": 1}.get(self.record.verdict.kind)
        held = {part.name for part in self.parts}
        if sign is None or not held.issuperset((f"profile/{base}", f"profile/{candidate}")):
            return ""
        before, after = self.profile(base), self.profile(candidate)
        agrees = sign * (after.run_s - before.run_s) > 0  # else the medians say something else
        return operators_in_words(before, after) if agrees else ""

    def time_elsewhere(self) -> dict[str, float]:
        """Return the share of the nodes' time beside the providers asked for, of each profiled run."""
        shares = {}
        for run in self.record.runs:
            asked = asked_for(run.config)
            if asked and any(part.name == f"profile/{run.label}" for part in self.parts):
                nodes = self.profile(run.label).to_frame()
                elsewhere_s = nodes["self_s"][~nodes["provider"].isin(asked)].sum()
                if whole_s := nodes["self_s"].sum():
                    shares[run.label] = float(elsewhere_s / whole_s)
        return shares

    def _tensor_errors(self) -> TensorErrors | None:
        """Return the errors of tensors that a first difference kept with the result says."""
        for part in self.parts:
            if part.kind == "first difference":
                errors: TensorErrors = part.record.tensor_errors
                return errors
        return None

    def _badges(self) -> dict[str, str]:
        """Return what findings that are kept with the result say about nodes."""
        return badges(part.record for part in self.parts if part.kind == "findings")

    def each(self, kind: str) -> Any:
        """Return the results of a kind of all runs as one: `result.each("memory")` is `result.memory()`."""
        records = self._records(kind)
        about = self._part(kind, next(iter(records))).about
        return KINDS.named(kind).result.of(records, about).measured_at(self._latencies_s, None)

    def first_difference(self, label: str | None = None, **options: Any) -> Any:
        """Find the first tensor that differs between A and a candidate, as `wb.first_difference` does."""
        if self._model is None:
            raise missing_model("tensors cannot be compared: the model is not at hand", "first_difference()")
        base, *candidates = self.record.runs
        candidate = candidates[0] if label is None else run_of(candidates, label)
        given = {"inputs": self._inputs, "calibration": self._calibration, **options}
        return KINDS.named("first difference").function(self._model, base.config, candidate.config, **given)

    def _contenders(self, limits: Goal) -> Iterable[Contender]:
        return contenders_of(self.record, limits, self._kept_accuracy())

    def precision_frame(self) -> DataFrame:
        """Return one row per config: latency and speed-up with intervals, file, memory, accuracy, error.

        Accuracy and error are those that `accuracy()` kept; without it the error is of the timed inputs, and
        `error_from` says which.
        """
        return precision_frame(self.record, self._kept_accuracy())

    def precision_figure(self) -> go.Figure:
        """Draw speed against accuracy, or against the error where there is no accuracy."""
        from workbench.features.compare.side_by_side import precision_figure

        return precision_figure(self.record, self._kept_accuracy())

    def _kept_accuracy(self) -> Any:
        return next((part.record for part in self.parts if part.kind == "accuracy"), None)

    def _part(self, kind: str, label: str | None = None) -> Part:
        name = kind if label is None else f"{kind}/{label}"
        part = next((part for part in self.parts if part.name == name), None)
        if part is None:
            raise missing_part(self.record, kind, label, self._model is not None)
        return part

    def _records(self, kind: str) -> dict[str, Any]:
        """Return the records of a kind by the label of their run, in the order of the runs."""
        records = {part.label: part.record for part in self.parts if part.kind == kind}
        if not records:
            raise missing_part(self.record, kind, None, self._model is not None)
        return {run.label: records[run.label] for run in self.record.runs if run.label in records}

    def _explained(self, label: str) -> Explained | None:
        return next((part.record for part in self.parts if part.name == f"explanation/{label}"), None)

    @property
    def _latencies_s(self) -> dict[str, float]:
        runs = {run.label: run.latency.median_s for run in self.record.runs}
        return {label: latency_s for label, latency_s in runs.items() if latency_s is not None}

    def _node_times_s(self, label: str) -> dict[str, float] | None:
        """Return the time of one run by node, or None without a profile."""
        if all(part.name != f"profile/{label}" for part in self.parts):
            return None
        profile, explained = self.profile(label), self._explained(label)
        return (profile if explained is None else in_the_names_of(explained, profile)).node_times_s()
