"""What ORT did differently to two configs of a model, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.text import counted, shorten
from workbench.features.explain.explanation import Explained

_MOST_PASSES = 1  # named in the sentence


def why_in_words(label: str, before: Explained, after: Explained) -> str:
    """Return the difference in nodes and passes; `label` is that of the second config."""
    fired, others = after.passes.names, before.passes.names
    own = [name for name in fired if name not in others]
    missing = [name for name in others if name not in fired]
    count, base = (len(explained.optimized.nodes) for explained in (after, before))
    if count == base and not own and not missing:
        return f"ONNX Runtime made the same {counted(count, 'node')} of both: they differ in how they run"
    parts = [f"{label} runs {counted(count, 'node')} where A runs {base:,}"]
    if own:
        parts.append(f"{_named(own)} changed the graph of {label} alone")
    if missing:
        parts.append(f"{_named(missing)} changed that of A alone")
    return "; ".join(parts)


def _named(passes: Sequence[str]) -> str:
    more = len(passes) - _MOST_PASSES
    named = ", ".join(map(shorten, passes[:_MOST_PASSES]))
    return f"{named} and {counted(more, 'other pass', 'other passes')}" if more > 0 else named
