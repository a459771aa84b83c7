"""A language model in a loop: what an output gave at one step is an input of the next."""

from __future__ import annotations

import time
from array import array
from typing import Any

import numpy as np
import onnxruntime as ort


class Decoder:
    """Decodes a batch of prompts with a session.

    `names` are those of `models.decoding`, `feed` holds example inputs of that batch.

    The cache is copied to numpy and back, or bound: then ORT reads what it wrote, where it wrote it. Where
    `names` says that its kernels can, they add to one buffer in place.
    """

    def __init__(
        self,
        session: ort.InferenceSession,
        names: dict[str, Any],
        feed: dict[str, Any],
        prompt: list[list[int]],
        *,
        device: str | None,
        options: ort.RunOptions | None,
    ) -> None:
        self._session, self._names, self._options = session, names, options
        self._prompt = np.array(prompt, np.int64)
        self._device = device  # of the bound cache; None: copied
        self._caches = names["caches"]
        made = {names[key] for key in ("tokens", "mask", "positions", "segments", "branch")}
        pasts = {cache["past"] for cache in self._caches}
        self._constant = {name: value for name, value in feed.items() if name not in made | pasts}
        self._dtypes = {name: value.dtype for name, value in feed.items() if hasattr(value, "dtype")}
        self._empty = {
            name: np.zeros(shape, self._dtypes[name]) for name, shape in names["empty_shapes"].items()
        }
        self._is_in_place = device == "cpu" and names["in_place"]
        self.outputs = [names["logits"], *(cache["present"] for cache in self._caches)]

    def decode(self, count: int, given: list[list[int]] | None, keep_logits: bool = False) -> dict[str, Any]:
        """Make `count` tokens after each prompt; `given` are fed in place of the most likely ones.

        Each step is timed from its feed to its outputs, without the choice of the token.
        """
        steps, picked, kept = array("q"), [], []
        sequence, cache = self._prompt, [self._empty[cache["past"]] for cache in self._caches]
        if self._is_in_place:
            cache = [self._buffer(pair, sequence.shape[1] + count) for pair in self._caches]
        step = self._copied if self._device is None else self._bound
        for number in range(count):
            fresh = sequence if not self._caches or number == 0 else sequence[:, -1:]
            start = time.perf_counter_ns()
            logits, cache = step(fresh, sequence.shape[1], cache)
            steps.append(time.perf_counter_ns() - start)
            last = np.asarray(_array(logits)[:, -1], np.float32)
            picked.append(last.argmax(-1).tolist())
            if keep_logits:
                kept.append(last)
            chosen = picked[-1] if given is None else given[number]
            sequence = np.column_stack([sequence, np.array(chosen, np.int64)])
        arrays = [_array(value) for value in cache]
        return {
            "steps": steps,
            "picked": picked,
            "logits": kept,
            "cache_bytes": sum(array.nbytes for array in arrays),
            "cache_type": "/".join(sorted({array.dtype.name for array in arrays})),
        }

    @property
    def io(self) -> str:
        """How the cache goes from step to step."""
        return "run" if self._device is None else "in place" if self._is_in_place else "binding"

    def _buffer(self, pair: dict[str, Any], length: int) -> Any:
        """Return a cache of all steps, to which each step adds."""
        shape = list(self._empty[pair["past"]].shape)
        shape[pair["axis"]] = length
        return ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, self._dtypes[pair["past"]]))

    def _feed(self, fresh: Any, total: int) -> dict[str, Any]:
        batch, past = len(fresh), total - fresh.shape[1]
        positions = np.arange(past, total)
        values = {
            "tokens": fresh,
            "mask": np.ones((batch, total)),
            "positions": positions if self._names["positions_rank"] == 1 else np.tile(positions, (batch, 1)),
            "segments": np.zeros(fresh.shape),
            "branch": [past > 0],
        }
        feed = dict(self._constant)
        for key, value in values.items():
            name = self._names[key]
            if name is not None:
                feed[name] = np.ascontiguousarray(value, self._dtypes[name])
        return feed

    def _copied(self, fresh: Any, total: int, cache: list[Any]) -> tuple[Any, list[Any]]:
        feed = self._feed(fresh, total)
        feed |= {pair["past"]: value for pair, value in zip(self._caches, cache, strict=True)}
        logits, *presents = self._session.run(self.outputs, feed, self._options)
        return logits, presents

    def _bound(self, fresh: Any, total: int, cache: list[Any]) -> tuple[Any, list[Any]]:
        binding = self._session.io_binding()
        for name, value in self._feed(fresh, total).items():
            binding.bind_cpu_input(name, value)
        for pair, value in zip(self._caches, cache, strict=True):
            if isinstance(value, np.ndarray):
                binding.bind_cpu_input(pair["past"], value)
            else:
                binding.bind_ortvalue_input(pair["past"], value)
        binding.bind_output(self.outputs[0], "cpu")
        for name, value in zip(self.outputs[1:], cache, strict=True):
            if self._is_in_place:
                binding.bind_ortvalue_output(name, value)
            else:
                binding.bind_output(name, self._device)
        self._session.run_with_iobinding(binding, self._options)
        logits, *presents = binding.get_outputs()
        return logits, cache if self._is_in_place else presents


def _array(value: Any) -> Any:
    """Return a copied or bound output as an array."""
    return value if isinstance(value, np.ndarray) else value.numpy()
