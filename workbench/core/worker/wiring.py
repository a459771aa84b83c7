"""What goes where between the stages of a pipeline. It imports nothing of ours: a deployment has a copy."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def places_of(
    inputs: Sequence[str], needed: Sequence[str], values: Collection[str], before: Sequence[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return where each input of a stage comes from, and which needed ones nothing gives.

    `values` are the names of all values so far, `before` those of the stage before. Its only output goes to
    the only needed input, and all others go by name.
    """
    if len(before) == 1 and len(needed) == 1 and before[0] not in inputs:
        rest = [name for name in inputs if name in values and name != needed[0]]
        return [(needed[0], before[0]), *((name, name) for name in rest)], []
    missing = [name for name in needed if name not in values]
    return [(name, name) for name in inputs if name in values], missing
