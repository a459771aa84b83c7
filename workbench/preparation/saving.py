"""The steps that fix a file for its target machine: fixed dimensions, and the pre-optimized graph."""

from __future__ import annotations

from typing import Any

from workbench.config import Config
from workbench.errors import PrepareError
from workbench.models.model import Model
from workbench.preparation.step import MODEL, ORT_MODEL, Answer, Step, Summary
from workbench.text import in_gib

MOST_ORT_BYTES = 2**31 - 2**20
_EXPLANATIONS = {
    "compiled nodes": (
        "a provider compiles parts of the graph, and ORT cannot save those",
        "leave saved_graph out; such providers have a cache of their own (EPContext, engine cache)",
    )
}


def fixed_dimensions(config: Config) -> Step:
    """Return the step that fixes dimensions in the file, for all later steps."""
    sizes = dict(config.free_dimensions)

    def summarize(_answer: Answer) -> Summary:
        return ", ".join(f"{name} is {size}" for name, size in sizes.items()), ()

    return Step("fixed dimensions", "preparing.dims", lambda _: {"sizes": sizes}, summarize)


def saved_graph(config: Config) -> Step:
    """Return the step that saves the graph as ORT optimizes it at load."""
    plan = config.runtime_only.plan().to_dict()

    def arguments(model: Model) -> dict[str, Any]:
        size = model.file_bytes
        if config.saved_graph == "ort" and size > MOST_ORT_BYTES:
            raise PrepareError(
                f"ORT's own format is one file of at most 2 GiB, and this model has {in_gib(size)}",
                "save it with saved_graph='onnx', which keeps the weights beside the graph",
            )
        return {"plan": plan}

    def summarize(answer: Answer) -> Summary:
        asked = [name for name, _ in plan["providers"]]
        lost = [name for name in asked if name not in answer["providers"]]
        if lost:
            raise PrepareError(
                f"{', '.join(lost)} is not in effect on this machine, so the graph would be made for another",
                "see wb.doctor() for what is missing, or leave saved_graph out",
            )
        form = "ORT's own format" if config.saved_graph == "ort" else "ONNX"
        notes = ("the saved graph holds layouts for this kind of processor: save it anew for another",)
        return f"saved in {form} as optimized at level {config.level or 'all'}, and loaded without it", notes

    return Step(
        "saved graph",
        "preparing.saving",
        arguments,
        summarize,
        _EXPLANATIONS,
        product=ORT_MODEL if config.saved_graph == "ort" else MODEL,
        python=config.interpreter,
    )
