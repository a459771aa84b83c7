"""A plain onnxruntime script that decodes with the session of a config."""

from __future__ import annotations

import os

from workbench.config import Config
from workbench.config.script_text import TIMING

_LOOP = '''import numpy as np


def decode(tokens, count):
    """Return `tokens` with `count` more, the most likely one at each step."""
    sizes = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
    words = ("past_key_values", "present_key_values", "past", "present")

    def bare(name):
        for word in words:
            name = name.replace(word, "", 1)
        return name.strip("._/")

    inputs, outputs = session.get_inputs(), session.get_outputs()
    presents = {bare(value.name): value.name for value in outputs if "present" in value.name}
    pasts = {value.name: presents[bare(value.name)] for value in inputs if bare(value.name) in presents}
    cache = {}
    for value in inputs:  # empty along the last axis without a fixed size, one sequence
        if value.name in pasts:
            free = [axis for axis, size in enumerate(value.shape) if not isinstance(size, int)]
            shape = [1 if axis in free else size for axis, size in enumerate(value.shape)]
            shape[free[-1]] = 0
            cache[value.name] = np.zeros(shape, sizes[value.type])
    tokens = list(tokens)
    for step in range(count):
        fresh = tokens if step == 0 or not pasts else tokens[-1:]
        feeds = dict(cache)
        for value in inputs:
            if "mask" in value.name:
                feeds[value.name] = np.ones((1, len(tokens)), np.int64)
            elif "position" in value.name:
                feeds[value.name] = np.arange(len(tokens) - len(fresh), len(tokens), dtype=np.int64)[None]
            elif value.name not in pasts:
                feeds[value.name] = np.array([fresh], np.int64)
        results = dict(zip([value.name for value in outputs], session.run(None, feeds, run_options)))
        cache = {past: results[present] for past, present in pasts.items()}
        logits = next(results[value.name] for value in outputs if value.name not in pasts.values())
        tokens.append(int(logits[0, -1].argmax()))
    return tokens'''


def decoding_script(config: Config, model: str | os.PathLike[str]) -> str:
    """Return the script of the config's session, and the loop over tokens."""
    return f"{config.to_python(model).removesuffix(TIMING)}\n\n{_LOOP}\n"
