"""What the parts of `python -m benchmarks.gpu` share: configs, comparisons, bundles, scripts, the clock."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench.core.errors import Cancelled

ROOT = Path(__file__).parents[1]
_LOOK_S = 0.2  # how often a script's end and the end of its part are looked for


@dataclass(frozen=True)
class Bench:
    """Where the parts run and what they may take; `cancel` ends the part whose time is spent."""

    folder: Path
    stand_in: bool
    samples: tuple[str, ...]
    budget_s: float
    torch: str | None = None  # the Python of an environment with torch; None: this one
    cancel: threading.Event = field(default_factory=threading.Event)

    @property
    def image(self) -> str:
        """The sample with convolutions of the parts that take one; a small one on the CPU."""
        return "mobilenetv2" if self.stand_in else "resnet50"

    @property
    def text(self) -> str:
        """The transformer of the parts that take one; a small one on the CPU."""
        return "char-gpt" if self.stand_in else "bert-base"

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

    def script(self, module: str, name: str, *arguments: str) -> dict[str, Any]:
        """Run a module of the benchmarks on a sample and its inputs, in a process of its own.

        Return its last line, which is JSON. The end of the part ends the process.
        """
        model = wb.load(name)
        with tempfile.TemporaryDirectory() as folder:
            feeds = Path(folder) / "feeds.npz"
            np.savez(feeds, **{key: np.asarray(value) for key, value in model.inputs().feeds[0].items()})
            command = [sys.executable, "-m", f"benchmarks.{module}", str(model.path), str(feeds), *arguments]
            answer: dict[str, Any] = json.loads(self._output_of(command).strip().splitlines()[-1])
        return answer

    def _output_of(self, command: list[str]) -> str:
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as process:
            while True:
                try:
                    output, errors = process.communicate(timeout=_LOOK_S)
                except subprocess.TimeoutExpired:
                    if self.cancel.is_set():
                        process.kill()
                        raise Cancelled("the time of the part is spent", "give it more: --minutes") from None
                    continue
                if process.returncode:
                    reason = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
                    raise RuntimeError(reason[0])
                return output

    def starts(self, name: str, model: Any, config: wb.Config) -> str:
        """Measure a config twice; return how long its first process took to begin, and its last one."""
        cold, warm = (self.measure(f"{name}-{state}", model, config) for state in ("cold", "warm"))
        for result in (cold, warm):
            if result.run.failure is not None:
                return f"failed: {result.run.failure.problem}"
        texts = [
            f"{process.load_s:.2f} s to load and {process.first_run_s:.2f} s for the first run {state}"
            for process, state in ((cold.run.processes[0], "cold"), (warm.run.processes[-1], "warm"))
        ]
        return ", ".join(texts)
