"""The commands of a session's worker, for PyTorch, OpenVINO, TensorRT or GenAI."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from workbench.core.worker import usage
from workbench.core.worker.host import Call, Host
from workbench.core.worker.values import Feed


class Loaded(Protocol):
    """A model in an engine."""

    names: list[str]  # of its outputs
    runs_on: list[str]  # as a run records its providers
    threads: int | None

    def call(self, feed: Mapping[str, Any]) -> Callable[[], Any]:
        """Return a repeatable run of one feed, whose result is complete when it returns."""
        ...

    def arrays(self, result: Any) -> list[Any]:
        """Return the outputs of a run as arrays, in the order of `names`."""
        ...


class EngineHost(Host):
    """A model in an engine."""

    def __init__(self, engine: Any) -> None:
        super().__init__()
        self.engine = engine

    def do_load(self, model: str, plan: dict[str, Any], log_severity: int | None = None) -> Any:
        """Load the model, timed as the user's load time."""
        del log_severity  # of ONNX Runtime
        rss_start = usage.rss_bytes()
        began = time.perf_counter()
        self.loaded: Loaded = self.engine.load(model, plan)
        load_s = time.perf_counter() - began
        self.names = self.loaded.names
        return {
            "load_s": load_s,
            "providers": self.loaded.runs_on,
            "rss_start_bytes": rss_start,
            "rss_loaded_bytes": usage.rss_bytes(),
            "threads": self.loaded.threads,
            "inputs": plan["inputs"],
            "outputs": self.names,
        }, b""

    def do_decoder(
        self,
        names: dict[str, Any],
        empty_shapes: list[dict[str, list[int]]],
        feeds: str,
        prompts: list[list[list[int]]],
        count: int,
    ) -> Any:
        """Make the loop of each prompt and run it once; the engine knows the names and makes the cache."""
        del names, empty_shapes, feeds
        loaded: Any = self.loaded
        self.decoders = [loaded.decoder(prompt) for prompt in prompts]
        for decoder in self.decoders:
            decoder.decode(count, None)
        return {"io": self.decoders[0].io}, b""

    def calls_of(self, feeds: Sequence[Feed], *, bind: bool) -> list[Call]:
        del bind  # of ONNX Runtime
        return [Call(self.loaded.call(feed), self._arrays) for feed in feeds]

    def providers(self) -> list[str]:
        return self.loaded.runs_on

    def _arrays(self, result: Any) -> list[Any]:
        values = self.loaded.arrays(result)
        if len(values) != len(self.names):
            raise RuntimeError(
                f"{len(values)} outputs, and the ONNX file has {len(self.names)}: {', '.join(self.names)}"
            )
        return values
