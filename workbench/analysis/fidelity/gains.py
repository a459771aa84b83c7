"""How much time quantizing a layer saves, from profiles of the float and the quantized model: an estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.analysis.fidelity.layer_groups import REST, LayerGroup
from workbench.analysis.fidelity.sensitivity import Gain
from workbench.analysis.provenance import Account
from workbench.analysis.slower.profiled_config import ProfiledConfig

HOW = "estimated from profiles"


def gains(
    found: Sequence[LayerGroup],
    float_profile: tuple[ProfiledConfig, Account],
    quantized: tuple[ProfiledConfig, Account],
) -> dict[str, Gain]:
    """Time of the executed nodes that compute a candidate's nodes, before minus after.

    A node that computes layers of several candidates counts for each in equal parts; what computes none of
    them, the Q and DQ nodes too, counts for all other operators together.
    """
    owner = {name: one.name for one in found if one.name != REST for name in one.nodes}
    before, after = (_times(side, account, owner) for side, account in (float_profile, quantized))
    return {one.name: Gain(before.get(one.name, 0.0) - after.get(one.name, 0.0)) for one in found}


def _times(side: ProfiledConfig, account: Account, owner: Mapping[str, str]) -> dict[str, float]:
    sources = {one.node: one.sources for one in account.optimized}
    found: dict[str, float] = {}
    for ran in side.nodes:
        owners = sorted(
            {name for key in sources.get(ran.node, ()) if (name := _owner(key, owner)) is not None}
        )
        for name in owners or [REST]:
            found[name] = found.get(name, 0.0) + ran.time_s / max(1, len(owners))
    return found


def _owner(source: str, owner: Mapping[str, str]) -> str | None:
    """Pre-processing renames what it fuses: "fc" to "fc/MatMulAddFusion"."""
    if source in owner:
        return owner[source]
    return next((name for node, name in owner.items() if node.startswith(f"{source}/")), None)
