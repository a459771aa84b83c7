"""The steps that a config requires, in order."""

from __future__ import annotations

from workbench.config import BFloat16, Config, DynamicInt8, Float16, StaticInt8, WeightOnly
from workbench.models.model import Model
from workbench.preparation import int8
from workbench.preparation.calibration import Spooled
from workbench.preparation.float16 import half
from workbench.preparation.saving import fixed_dimensions, saved_graph
from workbench.preparation.step import Answer, Step, Summary
from workbench.preparation.transformer_fusion import transformer_fusion
from workbench.text import counted


def steps_of(config: Config, original: Model, examples: Spooled | None) -> list[Step]:
    """Return the steps, none for a file that is loaded unchanged."""
    if not config.changes_model:
        return []
    steps = [rewritten(config.rewrites)] if config.rewrites else []
    if config.free_dimensions:
        steps.append(fixed_dimensions(config))
    if config.fusion is not None:
        steps.append(transformer_fusion(config.fusion, config))
    precision = config.arithmetic
    if isinstance(precision, DynamicInt8):
        steps += [int8.preprocessing(), int8.dynamic_int8(precision, original)]
    elif isinstance(precision, StaticInt8):
        assert examples is not None
        steps += [
            int8.preprocessing(),
            int8.calibration(precision, examples),
            int8.static_int8(precision, original),
        ]
    elif isinstance(precision, WeightOnly):
        steps += [int8.folding(), int8.weight_only(precision, original)]
    elif isinstance(precision, Float16 | BFloat16):
        steps.append(half(precision, config))
    if config.saved_graph is not None:
        steps.append(saved_graph(config))
    return steps


def rewritten(names: tuple[str, ...]) -> Step:
    """Return the step of model rewrites, which leaves the file unchanged where none applies."""

    def summarize(answer: Answer) -> Summary:
        applied = answer["applied"]
        counts = [f"{name} {_times(applied[name])}" for name in names]
        nowhere = "no rewrite applies to this model: the file computes what it did"
        return ", ".join(counts), () if any(applied.values()) else (nowhere,)

    return Step("model rewrites", "preparing.rewrite", lambda _: {"names": [*names]}, summarize)


def _times(count: int) -> str:
    return f"applied {counted(count, 'time')}" if count else "applies nowhere"
