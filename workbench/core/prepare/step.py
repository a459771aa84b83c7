"""One step from a model file to the next, with its name, its job and its summary."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.core.bundle.machine import ORT_PACKAGES
from workbench.core.models.model import Model
from workbench.core.worker.packages import packages_of

Answer = Mapping[str, Any]
Summary = tuple[str, tuple[str, ...]]  # the effect in one sentence, and notes for the user
PACKAGES = ("onnx", "numpy", "onnx-ir", "sympy")  # that jobs use beside ONNX Runtime
PRODUCTS = MODEL, ORT_MODEL, RANGES = "model.onnx", "model.ort", "ranges.json"


@dataclass(frozen=True, slots=True)
class Step:
    """A preparation step. `arguments` and `depends_on` contain everything that changes the result."""

    name: str
    job: str
    arguments: Callable[[Model], dict[str, Any]]  # of the job; may refuse the given model
    summarize: Callable[[Answer], Summary]  # from the job's answer; may refuse the result
    explanations: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # of ORT's own messages
    product: str = MODEL  # the file that the step writes
    data: Mapping[str, str] | None = None  # more arguments of the job: files, left out of the key…
    depends_on: tuple[str, ...] = ()  # …which includes their contents
    needs: tuple[str, ...] = ()  # products of earlier steps, passed to the job as arguments of that name
    generation: int = 1  # of the job's code: raise when the same arguments give another file
    python: str = sys.executable

    def explain(self, message: str) -> tuple[str, str] | None:
        """Return problem and fix for a message that one of the patterns matches; its groups fill gaps."""
        for pattern, (problem, fix) in self.explanations.items():
            match = re.search(pattern, message, re.DOTALL)
            if match:
                return problem.format(*match.groups()), fix
        return None


def key_of(step: Step, source_sha256: str, arguments: Mapping[str, Any], needed: Mapping[str, str]) -> str:
    """Return the key of a result: a hash of the input file, the step, its arguments and the versions.

    The versions are those of the environment that runs the step.
    """
    packages = packages_of(step.python, (*ORT_PACKAGES, *PACKAGES))
    ingredients = {
        "source": source_sha256,
        "job": step.job,
        "generation": step.generation,
        "arguments": arguments,
        "depends_on": step.depends_on,
        "needed": dict(needed),
        "python": None if step.python == sys.executable else step.python,
        "versions": dict(packages.versions),
    }
    return hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()[:40]
