"""The model of a deployment: its description, its session, and its first runs."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.deployment.serving.protocol import Array, Tensor

FOLDER = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Deployment:
    """The contents of deployment.json."""

    name: str
    version: str
    model: str  # of the file, inside the folder
    files: Mapping[str, str]  # name: SHA-256
    providers: tuple[str, ...]  # as asked for, the best one first
    fallback: bool  # whether the server starts without some of them
    batchable: bool
    warm_up_runs: int
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    limits: Mapping[str, float]

    @classmethod
    def read(cls, folder: Path = FOLDER) -> Deployment:
        document = json.loads((folder / "deployment.json").read_text("utf-8"))
        for side in ("inputs", "outputs"):
            document[side] = tuple(
                Tensor(entry["name"], entry["datatype"], tuple(entry["shape"])) for entry in document[side]
            )
        document["providers"] = tuple(document["providers"])
        return cls(**document)


class Hosted:
    """The session, loaded and warmed up by a thread; `error` says why it cannot be used."""

    def __init__(self, deployment: Deployment, session: Any, folder: Path = FOLDER) -> None:
        """`session`: the module that makes and runs it."""
        self.deployment = deployment
        self.error: str | None = None
        self.providers: tuple[str, ...] = ()
        self.ready = threading.Event()
        self._module = session
        self._folder = folder
        self._session: Any = None

    def load(self) -> None:
        """Check the files, make the session, and run it on the example inputs."""
        for name, expected in self.deployment.files.items():
            with (self._folder / name).open("rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
            if actual != expected:
                raise RuntimeError(f"{name} is not the file that was deployed: its SHA-256 differs")
        self._session = self._module.make_session(str(self._folder / self.deployment.model))
        self.providers = tuple(self._session.get_providers())
        missing = [name for name in self.deployment.providers if name not in self.providers]
        if missing and not self.deployment.fallback:
            raise RuntimeError(
                f"{', '.join(missing)} did not start; the session would run on {', '.join(self.providers)}. "
                'Install what it needs, or set "fallback" to true in deployment.json'
            )
        feeds = self.examples()
        for _ in range(self.deployment.warm_up_runs):
            self._module.run(self._session, feeds)
        self.ready.set()

    def examples(self) -> dict[str, Array]:
        """Return the inputs that the config was measured with."""
        texts = {tensor.name for tensor in self.deployment.inputs if tensor.datatype == "BYTES"}
        with np.load(self._folder / "examples.npz", allow_pickle=False) as arrays:
            order = json.loads(str(arrays["names"]))
            feeds = {name: arrays[f"input_{place}"] for place, name in enumerate(order)}
        return {name: array.astype(object) if name in texts else array for name, array in feeds.items()}

    def run(
        self, feeds: dict[str, Array], observe: Callable[[float], None] | None = None
    ) -> dict[str, Array]:
        """Run the session once; it must be ready."""
        began = time.perf_counter()
        values = self._module.run(self._session, feeds)
        if observe is not None:
            observe(time.perf_counter() - began)
        return {tensor.name: value for tensor, value in zip(self.deployment.outputs, values, strict=True)}
