"""ONNX Runtime GenAI as an engine: the folder of a decoder with its genai_config.json, run token by token."""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime_genai


def versions() -> dict[str, str]:
    return {"onnxruntime-genai": onnxruntime_genai.__version__}


def load(model: str, plan: dict[str, Any]) -> Decoders:
    """Load the model of a folder; refuse one whose configuration is of another file."""
    path = Path(model)
    try:
        filename = json.loads(path.with_name("genai_config.json").read_bytes())["model"]["decoder"][
            "filename"
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RuntimeError(
            f"no genai_config.json that names a decoder lies beside {path.name}; its model builder makes one"
        ) from error
    if filename != path.name:
        raise RuntimeError(f"genai_config.json is of {str(filename)[:200]!r}, not of {path.name}")
    config = onnxruntime_genai.Config(str(path.parent))
    if plan["threads"]:
        options = {"intra_op_num_threads": plan["threads"]}
        config.overlay(json.dumps({"model": {"decoder": {"session_options": options}}}))
    return Decoders(onnxruntime_genai.Model(config), plan)


class Decoders:
    """A loaded model, which decodes and does nothing else."""

    def __init__(self, model: Any, plan: dict[str, Any]) -> None:
        self.names = list(plan["outputs"])
        self.runs_on = ["ONNX Runtime GenAI"]
        self.threads = plan["threads"]
        self._model = model

    def call(self, feed: Mapping[str, Any]) -> Callable[[], Any]:
        del feed
        raise RuntimeError("it runs a model token by token alone: use wb.decode")

    def arrays(self, result: Any) -> list[Any]:
        raise NotImplementedError(result)

    def decoder(self, prompt: list[list[int]]) -> GeneratorLoop:
        """Return the loop over tokens of a prompt."""
        if len(prompt) > 1:
            raise RuntimeError(
                f"a batch of {len(prompt)}: its generators take the tokens of others for one prompt alone"
            )
        return GeneratorLoop(self._model, prompt)


class GeneratorLoop:
    """Decodes a prompt; the generator holds the cache. The interface is that of `decoding.Decoder`."""

    io = None  # of the cache: not told

    def __init__(self, model: Any, prompt: list[list[int]]) -> None:
        self._model, self._prompt = model, np.array(prompt, np.int32)

    def decode(self, count: int, given: list[list[int]] | None, keep_logits: bool = False) -> dict[str, Any]:
        """Make `count` tokens, each step timed from its tokens to its logits."""
        params = onnxruntime_genai.GeneratorParams(self._model)
        params.set_search_options(max_length=self._prompt.shape[1] + count, do_sample=False)
        generator = onnxruntime_genai.Generator(self._model, params)
        steps, picked, kept, fresh = array("q"), [], [], self._prompt
        for number in range(count):
            start = time.perf_counter_ns()
            generator.append_tokens(fresh)
            logits = generator.get_logits()
            steps.append(time.perf_counter_ns() - start)
            last = np.asarray(logits, np.float32)[:, -1]
            picked.append(last.argmax(-1).tolist())
            if keep_logits:
                kept.append(last)
            fresh = np.array([picked[-1] if given is None else given[number]], np.int32)
        return {"steps": steps, "picked": picked, "logits": kept, "cache_bytes": None, "cache_type": ""}
