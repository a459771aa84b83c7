"""Ask the ORT of this environment what it has, and try each of its providers in a process of its own."""

from __future__ import annotations

import re
import sys
from collections.abc import Container

from workbench.diagnosis.advice import remedy
from workbench.diagnosis.records import Device, ProviderState, State, Survey
from workbench.errors import RunFailed, StorageError, WorkerError
from workbench.records.machine import Machine
from workbench.worker import log
from workbench.worker.launch import call_job

TIMEOUT_S = 120.0  # a first CUDA context or TensorRT library takes tens of seconds from a cold disk
_MISSING = re.compile(  # Linux's loader, then ORT's own words on Windows
    r"([\w.+-]+\.so[\w.]*): cannot open shared object file|depends on \"([^\"]+)\" which is missing"
)
_SOURCE = re.compile(r"^\S+\.cc:\d+ .*?\[ONNXRuntimeError\] : \d+ : \w+ : ")
_FOLDERS = re.compile(
    r"(?<![\w:/])(?:[A-Za-z]:)?(?:[/\\][\w.+@ -]+)+[/\\](?=[\w.+-]+\.(?:so|dll|dylib|cc|h)\b)"
)
_MOST_CHARACTERS = 600


def survey(machine: Machine, python: str = sys.executable) -> Survey:
    """Return what works here. A provider that ends its process is reported like one that refuses."""
    try:
        facts = call_job("probe", {}, timeout_s=TIMEOUT_S, python=python)
    except (WorkerError, RunFailed, StorageError) as error:
        return Survey(None, None, (), (), (), error.problem)
    return Survey(
        onnxruntime=str(facts["version"]),
        build=str(facts["build"]),
        distributions=tuple(str(item) for item in facts["distributions"]),
        providers=tuple(try_provider(str(name), machine, python) for name in facts["available"]),
        devices=tuple(Device(*(str(part) for part in device)) for device in facts["devices"]),
        problem=None,
    )


def working_providers(
    machine: Machine, python: str = sys.executable, *, without: Container[str] = ()
) -> tuple[str, ...]:
    """Return the names of the providers that work here; those in `without` are not tried."""
    try:
        names = call_job("probe", {}, timeout_s=TIMEOUT_S, python=python)["available"]
    except (WorkerError, RunFailed, StorageError):
        return ()
    others = [str(name) for name in names if name not in without]
    return tuple(name for name in others if try_provider(name, machine, python).state == "works")


def try_provider(name: str, machine: Machine, python: str = sys.executable) -> ProviderState:
    """Try one provider on a model of one node, and read the loader's messages in its log."""
    logs: list[str] = []
    crash = ""
    state: State
    try:
        answer = call_job("probe", {"provider": name}, timeout_s=TIMEOUT_S, on_log=logs.append, python=python)
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
