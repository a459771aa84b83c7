"""Whether an execution provider works here, and what it takes where it does not."""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from workbench.core.bundle.machine import Gpu, Machine
from workbench.core.config import Config, catalogue
from workbench.core.config.provider import CPU
from workbench.core.errors import RunFailed, StorageError, WorkerError
from workbench.core.text import counted
from workbench.core.worker import log
from workbench.core.worker.launch import call_job

AZURE = "AzureExecutionProvider"  # a remote service
NVIDIA = ("CUDAExecutionProvider", "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider")
AMD = ("amd", "radeon", "instinct")
GPU_EXTRA = 'pip install "ort-workbench[gpu]"'
PROBE_TIMEOUT_S = 120.0  # a first CUDA context or TensorRT library takes tens of seconds from a cold disk
_MISSING = re.compile(  # Linux's loader, then ORT's own words on Windows
    r"([\w.+-]+\.so[\w.]*): cannot open shared object file|depends on \"([^\"]+)\" which is missing"
)
_SOURCE = re.compile(r"^\S+\.cc:\d+ .*?\[ONNXRuntimeError\] : \d+ : \w+ : ")
_FOLDERS = re.compile(
    r"(?<![\w:/])(?:[A-Za-z]:)?(?:[/\\][\w.+@ -]+)+[/\\](?=[\w.+-]+\.(?:so|dll|dylib|cc|h)\b)"
)
MOST_LIBRARIES = 2  # named in an error
_MOST_CHARACTERS = 600
State = Literal["works", "does not load", "fails", "crashes", "wrong result"]


@dataclass(frozen=True, slots=True)
class ProviderState:
    """One provider that this ORT was built with, tried on a model of one node."""

    name: str
    state: State
    words: str  # messages of ORT or of the loader; empty when it works
    missing: tuple[str, ...]  # libraries that the loader did not find
    fix: str  # empty when it works


def working_providers(
    machine: Machine, python: str = sys.executable, *, without: Container[str] = ()
) -> tuple[str, ...]:
    """Return the names of the providers that work here; those in `without` are not tried."""
    try:
        names = call_job("probe", {}, timeout_s=PROBE_TIMEOUT_S, python=python)["available"]
    except (WorkerError, RunFailed, StorageError):
        return ()
    others = [str(name) for name in names if name not in without]
    return tuple(name for name in others if try_provider(name, machine, python).state == "works")


def working_plugins(python: str = sys.executable) -> tuple[str, ...]:
    """Return the names of the providers that installed plugins offer here; a broken plugin offers none."""
    try:
        plugins = call_job("probe", {}, timeout_s=PROBE_TIMEOUT_S, python=python)["plugins"]
    except (WorkerError, RunFailed, StorageError):
        return ()
    names: dict[str, None] = {}
    for module, *_ in plugins:
        with suppress(WorkerError, RunFailed, StorageError):
            names |= dict.fromkeys(device.partition(":")[0] for device in plugin_devices(module, python))
    return tuple(names)


def plugin_devices(module: str, python: str = sys.executable) -> tuple[str, ...]:
    """Register an installed plugin in a process of its own, and return its devices: "cpu_ep: CPU of AMD"."""
    answer = call_job("probe", {"plugin": module}, timeout_s=PROBE_TIMEOUT_S, python=python)
    return tuple(map(str, answer["devices"]))


def try_provider(name: str, machine: Machine, python: str = sys.executable) -> ProviderState:
    """Try one provider on a model of one node, and read the loader's messages in its log."""
    logs: list[str] = []
    crash = ""
    state: State
    try:
        answer = call_job(
            "probe", {"provider": name}, timeout_s=PROBE_TIMEOUT_S, on_log=logs.append, python=python
        )
    except RunFailed as error:
        state, crash = "fails", error.problem
    except WorkerError as error:
        state, crash = "crashes", error.problem
    else:
        state = "works" if answer["correct"] else "wrong result"
        if name not in answer["in_effect"]:
            state = "does not load"
    if state == "works":
        return ProviderState(name, state, "", (), "")
    text = "".join(logs)
    missing = missing_libraries(text)
    return ProviderState(name, state, crash or loader_words(text), missing, remedy(name, missing, machine))


def missing_libraries(text: str) -> tuple[str, ...]:
    """Return the libraries that the loader did not find."""
    return tuple(dict.fromkeys(linux or windows for linux, windows in _MISSING.findall(text)))


def loader_words(text: str) -> str:
    """Return the errors and warnings of the log without folders: the names say what is missing."""
    logged = log.parse(text)
    lines = [line.message for line in logged if line.is_problem] or [line.message for line in logged]
    unique = list(dict.fromkeys(_SOURCE.sub("", _FOLDERS.sub("", line)).strip() for line in lines))
    words = "\n".join(line for line in unique if line)
    return words if len(words) <= _MOST_CHARACTERS else words[:_MOST_CHARACTERS] + "…"


def remedy(provider: str, missing: tuple[str, ...], machine: Machine) -> str:
    """Return how to make a provider work that this ORT was built with."""
    if provider not in NVIDIA:
        return "read the message; update the driver and ONNX Runtime together"
    if not has_nvidia(machine):
        return "no NVIDIA GPU or driver is visible here, so nothing that can be installed will help"
    if provider == "CUDAExecutionProvider":
        return f"{GPU_EXTRA} brings CUDA and cuDNN as wheels; the driver must be recent enough for them"
    library = next((name for name in missing if "nvinfer" in name), "libnvinfer")
    return (
        f"install TensorRT so that the loader finds {library} (its wheels put it into the folder "
        f"tensorrt_libs; add that folder to the library path), and CUDA with {GPU_EXTRA}"
    )


def has_nvidia(machine: Machine) -> bool:
    """Whether NVML names an NVIDIA GPU; a machine without its driver counts as having none."""
    return any(not is_of(gpu, *AMD, "intel") for gpu in machine.gpus)


def is_of(gpu: Gpu, *words: str) -> bool:
    """Return whether the name of a GPU has one of these words."""
    return any(word in gpu.name.lower() for word in words)


def asked_for(config: Config) -> tuple[str, ...]:
    """Return the providers beside the CPU that a config asks for."""
    names = () if config.device_policy else config.providers  # a policy may choose the CPU
    return tuple(provider.name for provider in names if provider.name != CPU)


def took_nodes(asked: Sequence[str], in_effect: Sequence[str], nodes_on: Mapping[str, int] | None) -> bool:
    """Return whether a node is on a provider that was asked for, as far as it is known."""
    loaded = [name for name in asked if name in in_effect]
    return bool(loaded) and (not nodes_on or any(nodes_on.get(name) for name in loaded))


def not_run(
    asked: Sequence[str],
    in_effect: Sequence[str],
    nodes_on: Mapping[str, int] | None,
    *,
    available: Container[str],
    log_text: str,
    machine: Machine,
    python: str,
) -> RunFailed:
    """Return the error of a config none of whose nodes is on a provider that it asks for."""
    names = " or ".join(map(short_name, asked))
    nodes = f"all {counted(sum(nodes_on.values()), 'node')}" if nodes_on else "every node"
    problem = f"did not run on {names}: nothing was measured, since {nodes} would have run on the CPU"
    missing = missing_libraries(log_text)
    if any(name in in_effect for name in asked):
        why, fix = f"{names} took none of them", "see which operators it takes: wb.explain(model, config)"
    elif not any(name in available for name in asked):
        why, fix = f"this ONNX Runtime was built without {names}", _where_it_comes_from(asked[0])
    else:
        words = loader_words(log_text).splitlines()
        why = _not_found(missing) if missing else words[0] if words else "ORT gave no reason"
        fix = remedy(asked[0], missing, machine)
    working = working_providers(machine, python, without=(*asked, CPU, AZURE))
    return RunFailed(
        f"{problem}; {why}",
        f"{fix}; providers that work here: {', '.join(map(short_name, (CPU, *working)))}",
    )


def short_name(provider: str) -> str:
    """Return the name of a provider as people say it, such as CUDA."""
    return provider.removesuffix("ExecutionProvider")


def _where_it_comes_from(name: str) -> str:
    cards = [card for card in catalogue().providers if card.name == name]
    wheel = f" ({cards[0].wheel.rstrip('.')})" if cards else ""
    return f"use an environment whose ONNX Runtime has it{wheel}: wb.Config(runtime=…)"


def _not_found(libraries: Sequence[str]) -> str:
    shown, more = libraries[:MOST_LIBRARIES], len(libraries) - MOST_LIBRARIES
    was = "was" if len(libraries) == 1 else "were"
    return f"{', '.join(shown)}{f' and {more} more' if more > 0 else ''} {was} not found"
