"""Two graphs that run on the same inputs with their tensors in view: how far those of one name are apart."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.measure.limits import Limits
from workbench.core.models import Model
from workbench.core.prepare.runnable import Runnable
from workbench.core.worker.launch import WorkerFolder, call_job
from workbench.core.worker.protocol import BEFORE_CAST
from workbench.core.worker.values import write_values


@dataclass(frozen=True, slots=True)
class TensorPair:
    """A graph and another one, each computed by the ONNX Runtime of its config."""

    first: Runnable
    second: Runnable
    limits: Limits
    cancel: threading.Event | None

    @property
    def names(self) -> set[str]:
        """The tensors that nodes of both graphs make."""
        return _made(self.first.model) & _made(self.second.model)

    @property
    def file_bytes(self) -> int:
        """The size of the larger file, with its weights."""
        return max(runnable.model.file_bytes for runnable in (self.first, self.second))

    @property
    def input_bytes(self) -> int:
        """The size of the largest input."""
        feeds = (*self.first.feeds, *self.second.feeds)
        values = (value for feed in feeds for value in feed.values())  # a sequence is a list of arrays
        return max((getattr(value, "nbytes", 0) for value in values), default=0)

    def differences(self, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return the energy of each tensor and of its difference; `names` are those to compare, None: all."""
        chosen = None if names is None else list(names)
        with WorkerFolder() as folder:
            files, feeds, computed = list[str](), list[str](), list[list[str] | None]()
            for label, runnable in zip("AB", (self.first, self.second), strict=True):
                path = folder / label
                write_values(path, runnable.feeds)
                files.append(str(runnable.model.path))
                feeds.append(str(path))
                computed.append(self._computed_elsewhere(runnable, path, chosen))
            body = {"first": files[0], "second": files[1], "feeds": feeds, "computed": computed}
            rows: list[dict[str, Any]] = self._answer("tensors", {**body, "names": chosen})["tensors"]
        return rows

    def _computed_elsewhere(
        self, runnable: Runnable, feeds: Path, names: list[str] | None
    ) -> list[str] | None:
        """Return the files of the tensors that another environment computes; None: this one is meant."""
        file, python = runnable.model.path.absolute(), runnable.config.interpreter
        if python == sys.executable:
            return None
        exposed, values = str(feeds.with_suffix(".onnx")), str(feeds.with_suffix(".values"))
        self._answer("exposing", {"source": str(file), "target": exposed, "names": names})
        body = {"model": exposed, "weights": str(file.parent), "feeds": str(feeds), "target": values}
        written: list[str] = self._answer("computing", body, python)["files"]
        return written

    def _answer(self, job: str, body: dict[str, Any], python: str = sys.executable) -> dict[str, Any]:
        """Return what a job says."""
        return call_job(
            job,
            body,
            timeout_s=self.limits.load_s + self.limits.run_s * len(self.first.feeds),
            cancel=self.cancel,
            python=python,
            memory_bytes=self.limits.memory_bytes,
            custom_ops=self.first.config.custom_ops,
        )


def _made(model: Model) -> set[str]:
    """Return the tensors that the nodes of a file make, as the source graph calls them."""
    nodes = (node for node in model.structure.graph.node if node.op_type != "Constant")
    names = {name for node in nodes for name in node.output if name}
    return names | {name.removeprefix(BEFORE_CAST) for name in names}
