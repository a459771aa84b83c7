"""What the panels hold as Python text: running it gives the same configs and asks the same question."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from workbench.config import Config
from workbench.config.knobs import BY_FIELD
from workbench.config.literals import call, literal, text_literal


def config_code(config: Config) -> str:
    """`wb.Config(…)` with what was set."""
    return call("wb.Config", {name: BY_FIELD[name].code(value) for name, value in config.changed().items()})


def question_code(
    source: Any,
    a: Config,
    b: Config,
    *,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    given: str = "",
    asked: Mapping[str, Any] | None = None,
) -> str:
    """From the model to the result."""
    lines = [f"model = wb.load({source_code(source)})", f"a = {config_code(a)}", f"b = {config_code(b)}", ""]
    extra = [f"{key}={literal(value)}" for key, value in (asked or {}).items() if value is not None]
    if given or dims or seed:
        made = text_literal(given) if given else f"model.inputs({inputs_code(seed, dims or {})})"
        lines.append(f"inputs = {made}")
        extra.insert(0, "inputs=inputs")
    tail = "".join(f", {one}" for one in extra)
    return "\n".join(
        ["import workbench as wb", "", *lines, f"result = wb.compare(model, a, b{tail})", "result"]
    )


MAKING = {  # the code that puts a further result beside `result`, by kind; all others are examined
    "accuracy": "result.accuracy()",
    "levels": "result.add(wb.levels(model, {config}{inputs}), {label})",
    "ablation": "result.add(wb.ablate(model, {config}{inputs}), {label})",
    "thread scaling": "result.add(wb.threads(model, {config}{inputs}), {label})",
    "memory settings": "result.add(wb.memory_settings(model, {config}{inputs}), {label})",
    "why slower": "result.add(wb.why_slower(result), {label})",
    "layer errors": "result.add(wb.layer_errors(model, {config}), {label})",
    "sensitivity": "result.add(wb.sensitivity(model, {config}), {label})",
}


def making_code(question: str, of: str, expression: str) -> str:
    """Compare, make the part called `of`, and show it."""
    kind, _, label = of.partition("/")
    inputs = ", inputs=inputs" if "\ninputs = " in question else ""
    told = MAKING.get(kind, "result.examine({kind})").format(
        kind=text_literal(kind), config=label.lower(), label=text_literal(label), inputs=inputs
    )
    return "\n".join([question.removesuffix("\nresult"), *([told] if of else []), expression])


def inputs_code(seed: int, dims: Mapping[str, int]) -> str:
    """The arguments of `model.inputs`; names of dimensions need not be names of Python."""
    return ", ".join([f"seed={seed}", *([f"**{literal(dict(dims))}"] if dims else [])])


def source_code(source: Any) -> str:
    """What `wb.load` was given, or where the same file is."""
    if isinstance(source, str):
        return text_literal(source)
    if isinstance(source, os.PathLike):
        return text_literal(os.fspath(source))
    return text_literal(str(source.path)) if hasattr(source, "path") else '"your-model.onnx"'
