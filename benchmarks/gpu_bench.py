"""What the parts of `python -m benchmarks.gpu` share: configs, comparisons, bundles, scripts, the clock."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb

ROOT = Path(__file__).parents[1]
SCRIPT_S = 120.0  # of a script in a process of its own


@dataclass(frozen=True)
class Bench:
    """Where the parts run and what they may take; `cancel` ends the part whose time is spent."""

    folder: Path
    stand_in: bool
    samples: tuple[str, ...]
    budget_s: float
    torch: str | None = None  # the Python of an environment with torch; None: this one
    cancel: threading.Event = field(default_factory=threading.Event)

    def cuda(self, **options: str) -> wb.Config:
        """Return a config on CUDA with some of its options; the stand-in is on the CPU without them."""
        if self.stand_in:
            return wb.Config(providers=("cpu",))
        return wb.Config(providers=(wb.Provider("cuda", options), "cpu"))

    def tensorrt(self, engines: str, **options: str) -> wb.Config:
        """Return a config on TensorRT whose engines are kept in a folder of this name."""
        if self.stand_in:
            return wb.Config(providers=("cpu",))
        kept = {"trt_engine_cache_enable": "1", "trt_engine_cache_path": str(self.engines(engines))}
        return wb.Config(providers=(wb.Provider("tensorrt", kept | options), "cuda", "cpu"))

    def engines(self, name: str) -> Path:
        """Return the folder of kept engines with this name."""
        folder = (self.folder / "engines" / name).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def compare(self, name: str, model: Any, *configs: wb.Config, **options: Any) -> str:
        """Compare, save, and return the verdicts, with the reason of each config that failed."""
        result = wb.compare(
            model, *configs, budget_s=self.budget_s * len(configs) / 2, progress=False, keep=False,
            cancel=self.cancel, **options,
        )  # fmt: skip
        self.save(name, result)
        failed = [f"{run.label}: {run.failure.problem}" for run in result.runs if run.failure is not None]
        return "\n".join([str(result), *failed])

    def measure(self, name: str, model: Any, config: wb.Config) -> wb.Measurement:
        """Measure one config and save it."""
        result = wb.measure(
            model, config, budget_s=self.budget_s / 2, progress=False, keep=False, cancel=self.cancel
        )
        self.save(name, result)
        return result

    def save(self, name: str, result: Any) -> None:
        """Save a bundle, whose name says if it is of the stand-in."""
        prefix = "stand-in-" if self.stand_in else ""
        result.save(self.folder / f"{prefix}{name}.ortbench")

    def script(self, module: str, *arguments: str) -> dict[str, Any]:
        """Run a module of the benchmarks in a process of its own; return its last line, which is JSON."""
        command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SCRIPT_S, cwd=ROOT)
        if ended.returncode:
            reason = ended.stderr.strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
            raise RuntimeError(reason[0])
        answer: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
        return answer

    def feeds_file(self, name: str) -> Path:
        """Write the inputs of a sample for a script; return the file."""
        path = self.folder / f"{name}-feeds.npz"
        np.savez(path, **{key: np.asarray(value) for key, value in wb.load(name).inputs().feeds[0].items()})
        return path


def starts(result: wb.Measurement) -> str:
    """Return load and first run of the first process and of a later one: an empty cache, then a full one."""
    if result.run.failure is not None:
        return f"failed: {result.run.failure.problem}"
    first, *_, last = (*result.run.processes, result.run.processes[-1])
    cold, warm = first.load_s + first.first_run_s, last.load_s + last.first_run_s
    count = len(result.run.processes)
    return f"load and first run {cold:.2f} s at first, {warm:.2f} s in the last of {count} processes"
