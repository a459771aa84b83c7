"""One config of a comparison with everything that its worker process needs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.bundle.preparation import Preparation
from workbench.core.bundle.run import Failure
from workbench.core.config import Config


@dataclass(frozen=True, slots=True)
class Candidate:
    """One config, ready to measure. The baseline "A" is a candidate too."""

    label: str
    config: Config  # as the user gave it
    model: Path  # the file that ORT loads: the user's or a prepared one
    plan: Mapping[str, Any]  # ORT's settings
    feeds: Path
    interpreter: str = sys.executable
    engine: str | None = None  # what runs the model in place of ONNX Runtime
    slow_down: float = 0.0  # set by benchmarks.honesty: extra time as a share of each run
    least_sqnr_db: float | None = None  # required SQNR of its outputs; None: the tolerance applies
    preparation: Preparation | None = None
    allow_fallback: bool = False  # measure it also where no provider that it asks for takes a node
    failure: Failure | None = field(default=None)  # preparation failed, so no worker starts
