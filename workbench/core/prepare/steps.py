"""The steps that a config requires, in order; those that rewrite, fix and save the graph itself."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbench.core.config import Config, DynamicInt8, Float16, StaticInt8, WeightOnly
from workbench.core.cpu import read_cpu
from workbench.core.errors import PrepareError
from workbench.core.models.fingerprint import read_sha256
from workbench.core.models.model import Model
from workbench.core.prepare import int8
from workbench.core.prepare.calibration import Spooled
from workbench.core.prepare.float16 import half
from workbench.core.prepare.step import MODEL, ORT_MODEL, Answer, Step, Summary
from workbench.core.prepare.transformer_fusion import transformer_fusion
from workbench.core.rewrites.catalogue import BY_NAME, rewrites_of
from workbench.core.text import counted, in_gib
from workbench.core.worker.gpus import read_gpus
from workbench.core.worker.launch import call_job
from workbench.core.worker.packages import versions_of

_DEVICES_S = 120.0  # a first CUDA context takes tens of seconds from a cold disk
MOST_ORT_BYTES = 2**31 - 2**20
MOST_GRAPH_BYTES = 2**30  # with the weights inside: protobuf ends at 2 GiB, and some tools fail earlier
_EXPLANATIONS = {
    "compiled nodes": (
        "a provider compiles parts of the graph, and ORT cannot save those",
        "give saved_graph='compiled', which keeps them in the file, or leave it out",
    )
}


def steps_of(config: Config, original: Model, examples: Spooled | None) -> list[Step]:
    """Return the steps, none for a file that is loaded unchanged."""
    if not config.changes_model:
        return []
    rewrites = rewrites_of(config.rewrites, original)
    steps = [rewritten(rewrites)] if rewrites else []
    if config.free_dimensions:
        steps.append(fixed_dimensions(config))
    if config.fusion is not None:
        steps.append(transformer_fusion(config.fusion, config))
    precision = config.arithmetic
    if isinstance(precision, DynamicInt8):
        steps += [int8.preprocessing(), int8.dynamic_int8(precision, original)]
    elif isinstance(precision, StaticInt8):
        assert examples is not None
        steps.append(int8.preprocessing())
        if int8.needs_opset(precision, original):
            steps.append(int8.per_channel_opset(examples))
        steps += [int8.calibration(precision, examples), int8.static_int8(precision, original)]
    elif isinstance(precision, WeightOnly):
        steps += [int8.folding(), int8.weight_only(precision, original)]
    elif isinstance(precision, Float16):
        steps.append(half(precision, config))
    if config.saved_graph is not None:
        steps.append(compiled_graph(config) if config.saved_graph == "compiled" else saved_graph(config))
    return steps


def rewritten(names: tuple[str, ...]) -> Step:
    """Return the step of model rewrites, which leaves the file unchanged where none applies."""

    def summarize(answer: Answer) -> Summary:
        applied = answer["applied"]
        counts = [f"{name} {_times(applied[name])}" for name in names]
        nowhere = "no rewrite applies to this model: the file computes what it did"
        return ", ".join(counts), () if any(applied.values()) else (nowhere,)

    packages = tuple(package for name in names if (package := BY_NAME[name].package))

    def arguments(_model: Model) -> dict[str, Any]:
        missing = [package for package in packages if find_spec(package) is None]
        if missing:
            raise PrepareError(
                f"the package {missing[0]} is not installed in this environment, and the rewrite runs it",
                f"pip install {' '.join(missing)}",
            )
        return {"names": [*names]}

    versions = tuple(f"{name} {version}" for name, version in versions_of(packages).items())
    names_of_packages = " or ".join(packages)
    blamed = (f"{names_of_packages} failed on this model: {{}}", f"leave {names_of_packages} out of rewrites")
    explanations = {"ORT refused during preparing.rewrite: (.+)": blamed} if packages else {}
    return Step("model rewrites", "preparing.rewrite", arguments, summarize, explanations,
                depends_on=versions, generation=6)  # fmt: skip


def _times(count: int) -> str:
    return f"applied {counted(count, 'time')}" if count else "applies nowhere"


def fixed_dimensions(config: Config) -> Step:
    """Return the step that fixes dimensions in the file, for all later steps."""
    sizes = dict(config.free_dimensions)

    def summarize(_answer: Answer) -> Summary:
        return ", ".join(f"{name} is {size}" for name, size in sizes.items()), ()

    return Step("fixed dimensions", "preparing.dims", lambda _: {"sizes": sizes}, summarize)


def compiled_graph(config: Config) -> Step:
    """Return the step that keeps what a provider compiles, for the devices here and their versions."""
    plan = config.runtime_only.plan().to_dict()

    def arguments(model: Model) -> dict[str, Any]:
        if model.file_bytes > MOST_ORT_BYTES:
            raise PrepareError(
                f"a compiled model is one file of at most 2 GiB, and this has {in_gib(model.file_bytes)}",
                "leave saved_graph out",
            )
        devices = call_job("probe", {"plan": plan}, timeout_s=_DEVICES_S, python=config.interpreter)[
            "devices"
        ]
        return {"plan": plan, "devices": devices}

    names = ", ".join(name for name, _ in plan["providers"] if name != "CPUExecutionProvider")
    keeps_nothing = (
        f"{names} compiled nothing of this model that a file keeps: ORT wrote no EPContext node",
        "leave saved_graph out; this provider, or its version, keeps nothing for the next start",
    )

    def summarize(answer: Answer) -> Summary:
        if not answer["compiled_parts"]:
            raise PrepareError(*keeps_nothing)
        if answer["problem"]:
            raise PrepareError(
                f"{names} cannot load the model that it compiled: {answer['problem']}",
                "leave saved_graph out, or try another version of the provider",
            )
        parts = counted(answer["compiled_parts"], "part")
        return f"{parts} compiled by {names}, and loaded without compiling", ()

    gpus = (f"{gpu.name}, driver {gpu.driver}" for gpu in read_gpus())  # ORT lists plugins' devices alone
    libraries = (read_sha256(Path(file)) for file in plan["plugins"].values() if Path(file).is_file())
    return Step(
        "compiled model",
        "preparing.compiling",
        arguments,
        summarize,
        {"NULL EPContext node": keeps_nothing},
        depends_on=(str(read_cpu().name), *gpus, *libraries),
        python=config.interpreter,
    )


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
        return {"plan": plan, "outside": bool(model.external) or model.graph_bytes > MOST_GRAPH_BYTES}

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
