"""The step of model rewrites."""

from __future__ import annotations

from workbench.preparation.step import Answer, Step, Summary


def rewritten(names: tuple[str, ...]) -> Step:
    """Return the step; rewrites without a match leave the file unchanged."""

    def summarize(answer: Answer) -> Summary:
        applied = answer["applied"]
        counts = [f"{name} {_times(applied[name])}" for name in names]
        nowhere = "no rewrite applies to this model: the file computes what it did"
        return ", ".join(counts), () if any(applied.values()) else (nowhere,)

    return Step("model rewrites", "preparing.rewrite", lambda _: {"names": [*names]}, summarize)


def _times(count: int) -> str:
    if not count:
        return "applies nowhere"
    return f"applied {count:,} time{'s' * (count > 1)}"
