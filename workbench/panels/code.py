"""What the panels hold as Python text: running it gives the same configs and asks the same question."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from workbench.config import Config, Provider
from workbench.config.parts import Part

MOST_COLUMNS = 96  # of a line, before a call is broken into one argument a line
PAIRS = ("free_dimensions", "session_entries", "run_entries", "options")


def config_code(config: Config) -> str:
    """`wb.Config(…)` with what was set."""
    return call("wb.Config", {name: literal(value, name) for name, value in config.changed().items()})


def literal(value: Any, field: str = "") -> str:
    """A value of a config as an expression. Every text is written as a literal, so none can become code."""
    if isinstance(value, Provider):
        options = f", {literal(dict(value.options))}" if value.options else ""
        return f"wb.Provider({literal(value.short_name)}{options})" if options else literal(value.short_name)
    if isinstance(value, Part):
        return call(f"wb.{type(value).__name__}", {k: literal(v, k) for k, v in value.changed().items()})
    if isinstance(value, tuple) and field in PAIRS:
        return literal(dict(value))
    if isinstance(value, tuple):
        return f"[{', '.join(literal(item) for item in value)}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(key)}: {literal(one)}" for key, one in value.items()) + "}"
    return quoted(value) if isinstance(value, str) else repr(value)


def quoted(text: str) -> str:
    """A text in double quotes, where that is the same text."""
    shown = repr(text)
    return f'"{text}"' if shown == f"'{text}'" and '"' not in text else shown


def call(name: str, arguments: Mapping[str, str]) -> str:
    """A call with keywords, in one line where that is short enough."""
    flat = f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"
    if len(flat) <= MOST_COLUMNS and "\n" not in flat:
        return flat
    rows = "".join(
        f"    {key}={value.replace(chr(10), chr(10) + '    ')},\n" for key, value in arguments.items()
    )
    return f"{name}(\n{rows})"


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
        made = quoted(given) if given else f"model.inputs({inputs_code(seed, dims or {})})"
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
        kind=quoted(kind), config=label.lower(), label=quoted(label), inputs=inputs
    )
    return "\n".join([question.removesuffix("\nresult"), *([told] if of else []), expression])


def inputs_code(seed: int, dims: Mapping[str, int]) -> str:
    """The arguments of `model.inputs`; names of dimensions need not be names of Python."""
    return ", ".join([f"seed={seed}", *([f"**{literal(dict(dims))}"] if dims else [])])


def source_code(source: Any) -> str:
    """What `wb.load` was given, or where the same file is."""
    if isinstance(source, str):
        return quoted(source)
    if isinstance(source, os.PathLike):
        return quoted(os.fspath(source))
    return quoted(str(source.path)) if hasattr(source, "path") else '"your-model.onnx"'
