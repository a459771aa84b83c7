"""Each layer quantized alone, or left out alone: prepared one by one, evaluated on the same examples."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.analysis.fidelity.accuracy import batch_of, subject
from workbench.analysis.fidelity.evaluate import EvaluatedConfig, evaluate
from workbench.analysis.fidelity.layer_groups import By, LayerGroup, layer_groups
from workbench.analysis.fidelity.quantization_step import before_and_after, takes_exclude
from workbench.analysis.fidelity.search import SearchResult, search
from workbench.config import Config
from workbench.errors import ConfigError
from workbench.measure.limits import Limits, OnProgress
from workbench.models.examples import Examples, examples
from workbench.models.model import Model
from workbench.records.comparison import ComparisonRecord, Verdict
from workbench.records.display import config_in_words
from workbench.records.fidelity import AccuracyRecord
from workbench.records.sensitivity import LayerSensitivity, Mode, ProposalRecord, SensitivityRecord

ITEMS = 16
WHOLE = "whole"
NOT_KNOWN = "not measured"
MEASURED = "measured, interleaved"


@dataclass(frozen=True, slots=True)
class Gain:
    """Seconds of a run that quantizing one candidate saves."""

    value_s: float
    low_s: float | None = None
    high_s: float | None = None


def measured_gain(verdict: Verdict, whole_s: float | None) -> Gain | None:
    """Return how much longer a variant takes than the whole quantized model, from their comparison."""
    if whole_s is None or not verdict.ratio:
        return None
    low, high = verdict.low, verdict.high
    return Gain(
        whole_s / verdict.ratio - whole_s,
        whole_s / high - whole_s if high else None,
        whole_s / low - whole_s if low else None,
    )


@dataclass(eq=False)
class LayerVariants:
    """A model and a quantizing config with its candidates, and the examples that all variants run on."""

    model: Model
    config: Config
    groups: tuple[LayerGroup, ...]
    data: Examples
    calibration: Any = None
    limits: Limits | None = None
    cancel: threading.Event | None = None
    on_progress: OnProgress = field(default=lambda _: None)

    def excluding(self, nodes: Sequence[str]) -> Config:
        """The config with these nodes in float, beside those that it leaves out already."""
        precision = takes_exclude(self.config)
        exclude = tuple(dict.fromkeys((*precision.exclude, *nodes)))
        return self.config.replace(precision=replace(precision, exclude=exclude))

    def variant(self, chosen: LayerGroup, mode: Mode) -> Config:
        """With this candidate quantized alone, or left out alone."""
        if mode == "left out":
            return self.excluding(chosen.nodes)
        return self.excluding([name for one in self.groups if one != chosen for name in one.nodes])

    def errors(self, configs: Mapping[str, Config]) -> AccuracyRecord:
        """Of these configs against the float model, in one evaluation."""

        def subjects() -> Iterator[EvaluatedConfig]:
            plain = self.config.replace(precision=None, saved_graph=None)
            for label, config in {"float": plain, **configs}.items():
                yield subject(
                    label, self.model, config, calibration=self.calibration, cancel=self.cancel,
                    on_progress=self.on_progress,
                )  # fmt: skip

        return evaluate(
            subjects(), self.data, model_name=self.model.name, count=len(configs) + 1, limits=self.limits,
            cancel=self.cancel, on_progress=self.on_progress,
        )  # fmt: skip


def layer_variants(
    model: Model,
    config: Config,
    *,
    by: By = "auto",
    data: Any = None,
    calibration: Any = None,
    items: int = ITEMS,
    seed: int = 0,
    limits: Limits | None = None,
    cancel: threading.Event | None = None,
    on_progress: OnProgress = lambda _: None,
) -> LayerVariants:
    """Quantize all of it once, and find what could be left out."""
    takes_exclude(config)
    made = before_and_after(model, config, calibration=calibration, cancel=cancel, on_progress=on_progress)
    found = layer_groups(made.before.structure, made.after.structure, by)
    if not found:
        raise ConfigError("no layer was quantized, so none can be left out", "choose another precision")
    data = examples(model, data, most=items, batch=batch_of(model, [config], None), seed=seed)
    return LayerVariants(model, config, found, data, calibration, limits, cancel, on_progress)


def sensitivity(
    variants: LayerVariants, mode: Mode, gains: Mapping[str, Gain], latency_how: str
) -> SensitivityRecord:
    """`gains` by the name of a candidate; missing ones are unknown."""
    configs = {str(at): variants.variant(one, mode) for at, one in enumerate(variants.groups)}
    told = variants.errors({WHOLE: variants.config, **configs})
    rows = []
    for at, one in enumerate(variants.groups):
        score = _problem(told, str(at))
        gain = gains.get(one.name)
        rows.append(
            LayerSensitivity(
                name=one.name,
                nodes=one.nodes,
                op_types=one.op_types,
                error=finite(told.error(str(at))),
                gain_s=gain.value_s if gain else None,
                gain_low_s=gain.low_s if gain else None,
                gain_high_s=gain.high_s if gain else None,
                problem=score,
            )
        )
    return SensitivityRecord(
        model_name=variants.model.name,
        config=config_in_words(variants.config),
        mode=mode,
        whole_error=finite(told.error(WHOLE)),
        rows=tuple(rows),
        latency_how=latency_how if gains else NOT_KNOWN,
        item_count=told.data.item_count,
        made_by=told.data.made_by,
        real=told.data.real,
        notes=tuple(note for note in told.notes if "could not be evaluated" not in note),
    )


def propose(variants: LayerVariants, record: SensitivityRecord, max_error: float) -> ProposalRecord:
    """Search for the least to leave out, measuring each set; `record` has the errors alone."""
    if record.mode != "alone":
        raise ConfigError("the search needs each layer alone", "make the sensitivity with mode='alone'")
    nodes = {one.name: one.nodes for one in variants.groups}

    def measure(excluded: tuple[str, ...]) -> float | None:
        config = variants.excluding([name for one in excluded for name in nodes[one]])
        told = variants.errors({"tried": config})
        problem = _problem(told, "tried")
        # With every layer left out nothing is quantized: that is the float model.
        return 0.0 if problem and len(excluded) == len(nodes) else finite(told.error("tried"))

    found = search(record.rows, record.whole_error, max_error, measure)
    rows = [row for row in record.rows if row.name in found.excluded]
    return ProposalRecord(
        model_name=record.model_name,
        max_error=max_error,
        met=found.met,
        reason=_reason(record, found, max_error),
        excluded=found.excluded,
        nodes=tuple(name for one in found.excluded for name in nodes[one]),
        whole_error=record.whole_error,
        error=found.error,
        cost_s=_sum(row.gain_s for row in rows),
        cost_low_s=_sum(row.gain_low_s for row in rows),
        cost_high_s=_sum(row.gain_high_s for row in rows),
        cost_how=record.latency_how,
        attempts=found.attempts,
    )


def with_measured_cost(record: ProposalRecord, comparison: ComparisonRecord) -> ProposalRecord:
    """Return the record with the cost that the comparison of A, all quantized, with the proposal measured."""
    gain = measured_gain(comparison.verdicts[0], comparison.runs[0].latency.median_s)
    if gain is None:
        return record
    return replace(
        record, cost_s=gain.value_s, cost_low_s=gain.low_s, cost_high_s=gain.high_s, cost_how=MEASURED
    )


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum; None where a part is not known or there is none."""
    parts = list(values)
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def finite(error: float | None) -> float | None:
    """None where no size can be given to it."""
    return error if error is not None and math.isfinite(error) else None


def _problem(told: AccuracyRecord, label: str) -> str | None:
    """Why a variant has no error."""
    start = f"{label} could not be evaluated: "
    return next((note.removeprefix(start) for note in told.notes if note.startswith(start)), None)


def _reason(record: SensitivityRecord, found: SearchResult, max_error: float) -> str:
    whole = "no size" if record.whole_error is None else f"{record.whole_error * 100:.2f} %"
    now = "no size" if found.error is None else f"{found.error * 100:.2f} %"
    if found.met and not found.excluded:
        return (
            f"nothing needs to be left out: the error is {whole}, at most {max_error * 100:.2f} % asked for"
        )
    names = ", ".join(found.excluded[:4]) + (
        f" and {len(found.excluded) - 4} more" * (len(found.excluded) > 4)
    )
    if found.met:
        return (
            f"leave out {names}: the error falls from {whole} to {now} "
            f"(at most {max_error * 100:.2f} % asked for), measured on {record.item_count} items"
        )
    return f"no set of layers meets {max_error * 100:.2f} %: without {names} it is still {now}"
