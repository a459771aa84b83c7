"""A config whose model file is another one: its outputs in the names of the model, or not compared at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core.config import Precision, PreparedModel

TIMING_ONLY = "timing only, as asked for: outputs were not compared"


def is_other_net(precision: Precision | None) -> bool:
    """Return whether the user said that the file is of a different net."""
    return isinstance(precision, PreparedModel) and not precision.compare_outputs


def in_names_of_model(
    outputs: Sequence[Mapping[str, Any]], precision: Precision | None
) -> Sequence[Mapping[str, Any]]:
    """Return the outputs of a file under the names that the model has for them."""
    if not isinstance(precision, PreparedModel) or not precision.renamed_outputs:
        return outputs
    names = {theirs: ours for ours, theirs in precision.renamed_outputs}
    return [{names.get(name, name): value for name, value in feed.items()} for feed in outputs]
