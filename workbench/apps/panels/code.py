"""The panels as Python text: running it gives the same configs and the same results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import workbench as wb
from workbench.apps.panels.request import InputsPreview, Request, Subject
from workbench.core.config import Config
from workbench.core.config.fields import BY_FIELD
from workbench.core.config.literals import call, literal, text_literal
from workbench.core.feature import Feature
from workbench.core.form import Source, call_source
from workbench.features.base.registry import KINDS

INPUTS = Source("inputs")  # the variable that holds inputs which are not the default ones


def config_code(config: Config) -> str:
    """Return `wb.Config(…)` with the fields that are set."""
    return call("wb.Config", {name: BY_FIELD[name].code(value) for name, value in config.changed().items()})


def program(subject: Subject, configs: Mapping[str, Config], options: Mapping[str, Any], *lines: str) -> str:
    """Return code that opens the model, names the configs and what the options take, and goes on."""
    named = [f"{name} = {config_code(config)}" for name, config in configs.items()]
    if any(value is INPUTS for value in options.values()):
        named.append(f"inputs = {inputs_source(subject)}")
    return "\n".join(["import workbench as wb", "", f"model = {load_call(subject)}", *named, "", *lines])


def continued(code: str, *lines: str) -> str:
    """Return code that makes a `result`, continued with these lines."""
    return "\n".join([code.removesuffix("\nresult"), *lines])


def compare_code(request: Request) -> str:
    """Return the code from the model to the comparison."""
    configs = {label.lower(): config for label, config in request.subject.configs.items()}
    options = {**inputs_option(request.subject), **request.compare_options()}
    compared = call_source("wb.compare", map(Source, ("model", *configs)), options)
    return program(request.subject, configs, options, f"result = {compared}", "result")


def script(request: Request, label: str, preview: InputsPreview | None) -> str:
    """Return the plain script of a config, which times the measured inputs, else those that are set."""
    compared, subject = request.comparison, request.subject
    inputs = preview if compared is None else compared.record.inputs
    shaped = inputs if inputs is not None and inputs.shapes else None
    return subject.configs[label].to_python(subject.model or "model.onnx", inputs=shaped)


def part_of_new_code(request: Request, part: str, expression: str) -> str:
    """Return the code that compares, makes the part of this name, if any, and ends in the expression."""
    name, _, label = part.partition("/")
    lines = making_lines(KINDS.named(name), request, [label]) if part else []
    return continued(compare_code(request), *lines, expression)


def kind_code(kind: Feature, request: Request) -> str:
    """Return the code that makes a result of a kind, without a comparison unless it is about one."""
    if "comparison" in kind.needs:
        return continued(compare_code(request), f"wb.{kind.public_name}(result)")
    made = request.configs_of(kind) or dict([request.shown_config])
    configs, options = {label.lower(): config for label, config in made.items()}, options_of(kind, request)
    ends = [f"result = {kind.call_code(list(configs), options)}", "result"]
    if kind.per == "run" and len(configs) > 1:
        calls = (f"{text_literal(label)}: {kind.call_code([label.lower()], options)}" for label in made)
        ends = [f"results = {{{', '.join(calls)}}}", f"results[{text_literal([*made][-1])}]"]
    return program(request.subject, configs, options, *ends)


def made_code(kind: Feature, request: Request, labels: Sequence[str]) -> str:
    """Return the code that makes results of a kind as they were made: beside a comparison, or alone."""
    if request.comparison is None:
        return kind_code(kind, request)
    name = text_literal(kind.name)
    if kind.per != "runs":
        name = f"{name}, {text_literal(labels[-1])}"
    compared = request.comparison_code or compare_code(request)
    return continued(compared, *making_lines(kind, request, labels), f"result.made({name})")


def making_lines(kind: Feature, request: Request, labels: Sequence[str]) -> list[str]:
    """Return the lines that add results of a kind to a comparison: one for all configs, or for each label."""
    of_all = kind.per == "runs" or kind.examine is not None
    groups = [[*request.subject.distinct]] if of_all else [[label] for label in labels]
    options = options_of(kind, request)
    return [kind.making_code([label.lower() for label in group], text_literal(group[0]), options)
            for group in groups]  # fmt: skip


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
    return request.options(kind, **({} if name is None else inputs_option(request.subject, name)))


def argument_of_inputs(kind: Feature, request: Request) -> str | None:
    """Return the argument of a kind's function that takes the panels' inputs; a file goes there as it is."""
    if "inputs" in kind.takes:
        return "inputs"
    subject = request.subject
    if "data" not in kind.takes or not subject.dims or subject.data:
        return None
    from workbench.core.models.samples import trained_sample

    return "data" if trained_sample(subject.model) is None else None


def reopening_code(result: wb.Comparison, *lines: str) -> str:
    """Return the code that opens a result from the history and goes on with these lines."""
    source = result.source or f"wb.history().open({text_literal(result.record.id)})"
    return "\n".join(["import workbench as wb", "", f"result = {source}", *lines])


def opening_code(result: wb.Comparison) -> str:
    """Return the code that opens a result that was made elsewhere, with the configs that it compares."""
    configs = (f"{run.label.lower()} = {config_code(run.config)}" for run in result.runs)
    return reopening_code(result, *configs, "result")


def more_code(code: str, attached: Subject | None, budget_s: float) -> str:
    """Return the code of a comparison, continued; `attached` has the model of a reopened one."""
    model = ""
    if attached is not None:
        data = f", calibration={text_literal(attached.calibration)}" if attached.calibration else ""
        model = f".attach({load_call(attached)}{data})"
    return continued(code, f"result = result{model}.measure_more(budget_s={budget_s:g})", "result")


def load_call(subject: Subject) -> str:
    """Return the call that opens the model: what was opened, or where the same file is."""
    source = subject.model if subject.source is None else subject.source
    path = getattr(source, "path", source)
    is_file = isinstance(path, str | os.PathLike)
    return f"wb.load({text_literal(os.fspath(path) if is_file else 'your-model.onnx')})"


def inputs_option(subject: Subject, name: str = "inputs") -> dict[str, Any]:
    """Return the argument that takes the inputs; none where they are the default ones."""
    return {} if inputs_source(subject) is None else {name: INPUTS}


def inputs_source(subject: Subject) -> Source | None:
    """Return the expression that makes the inputs; None where they are the default ones."""
    if subject.data:
        return Source(text_literal(subject.data))
    if not subject.dims:
        return Source(f"model.inputs(seed={subject.seed})") if subject.seed else None
    dims = literal(dict(subject.dims))  # names of dimensions need not be names of Python
    return Source(f"model.inputs(seed={subject.seed}, dims={dims})")
