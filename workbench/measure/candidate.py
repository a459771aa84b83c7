"""One config of a comparison with everything that its worker process needs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.config import Config
from workbench.records.preparation import Preparation
from workbench.records.run import Failure


@dataclass(frozen=True, slots=True)
class Candidate:
    """One config, ready to be measured. The baseline, "A", is one of them."""

    label: str
    config: Config  # as the user asked
    model: Path  # the file that ORT loads: the user's, or the one prepared from it
    plan: Mapping[str, Any]  # what ORT is told
    feeds: Path
    interpreter: str = sys.executable
    slow_down: float = 0.0  # planted by benchmarks.honesty: a share of each run
    least_sqnr_db: float | None = None  # of its outputs; None: they must agree within the tolerance
    preparation: Preparation | None = None
    failure: Failure | None = field(default=None)  # its preparation failed, so no worker is started
