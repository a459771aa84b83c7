"""The step to 16-bit floats."""

from __future__ import annotations

from typing import Any

from workbench.core.config import Config, Float16
from workbench.core.errors import PrepareError
from workbench.core.models.element_type import ElementType
from workbench.core.models.model import Model
from workbench.core.models.operators import count_operators
from workbench.core.prepare.nodes import appeared, in_words
from workbench.core.prepare.step import Answer, Step, Summary
from workbench.core.text import listed

_EXPLANATIONS = {
    r"Load model.*?(Type Error: .*)": (
        "ORT's converter left an operator with types that it does not take, so the file would not load: {}",
        "use another precision for this model: it has an operator that takes no 16-bit floats, and ORT "
        "cannot work out the types around it",
    ),
    "Graph is not a DAG": (
        "an output of the graph is one of its inputs or weights, which ORT's converter does not take",
        "export the model without that output, or leave precision out",
    ),
}


def half(asked: Float16, config: Config) -> Step:
    """Return the step."""
    on_cpu = all(provider.name == "CPUExecutionProvider" for provider in config.providers)

    def arguments(model: Model) -> dict[str, Any]:
        if not _has_float32(model):
            raise PrepareError(
                "the model has no float32 tensors to convert", "leave precision out for this model"
            )
        return {"keep_io": asked.keep_io, "blocked_ops": list(asked.blocked_ops)}

    def summarize(answer: Answer) -> Summary:
        casts = appeared(answer, ("Cast",))
        kept, notes = answer["kept"], list[str]()
        if kept:
            reads = "it reads" if len(kept) == 1 else "they read"
            notes.append(f"{listed(kept, 3)} in float32: {reads} weights above 65,504, where float16 ends")
        if answer["custom"]:
            notes.append(f"{listed(answer['custom'], 3)} in float32, as operators of libraries are written")
        if on_cpu:
            notes.append(
                "the CPU has few 16-bit kernels: ORT puts casts around the rest, which is rarely faster than "
                "float32"
            )
        return f"16-bit floats{f'; {in_words(casts)} more' if casts else ''}", tuple(notes)

    return Step(asked.LABEL, "preparing.half", arguments, summarize, _EXPLANATIONS, generation=7)


def _has_float32(model: Model) -> bool:
    """Return whether a weight or an input is float32, or a Constant may be."""
    graph = model.structure.graph
    types = {tensor.data_type for tensor in graph.initializer}
    types |= {value.type.tensor_type.elem_type for value in graph.input}
    return ElementType.FLOAT in types or "Constant" in count_operators(model.structure)
