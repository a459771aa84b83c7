"""The admission of candidates: prepared, not the same to ORT as another, and accurate enough."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.core.errors import Cancelled, ConfigError, StorageError, WorkbenchError
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.candidates import make_candidate
from workbench.core.models.fit import check_fit
from workbench.features.accuracy.acceptance import outputs_beyond
from workbench.features.accuracy.accuracy import accuracy
from workbench.features.compare.best import file_check
from workbench.features.explain.observe import observe
from workbench.features.explain.provenance.account import graph_signature
from workbench.features.tune.entries import Accuracy, StudyEntry
from workbench.features.tune.record import State
from workbench.features.tune.request import StudyRequest

GRAPH_PLAN = ("graph_optimization_level", "disabled_optimizers", "free_dimensions")
MOST_OBSERVED_BYTES = 1 << 30  # a larger model is loaded too slowly to look at each graph


class Admission:
    """The checks before a candidate may race; what they found is kept for the next ones."""

    def __init__(
        self,
        request: StudyRequest,
        feeds: Path,
        *,
        cancel: threading.Event | None = None,
        on_step: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.candidates: dict[str, Candidate] = {}  # prepared, by label
        self._request = request
        self._comparison = request.comparison(request.base, request.base)
        self._feeds = feeds
        self._cancel = cancel
        self._on_step = on_step
        self._accuracy: dict[str, Accuracy] = {}
        self._by_plan: dict[str, str] = {}
        self._without_graph_settings: dict[str, Candidate] = {}  # by family: same file, same other settings
        self._graphs: dict[str, dict[str, str]] = {}  # family → signature of the optimized graph → label

    def refusal(self, entry: StudyEntry) -> tuple[State, str] | None:
        """Prepare and check a config; return why it may not take part, or None."""
        request, config = self._request, entry.config
        try:
            check_fit(request.model, config)
        except ConfigError as error:
            return "refused", error.problem
        if _has_other_arithmetic(config, request.base) and not request.goal.allows_other_arithmetic:
            return (
                "refused",
                "its arithmetic differs; give max_accuracy_drop or max_error to let it take part",
            )
        self._on_step(f"preparing {config_in_words(config)}")
        candidate = self.prepared(entry)
        if candidate.preparation is not None:
            entry.prepare_s = candidate.preparation.elapsed_s
            entry.file_bytes = candidate.preparation.file_bytes
        if candidate.failure is not None:
            return "failed", candidate.failure.problem
        entry.same_as = self._same_as(candidate)
        if entry.same_as is not None:
            return "same", f"the same to ONNX Runtime as {entry.same_as}"
        entry.accuracy = self._accuracy_of(config)
        if entry.accuracy.broken is not None:
            return "limit", entry.accuracy.broken
        if entry.file_bytes is None or request.goal.max_file_bytes is None:
            return None
        check = file_check(entry.file_bytes, request.goal.max_file_bytes)
        return None if check.passed else ("limit", check.reason)

    def prepared(self, entry: StudyEntry) -> Candidate:
        """Return the candidate, ready to measure."""
        candidate = make_candidate(
            self._comparison,
            entry.label,
            entry.config,
            self._feeds,
            on_step=self._on_step,
            cancel=self._cancel,
        )
        self.candidates[entry.label] = candidate
        return candidate

    def _same_as(self, candidate: Candidate) -> str | None:
        """Return the label of an earlier candidate that is the same to ORT: equal plan or equal graph."""
        plan = dict(candidate.plan)
        whole = self._key(candidate, plan)
        if whole in self._by_plan:
            return self._by_plan[whole]
        self._by_plan[whole] = candidate.label
        attributes = {
            name: value for name, value in plan.pop("attributes", {}).items() if name not in GRAPH_PLAN
        }
        rest = {name: value for name, value in plan.items() if name not in GRAPH_PLAN}
        family = self._key(candidate, {**rest, "attributes": attributes})
        config = candidate.config
        if config.level is None and not config.disabled_passes and not config.free_dimensions:
            self._without_graph_settings[family] = candidate
            return None
        return self._same_graph(candidate, family)

    def _accuracy_of(self, config: Config) -> Accuracy:
        """Return the accuracy of the config's arithmetic; nothing is evaluated where it is the default's."""
        goal, base = self._request.goal, self._request.base
        own = _computing(config)
        if own == _computing(base) or not goal.allows_other_arithmetic:
            return Accuracy()
        key = repr(own)
        if key not in self._accuracy:
            self._on_step("accuracy")
            self._accuracy[key] = self._evaluated(config)
        return self._accuracy[key]

    def _evaluated(self, config: Config) -> Accuracy:
        request = self._request
        record = accuracy(
            request.model,
            [request.base, config],
            data=request.data,
            calibration=request.calibration,
            labels=["A", "B"],
            seed=request.seed,
            limits=request.limits,
            cancel=self._cancel,
        )
        score = record.score("B")
        return Accuracy(
            value=score.score.value if score is not None and score.score is not None else None,
            change=score.against.value if score is not None and score.against is not None else None,
            error=record.error("B"),
            broken=outputs_beyond(record, "B", request.goal) or None,
        )

    def _same_graph(self, candidate: Candidate, family: str) -> str | None:
        signature = self._signature(candidate.config)
        if signature is None:
            return None
        known = self._graphs.setdefault(family, {})
        plain = self._without_graph_settings.get(family)
        if plain is not None and plain.label not in known.values():
            plain_signature = self._signature(plain.config)
            if plain_signature is not None:
                known.setdefault(plain_signature, plain.label)
        return None if known.setdefault(signature, candidate.label) == candidate.label else known[signature]

    def _signature(self, config: Config) -> str | None:
        """Return the signature of the optimized graph; None if it cannot be looked at."""
        if self._request.model.file_bytes > MOST_OBSERVED_BYTES:
            return None
        self._on_step("optimized graph")
        try:
            observation = observe(
                self._request.model,
                config,
                passes=False,
                calibration=self._request.calibration,
                cancel=self._cancel,
            )
        except (Cancelled, StorageError):
            raise
        except WorkbenchError:  # the session fails when it is measured, with its reason in the table
            return None
        return graph_signature(observation.final) if observation.final_saved else None

    def _key(self, candidate: Candidate, plan: dict[str, object]) -> str:
        prepared = candidate.preparation
        file = (prepared.sha256 if prepared is not None else None) or "source"
        return json.dumps([file, candidate.interpreter, plan], sort_keys=True, default=str)


def _has_other_arithmetic(config: Config, base: Config) -> bool:
    """Return whether a config computes in a precision that the base does not have."""
    differs = config.precision is not None and config.precision != base.precision
    half = _half_providers(config)
    return differs or bool(half and half != _half_providers(base))


def _computing(config: Config) -> tuple[object, ...]:
    """Return what decides the outputs of a config."""
    return config.precision, config.fusion, config.rewrites, _half_providers(config)


def _half_providers(config: Config) -> tuple[str, ...]:
    return tuple(provider.name for provider in config.providers if provider.allows_half)
