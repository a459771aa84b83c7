"""Quantize each layer alone, or leave it out alone, and evaluate the variants on the same examples."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.estimate import Estimate
from workbench.core.config import Config, Float16
from workbench.core.errors import ConfigError
from workbench.core.measure.limits import Limits, OnProgress
from workbench.core.models.model import Model
from workbench.core.prepare.examples import Examples, examples
from workbench.core.text import listed
from workbench.features.accuracy.accuracy import batch_of, evaluated_config
from workbench.features.accuracy.evaluate import EvaluatedConfig, evaluate
from workbench.features.accuracy.quantization_step import (
    By,
    LayerGroup,
    before_and_after,
    check_precision,
    float_field,
    layer_groups,
    operator_groups,
)
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.accuracy.sensitivity_record import (
    LayerSensitivity,
    Mode,
    ProposalRecord,
    SearchResult,
    SensitivityRecord,
    search,
)

ITEMS = 16
WHOLE = "whole"
_NOT_KNOWN = "not measured"
MEASURED = "measured, interleaved"


def measured_gain(verdict: Verdict, whole_s: float | None) -> Estimate:
    """Return how much longer a variant takes than the whole quantized model, from their comparison."""
    if whole_s is None or not verdict.ratio:
        return Estimate()
    return Estimate.of(verdict).falling(lambda ratio: whole_s / ratio - whole_s if ratio else None)


@dataclass(eq=False)
class LayerVariants:
    """A model, a quantizing config with its groups of layers, and the examples that all variants run on."""

    model: Model
    config: Config
    groups: tuple[LayerGroup, ...]
    data: Examples
    calibration: Any = None
    limits: Limits | None = None
    cancel: threading.Event | None = None
    on_progress: OnProgress = field(default=lambda _: None)

    def excluding(self, names: Sequence[str]) -> Config:
        """Return the config with these nodes or types in float, beside those that it has in float already."""
        field, precision = float_field(self.config), check_precision(self.config)
        in_float = tuple(dict.fromkeys((*getattr(precision, field), *names)))
        return self.config.replace(precision=replace(precision, **{field: in_float}))

    def variant(self, chosen: LayerGroup, mode: Mode) -> Config:
        """Return the config with this group quantized alone, or left out alone."""
        if mode == "left out":
            return self.excluding(chosen.nodes)
        return self.excluding([name for group in self.groups if group != chosen for name in group.nodes])

    def errors(self, configs: Mapping[str, Config]) -> AccuracyRecord:
        """Evaluate these configs against the float model."""

        def subjects() -> Iterator[EvaluatedConfig]:
            plain = self.config.replace(precision=None, saved_graph=None)
            for label, config in {"float": plain, **configs}.items():
                yield evaluated_config(
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
    """Quantize the whole model once, and find the layers that could be left out."""
    precision, in_float = config.precision, float_field(config)
    step = before_and_after(model, config, calibration=calibration, cancel=cancel, on_progress=on_progress)
    if in_float == "blocked_ops":
        groups = operator_groups(step.before.structure, getattr(precision, in_float))
    else:
        groups = layer_groups(step.before.structure, step.after.structure, by)
    if not groups:
        raise ConfigError(_nothing_to_leave_out(step.before), "choose another precision, or leave it out")
    data = examples(model, data, most=items, batch=batch_of(model, [config], None), seed=seed)
    return LayerVariants(model, config, groups, data, calibration, limits, cancel, on_progress)


def _nothing_to_leave_out(before: Model) -> str:
    """Return why no layer can be left out; a body's nodes are not named in `exclude`."""
    nodes = before.structure.graph.node
    if any(attribute.HasField("g") for node in nodes for attribute in node.attribute):
        return "no layer outside of If, Loop and Scan was quantized, and those inside cannot be left out"
    return "no layer was quantized, so none can be left out"


def sensitivity(
    variants: LayerVariants, mode: Mode, gains: Mapping[str, Estimate], latency_how: str
) -> SensitivityRecord:
    """Evaluate every variant; `gains` are by the name of a group, and missing ones unknown."""
    configs = {str(at): variants.variant(group, mode) for at, group in enumerate(variants.groups)}
    evaluated = variants.errors({WHOLE: variants.config, **configs})
    rows = []
    for at, group in enumerate(variants.groups):
        rows.append(
            LayerSensitivity(
                name=group.name,
                nodes=group.nodes,
                op_types=group.op_types,
                error=finite(evaluated.error(str(at))),
                **gains.get(group.name, Estimate()).cells("gain", "_s"),
                problem=_problem(evaluated, str(at)),
            )
        )
    return SensitivityRecord(
        model_name=variants.model.name,
        config=config_in_words(variants.config),
        mode=mode,
        whole_error=finite(evaluated.error(WHOLE)),
        rows=tuple(rows),
        latency_how=latency_how if gains else _NOT_KNOWN,
        item_count=evaluated.data.item_count,
        made_by=evaluated.data.made_by,
        real=evaluated.data.real,
        notes=tuple(note for note in evaluated.notes if "could not be evaluated" not in note),
    )


def searching_mode(config: Config) -> Mode:
    """Return the mode that tells a search which layers cause the error.

    Of float16, one type of operator alone makes little of it: the rounding between others is gone, too.
    """
    return "left out" if isinstance(config.precision, Float16) else "alone"


def propose(variants: LayerVariants, record: SensitivityRecord, max_error: float) -> ProposalRecord:
    """Search for the fewest layers to leave out, measuring each set."""
    nodes = {group.name: group.nodes for group in variants.groups}

    def measure(excluded: tuple[str, ...]) -> float | None:
        config = variants.excluding([name for group in excluded for name in nodes[group]])
        evaluated = variants.errors({"tried": config})
        problem = _problem(evaluated, "tried")
        # With every layer left out nothing is quantized: that is the float model.
        return 0.0 if problem and len(excluded) == len(nodes) else finite(evaluated.error("tried"))

    causes = tuple(replace(row, error=_caused(record, row)) for row in record.rows)
    result = search(causes, record.whole_error, max_error, measure)
    rows = [row for row in record.rows if row.name in result.excluded]
    return ProposalRecord(
        model_name=record.model_name,
        max_error=max_error,
        met=result.met,
        reason=_reason(record, result, max_error),
        excluded=result.excluded,
        nodes=tuple(name for group in result.excluded for name in nodes[group]),
        whole_error=record.whole_error,
        error=result.error,
        cost_s=_sum(row.gain_s for row in rows),
        cost_low_s=_sum(row.gain_low_s for row in rows),
        cost_high_s=_sum(row.gain_high_s for row in rows),
        cost_how=record.latency_how,
        attempts=result.attempts,
    )


def _caused(record: SensitivityRecord, row: LayerSensitivity) -> float | None:
    """Return the error that a layer causes: its own, or what is gone without it, since squares add up."""
    if record.mode == "alone" or row.error is None or record.whole_error is None:
        return row.error if record.mode == "alone" else None
    return math.sqrt(max(0.0, record.whole_error**2 - row.error**2))


def with_measured_cost(record: ProposalRecord, comparison: ComparisonRecord) -> ProposalRecord:
    """Return the record with the cost that the comparison of A, all quantized, with the proposal measured."""
    gain = measured_gain(comparison.verdict, comparison.runs[0].latency.median_s)
    if gain.value is None:
        return record
    confidence = comparison.verdict.confidence
    cost: dict[str, Any] = gain.cells("cost", "_s")
    return replace(record, **cost, cost_how=MEASURED, cost_confidence=confidence)


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum; None where a part is not known or there is none."""
    parts = list(values)
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def finite(error: float | None) -> float | None:
    """Return the error; None where it is not finite."""
    return error if error is not None and math.isfinite(error) else None


def _problem(evaluated: AccuracyRecord, label: str) -> str | None:
    """Return why a variant has no error."""
    score = evaluated.score(label)
    return score.problem if score else None


def _reason(record: SensitivityRecord, result: SearchResult, max_error: float) -> str:
    whole = "no size" if record.whole_error is None else f"{record.whole_error * 100:.2f} %"
    now = "no size" if result.error is None else f"{result.error * 100:.2f} %"
    if result.met and not result.excluded:
        return (
            f"nothing needs to be left out: the error is {whole}, at most {max_error * 100:.2f} % asked for"
        )
    names = listed(result.excluded, 4)
    if result.met:
        return (
            f"leave out {names}: the error falls from {whole} to {now} "
            f"(at most {max_error * 100:.2f} % asked for), measured on {record.item_count} items"
        )
    return f"no set of layers meets {max_error * 100:.2f} %: without {names} it is still {now}"
