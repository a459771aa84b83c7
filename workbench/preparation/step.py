"""One step from a model file to the next, with its name, its job and its summary."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from workbench.models.fit import installed_ort
from workbench.models.model import Model

Answer = Mapping[str, Any]
Summary = tuple[str, tuple[str, ...]]  # the effect in one sentence, and notes for the user
PRODUCTS = MODEL, ORT_MODEL, RANGES = "model.onnx", "model.ort", "ranges.json"


@dataclass(frozen=True, slots=True)
class Step:
    """A preparation step. `arguments` and `depends_on` contain everything that changes the result."""

    name: str
    job: str
    arguments: Callable[[Model], dict[str, Any]]  # of the job; may refuse the given model
    summarize: Callable[[Answer], Summary]  # from the job's answer; may refuse the result
    explain: Callable[[str], tuple[str, str] | None] = lambda _: None  # (problem, fix) for ORT's own message
    product: str = MODEL  # the file that the step writes
    data: Mapping[str, str] | None = None  # more arguments of the job: files, left out of the key…
    depends_on: tuple[str, ...] = ()  # …which includes their contents
    needs: tuple[str, ...] = ()  # products of earlier steps, passed to the job as arguments of that name
    generation: int = 1  # of the job's code: raise when the same arguments give another file
    python: str = sys.executable


def key_of(step: Step, source_sha256: str, arguments: Mapping[str, Any], needed: Mapping[str, str]) -> str:
    """Return the key of a result: a hash of the input file, the step, its arguments and the versions."""
    ingredients = {
        "source": source_sha256,
        "job": step.job,
        "generation": step.generation,
        "arguments": arguments,
        "depends_on": step.depends_on,
        "needed": dict(needed),
        "python": None if step.python == sys.executable else step.python,
        "versions": [installed_ort(), *(_version(name) for name in ("onnx", "numpy", "onnx-ir", "sympy"))],
    }
    return hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()[:40]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
