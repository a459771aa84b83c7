"""Estimate the time that quantizing a layer saves, from profiles of the float and the quantized model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from workbench.features.accuracy.intervals import MIN_ITEMS, RESAMPLES
from workbench.features.accuracy.layer_groups import REST, LayerGroup
from workbench.features.accuracy.sensitivity import LayerGain
from workbench.features.explain.provenance.account import Account
from workbench.features.profile.profiled_config import ProfiledConfig

HOW = "estimated from profiles"
Seconds: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


def gains(
    groups: Sequence[LayerGroup],
    float_profile: tuple[ProfiledConfig, Account],
    quantized_profile: tuple[ProfiledConfig, Account],
) -> dict[str, LayerGain]:
    """Return the time of the executed nodes that compute a group, before minus after, by the group's name.

    A node that computes layers of several groups counts for each in equal parts; a node that computes none of
    them, the Q and DQ nodes too, counts for all other operators together. Times are shares of profiled runs
    times the unprofiled latency, so that no group saves more than the model takes.
    """
    owner = {node: group.name for group in groups if group.name != REST for node in group.nodes}
    before, after = (
        _Estimate(profiled, _shares(profiled, account, owner))
        for profiled, account in (float_profile, quantized_profile)
    )
    return {group.name: _gain(before, after, group.name) for group in groups}


class _Estimate:
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


def _gain(before: _Estimate, after: _Estimate, group: str) -> LayerGain:
    value_s = before.seconds(group) - after.seconds(group)
    if min(before.runs, after.runs) < MIN_ITEMS:
        return LayerGain(value_s)
    low_s, high_s = np.percentile(before.resampled(group) - after.resampled(group), (2.5, 97.5))
    return LayerGain(value_s, min(value_s, float(low_s)), max(value_s, float(high_s)))


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
