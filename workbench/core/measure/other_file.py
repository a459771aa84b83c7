"""A config whose model file is another one: its outputs in the names of the model, or not compared at all."""

from __future__ import annotations

from workbench.core.config import Precision, PreparedModel

TIMING_ONLY = "timing only, as asked for: outputs were not compared"


def is_other_net(precision: Precision | None) -> bool:
    """Return whether the user said that the file is of a different net."""
    return isinstance(precision, PreparedModel) and not precision.compare_outputs
