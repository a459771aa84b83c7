"""`wb.layer_errors`, `wb.sensitivity` and `wb.exclude_for`: the layers of a quantized model."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from workbench.core.bounds import check_number
from workbench.core.bundle.estimate import Estimate
from workbench.core.config import Config
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Model, load
from workbench.core.prepare.real_data import data_from
from workbench.features.accuracy import sensitivity as studying
from workbench.features.accuracy.intervals import MIN_ITEMS, RESAMPLES
from workbench.features.accuracy.layers import LAYER_ITEMS, debug
from workbench.features.accuracy.layers_result import LayerErrors
from workbench.features.accuracy.quantization_step import REST, By, LayerGroup
from workbench.features.accuracy.sensitivity_record import Mode, SensitivityRecord
from workbench.features.accuracy.sensitivity_result import Proposal, Sensitivity, check_budget
from workbench.features.base.registry import KINDS
from workbench.features.base.result import origin_of
from workbench.features.base.running import finding_inputs, sized_as
from workbench.features.explain import explanation
from workbench.features.explain.provenance.account import Account
from workbench.features.profile.profiled_config import ProfiledConfig, profile_config

HOW = "estimated from profiles"
Seconds: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


def gains(
    groups: Sequence[LayerGroup],
    float_profile: tuple[ProfiledConfig, Account],
    quantized_profile: tuple[ProfiledConfig, Account],
) -> dict[str, Estimate]:
    """Return the time of the executed nodes that compute a group, before minus after, by the group's name.

    A node that computes layers of several groups counts for each in equal parts; a node that computes none of
    them, the Q and DQ nodes too, counts for all other operators together. Times are shares of profiled runs
    times the unprofiled latency, so that no group saves more than the model takes.
    """
    owner = {node: group.name for group in groups if group.name != REST for node in group.nodes}
    before, after = (
        _GroupTimes(profiled, _shares(profiled, account, owner))
        for profiled, account in (float_profile, quantized_profile)
    )
    return {group.name: _gain(before, after, group.name) for group in groups}


class _GroupTimes:
    """Seconds of each group of one config, and the same from resampled runs."""

    def __init__(self, profiled: ProfiledConfig, shares: Mapping[str, Seconds]) -> None:
        self._run_s, self._shares = profiled.run_s, shares
        self._samples_s = np.asarray(profiled.samples_s)
        self.runs = min([len(self._samples_s), *(len(row) for row in shares.values())])

    def seconds(self, group: str) -> float:
        return float(np.median(self._shares[group])) * self._run_s if group in self._shares else 0.0

    def resampled(self, group: str) -> Seconds:
        """Return medians over resampled profiled runs times medians over resampled unprofiled runs."""
        if group not in self._shares:
            return np.zeros(RESAMPLES)
        return _medians(self._shares[group], seed=0) * _medians(self._samples_s, seed=1)


def _gain(before: _GroupTimes, after: _GroupTimes, group: str) -> Estimate:
    value_s = before.seconds(group) - after.seconds(group)
    if min(before.runs, after.runs) < MIN_ITEMS:
        return Estimate(value_s)
    low_s, high_s = np.percentile(before.resampled(group) - after.resampled(group), (2.5, 97.5))
    return Estimate(value_s, min(value_s, float(low_s)), max(value_s, float(high_s)))


def _medians(values: Seconds, seed: int) -> Seconds:
    """Return the medians of resampled values; the same values give the same medians."""
    rows = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    return np.asarray(np.median(values[rows], axis=1))


def _shares(profiled: ProfiledConfig, account: Account, owner: Mapping[str, str]) -> dict[str, Seconds]:
    """Return the share of each profiled run that a group's nodes take."""
    sources = {row.node: row.sources for row in account.optimized}
    shares: dict[str, Seconds] = {}
    for run in profiled.nodes:
        owners = sorted(
            {name for key in sources.get(run.node, ()) if (name := _owner(key, owner)) is not None}
        )
        for name in owners or [REST]:
            part = np.asarray(run.shares) / max(1, len(owners))
            shares[name] = shares[name] + part if name in shares else part
    return shares


def _owner(source: str, owner: Mapping[str, str]) -> str | None:
    """Return the group of a node; pre-processing renames what it fuses: "fc" to "fc/MatMulAddFusion"."""
    if source in owner:
        return owner[source]
    return next((name for node, name in owner.items() if node.startswith(f"{source}/")), None)


Latency = Literal["profile", "measured"]


@finding_inputs
def layer_errors(
    model: Model | Any,
    config: Config,
    *,
    data: Any = None,
    calibration: Any = None,
    items: int = LAYER_ITEMS,
    seed: int = 0,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
) -> LayerErrors:
    """Find where a quantized model errs: the error of every tensor, weight and layer, in decibels.

    Both models run on `items` examples of `data` (as for `wb.accuracy`; no labels are needed) with all of
    their tensors as outputs, compared as the next node reads them where the model has Q and DQ nodes.
    """
    _check_items(items)
    loaded = sized_as(load(model), data)
    data = data_from(loaded, data, items)
    with bar(progress) as on_progress:
        record = debug(
            loaded, config, data=data, calibration=calibration, items=items, seed=seed, limits=worker_limits,
            cancel=cancel, on_progress=on_progress,
        )  # fmt: skip
    return LayerErrors(record, origin_of(loaded, config, cancel=cancel))


@finding_inputs
def sensitivity(
    model: Model | Any,
    config: Config,
    *,
    mode: Mode = "alone",
    by: By = "auto",
    latency: Latency | None = "profile",
    data: Any = None,
    calibration: Any = None,
    items: int = studying.ITEMS,
    seed: int = 0,
    budget_s: float | None = None,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
) -> Sensitivity:
    """Quantize each layer alone (or leave it out alone): its error, and the time that quantizing it saves.

    With `wb.Float16()`, the nodes of one type of operator stand for a layer.
    `by`: each layer, or blocks of them where there are many. `latency`: "profile" estimates the time from
    profiles of the float and the quantized model; "measured" compares the quantized model with one variant a
    layer, interleaved, which takes its time; None leaves it out.
    """
    _check_items(items)
    if budget_s is not None:
        check_number("budget_s", budget_s, "give seconds above 0, like 10.0, or None")
    loaded = sized_as(load(model), data)
    data = data_from(loaded, data, items)
    with bar(progress) as on_progress:
        variants = studying.layer_variants(
            loaded, config, by=by, data=data, calibration=calibration, items=items, seed=seed,
            limits=worker_limits, cancel=cancel, on_progress=on_progress,
        )  # fmt: skip
        gains: Mapping[str, Estimate] = {}
        if latency == "profile":
            gains = _gains_of_profiles(variants)
        record = studying.sensitivity(variants, mode, gains, HOW)
    if latency == "measured":
        record = _with_measured(record, variants, budget_s, progress, seed)
    result = Sensitivity(record, origin_of(loaded, config, cancel=cancel))
    return result.with_model(variants, progress is True)


def exclude_for(
    model: Model | Any,
    config: Config,
    *,
    max_error: float,
    by: By = "auto",
    data: Any = None,
    calibration: Any = None,
    items: int = studying.ITEMS,
    remeasure: bool = True,
    seed: int = 0,
    budget_s: float | None = None,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
) -> Proposal:
    """Choose layers to leave in float so that the outputs' error is at most `max_error` (0.01 is 1 %)."""
    check_budget(max_error)
    study = sensitivity(
        model, config, mode=studying.searching_mode(config), by=by, data=data, calibration=calibration,
        items=items, seed=seed, progress=progress, cancel=cancel, worker_limits=worker_limits,
    )  # fmt: skip
    return study.propose(max_error=max_error, remeasure=remeasure, budget_s=budget_s, progress=progress)


def _check_items(items: object) -> None:
    check_number("items", items, f"give a whole number of examples, like {LAYER_ITEMS}", least=1, whole=True)


def _gains_of_profiles(variants: studying.LayerVariants) -> dict[str, Estimate]:
    feeds = variants.data.feeds[:1]
    plain = variants.config.replace(precision=None, saved_graph=None)
    sides = []
    for config in (plain, variants.config):
        side = profile_config(
            variants.model, config, feeds,
            calibration=variants.calibration, cancel=variants.cancel, limits=variants.limits,
        )  # fmt: skip
        explained = explanation.explain(
            variants.model, config, calibration=variants.calibration, cancel=variants.cancel
        )
        sides.append((side, explained.provenance.account))
    return gains(variants.groups, sides[0], sides[1])


def _with_measured(
    record: SensitivityRecord,
    variants: studying.LayerVariants,
    budget_s: float | None,
    progress: ShowProgress,
    seed: int,
) -> SensitivityRecord:
    """Measure each group left out against all quantized; the longer time is what quantizing it saves."""
    left_out = [variants.variant(group, "left out") for group in variants.groups]
    comparison = KINDS.named("comparison").function(
        variants.model, variants.config, *left_out, calibration=variants.calibration, budget_s=budget_s,
        progress=progress, seed=seed, cancel=variants.cancel, worker_limits=variants.limits,
        keep=False,
    )  # fmt: skip
    whole_s = comparison.runs[0].latency.median_s
    rows = []
    for row, verdict in zip(record.rows, comparison.verdicts, strict=True):
        gain: dict[str, Any] = studying.measured_gain(verdict, whole_s).cells("gain", "_s")
        rows.append(replace(row, **gain))
    return replace(record, rows=tuple(rows), latency_how=studying.MEASURED)
