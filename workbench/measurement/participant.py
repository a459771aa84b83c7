"""The worker of one candidate in one round, and its results."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.measurement.candidate import Candidate
from workbench.records.run import Block, Failure, ProcessRecord
from workbench.worker.launch import Worker


@dataclass(slots=True)
class Outcome:
    """The results of one process in a round; they grow while the round runs."""

    label: str
    record: ProcessRecord | None = None
    failure: Failure | None = None
    providers: tuple[str, ...] = ()
    threads: int | None = None
    io: Literal["run", "binding"] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    log_text: str = ""
    was_frozen: bool = True  # whether the process was frozen while others were measured
    outputs: Path | None = None


@dataclass(slots=True)
class Participant:
    """The worker of one candidate in this round, with its answers so far."""

    worker: Worker
    candidate: Candidate
    outcome: Outcome
    spawn_s: float = 0.0
    import_s: float = 0.0
    loaded: dict[str, Any] = field(default_factory=dict)
    first_run_s: float = 0.0
    feeds: int = 1
    warmup_s: tuple[float, ...] = ()
    steady: bool = False
    blocks: list[Block] = field(default_factory=list)
