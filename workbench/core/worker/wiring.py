"""What goes where between the stages of a pipeline. It imports nothing of ours: a deployment has a copy."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def places_of(
    inputs: Sequence[str], needed: Sequence[str], values: Collection[str], before: Sequence[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return where each input of a stage comes from, and which needed ones nothing gives.

    `values` are the names of all values so far, `before` those of the stage before. Its only output goes to
    the only needed input, or to the only one that nothing gives by name, and all others go by name.
    """
    missing = [name for name in needed if name not in values]
    open_to_it = needed if len(needed) == 1 else missing
    if len(before) == 1 and len(open_to_it) == 1 and before[0] not in inputs:
        (taker,) = open_to_it
        rest = [name for name in inputs if name in values and name != taker]
        return [(taker, before[0]), *((name, name) for name in rest)], []
    return [(name, name) for name in inputs if name in values], missing
