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

    def finish(self, number: int, end: dict[str, Any]) -> None:
        """Put the record of this round into the outcome; `end` is the worker's last answer."""
        self.outcome.providers = tuple(end["providers"])
        self.outcome.record = ProcessRecord(
            round=number,
            spawn_s=self.spawn_s,
            import_s=self.import_s,
            load_s=self.loaded["load_s"],
            first_run_s=self.first_run_s,
            warmup_s=self.warmup_s,
            steady=self.steady,
            blocks=tuple(self.blocks),
            rss_start_bytes=self.loaded["rss_start_bytes"],
            rss_loaded_bytes=self.loaded["rss_loaded_bytes"],
            rss_bytes=end["rss_bytes"],
            peak_rss_bytes=end["peak_rss_bytes"],
            feeds=self.feeds,
        )
