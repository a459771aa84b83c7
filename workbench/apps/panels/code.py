"""The panels as Python text: running it gives the same configs and the same results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workbench.apps.panels.request import InputsPreview, Request, Subject
from workbench.core.config import Config
from workbench.core.config.fields import BY_FIELD
from workbench.core.config.literals import call, literal, text_literal
from workbench.core.feature import Feature
from workbench.core.form import Source, source_of
from workbench.features.base.registry import KINDS

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison


def config_code(config: Config) -> str:
    """Return `wb.Config(…)` with the fields that are set."""
    return call("wb.Config", {name: BY_FIELD[name].code(value) for name, value in config.changed().items()})


def compare_code(request: Request) -> str:
    """Return the code from the model to the comparison."""
    subject, inputs = request.subject, inputs_lines(request.subject)
    configs = {label.lower(): config for label, config in subject.columns.items()}
    lines = [model_line(subject), *(f"{name} = {config_code(config)}" for name, config in configs.items())]
    options = given(inputs=Source("inputs") if inputs else None, **request.compare_options())
    made = f"result = wb.compare(model, {', '.join(configs)}{options})"
    return "\n".join(["import workbench as wb", "", *lines, "", *inputs, made, "result"])


def script(request: Request, label: str, preview: InputsPreview | None) -> str:
    """Return the plain script of a config, which times the measured inputs, else those that are set."""
    compared, subject = request.comparison, request.subject
    inputs = preview if compared is None else compared.record.inputs
    has_inputs = inputs is not None and inputs.shapes
    return subject.columns[label].to_python(
        subject.model or "model.onnx", inputs=inputs if has_inputs else None
    )


def part_of_new_code(request: Request, part: str, expression: str) -> str:
    """Return the code that compares, makes the part of this name, if any, and ends in the expression."""
    compared, lines = compare_code(request), []
    if part:
        name, _, label = part.partition("/")
        kind = KINDS.named(name)
        configs = [name.lower() for name in ([label] if label else request.subject.configs)]
        lines = [kind.making_code(configs, text_literal(label), options_of(kind, request))]
    return "\n".join([compared.removesuffix("\nresult"), *lines, expression])


def kind_code(kind: Feature, request: Request) -> str:
    """Return the code that makes a result of a kind, without a comparison unless it is about one."""
    subject = request.subject
    if "comparison" in kind.needs:
        return "\n".join([compare_code(request).removesuffix("\nresult"), f"wb.{kind.public_name}(result)"])
    shown = {request.shown.lower(): request.shown_config[1]}
    every = {label.lower(): config for label, config in subject.configs.items()
             if config.precision is not None or "precision" not in kind.needs}  # fmt: skip
    configs = {"config": shown, "baseline": {"a": subject.a}}.get(kind.per, every)
    lines = [model_line(subject), *(f"{name} = {config_code(config)}" for name, config in configs.items())]
    options = options_of(kind, request)
    if any(isinstance(options.get(name), Source) for name in ("inputs", "data")):
        lines += inputs_lines(subject)
    ends = [f"result = {kind.call_code(list(configs), options)}", "result"]
    if kind.per == "run" and len(configs) > 1:
        calls = (f"{text_literal(name.upper())}: {kind.call_code([name], options)}" for name in configs)
        ends = [f"results = {{{', '.join(calls)}}}", f"results[{text_literal([*configs][-1].upper())}]"]
    return "\n".join(["import workbench as wb", "", *lines, "", *ends])


def made_code(kind: Feature, request: Request, labels: Sequence[str]) -> str:
    """Return the code that makes results of a kind as they were made: beside a comparison, or alone."""
    if request.comparison is None:
        return kind_code(kind, request)
    options, of_runs = options_of(kind, request), kind.per == "runs"
    groups = [[*request.subject.configs]] if of_runs or kind.examine else [[label] for label in labels]
    lines = (
        kind.making_code([label.lower() for label in group], text_literal(group[0]), options)
        for group in groups
    )
    name = text_literal(kind.name) if of_runs else f"{text_literal(kind.name)}, {text_literal(labels[-1])}"
    compared = request.comparison_code or compare_code(request)
    return "\n".join([compared.removesuffix("\nresult"), *lines, f"result.made({name})"])


def notebook_cells(codes: Iterable[str]) -> Iterator[str]:
    """Yield the cells of these codes; what continues the comparison of the cells above it begins there."""
    made = ""  # the code of the comparison that the name `result` holds
    for code in codes:
        goes_on = bool(made) and code.startswith(f"{made}\n")
        yield code.removeprefix(made).lstrip("\n") if goes_on else code
        compares = "\nresult = wb.compare(" in code or ".measure_more(" in code
        if compares and code.endswith("\nresult"):
            made = code.removesuffix("\nresult")
        elif not goes_on:
            made = ""


def options_of(kind: Feature, request: Request) -> dict[str, Any]:
    """Return the keywords of a kind's function; inputs that are not the default by their name."""
    name = argument_of_inputs(kind, request)
    has_inputs = name is not None and inputs_lines(request.subject)
    return {**request.options(kind), **({name: Source("inputs")} if name is not None and has_inputs else {})}


def argument_of_inputs(kind: Feature, request: Request) -> str | None:
    """Return the argument of a kind's function that takes the panels' inputs; a file goes there as it is."""
    if "inputs" in kind.takes:
        return "inputs"
    subject = request.subject
    if "data" not in kind.takes or not subject.dims or subject.data:
        return None
    from workbench.core.models.examples import trained_sample  # loads slowly

    return "data" if trained_sample(subject.model) is None else None


def reopening_code(result: Comparison, expression: str = "result") -> str:
    """Return the code that opens a result from the history and ends in an expression about it."""
    opened = f"result = wb.history().open({text_literal(result.record.id)})"
    return f"import workbench as wb\n\n{opened}\n{expression}"


def opening_code(result: Comparison) -> str:
    """Return the code that opens a result that was made elsewhere, with the configs that it compares."""
    configs = [f"{run.label.lower()} = {config_code(run.config)}" for run in result.runs]
    return reopening_code(result, "\n".join([*configs, "result"]))


def more_code(code: str, attached: Subject | None, budget_s: float) -> str:
    """Return the code of a comparison, continued; `attached` has the model of a reopened one."""
    model = ""
    if attached is not None:
        data = f", calibration={text_literal(attached.calibration)}" if attached.calibration else ""
        model = f".attach({model_line(attached).removeprefix('model = ')}{data})"
    return f"{code.removesuffix('result')}result = result{model}.measure_more(budget_s={budget_s:g})\nresult"


def given(**options: Any) -> str:
    """Return the keywords that are not None, to stand behind the first argument of a call."""
    return "".join(f", {name}={source_of(value)}" for name, value in options.items() if value is not None)


def model_line(subject: Subject) -> str:
    """Return the line that opens the model."""
    return f"model = wb.load({source_code(subject.source if subject.source is not None else subject.model)})"


def inputs_lines(subject: Subject) -> list[str]:
    """Return the line that makes the inputs; none where they are the default ones."""
    if subject.data:
        return [f"inputs = {text_literal(subject.data)}"]
    if not subject.dims:
        return [f"inputs = model.inputs(seed={subject.seed})"] if subject.seed else []
    dims = literal(dict(subject.dims))  # names of dimensions need not be names of Python
    return [f"inputs = model.inputs(seed={subject.seed}, dims={dims})"]


def source_code(source: Any) -> str:
    """Return the argument of `wb.load`: what it was given, or where the same file is."""
    if isinstance(source, str | os.PathLike):
        return text_literal(os.fspath(source))
    return text_literal(str(source.path)) if hasattr(source, "path") else '"your-model.onnx"'
