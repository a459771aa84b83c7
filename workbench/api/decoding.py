"""`wb.decode`: a language model run token by token."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.background import in_background
from workbench.config import Config
from workbench.errors import ConfigError, InputError
from workbench.judge.agreement import TOLERANCE
from workbench.judge.compare_request import CompareRequest, check_seed
from workbench.judge.decoding import DecodeRequest, measure_decoding
from workbench.measurement.bar import bar
from workbench.measurement.limits import Limits, Progress
from workbench.models.decoding import check_length, decoding_dims, decoding_names
from workbench.models.fit import check_fit
from workbench.preparation.replayed import replayed
from workbench.results.decoding import Decoding
from workbench.results.result import origin_of
from workbench.text import quoted

if TYPE_CHECKING:
    from workbench.models import Inputs, Model

    Given: TypeAlias = Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None

BUDGET_S = 60.0
MOST_TOKENS = 100_000


def decode(
    model: Model | Any,
    *configs: Config,
    prompt: int | Sequence[int] = 128,
    tokens: int = 64,
    budget_s: float = BUDGET_S,
    inputs: Given = None,
    seed: int = 0,
    calibration: Any = None,
    smallest_effect: float = 0.01,
    tolerance: float = TOLERANCE,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
    keep: bool = True,
) -> Decoding:
    """Run a language model in a loop: a prompt, then one token after the other.

    Where the model has a cache (`past…` inputs with their `present…` outputs), each step is fed what the
    last one gave: copied through numpy, or bound without a copy where the config has `io_binding`. A model
    without a cache runs the whole sequence at each step. `prompt` is a number of random tokens, or your own;
    `inputs` gives what else the model takes, such as the states of an encoder. The first config picks the
    tokens, and all configs are timed on these; what each would have picked is compared step by step.

    >>> import workbench as wb
    >>> wb.decode.__name__
    'decode'
    """
    from workbench.models import Inputs, Model, load
    from workbench.models.generate import random_inputs

    check_seed(seed)
    for name, value in (("tokens", tokens), ("prompt", prompt if isinstance(prompt, int) else len(prompt))):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_TOKENS:
            raise ConfigError(
                f"{name}={quoted(value)} is no usable value", "give a number of tokens from 1 up"
            )
    if not budget_s > 0:
        raise ConfigError(f"budget_s={quoted(budget_s)} is no usable value", "give seconds above 0")
    loaded = model if isinstance(model, Model) else load(model)
    configs = configs or (Config(),)
    for config in configs:
        if not isinstance(config, Config):
            raise ConfigError(f"{config!r} is no config", "give wb.Config(…) values")
        check_fit(loaded, config)
    names = decoding_names(loaded.structure)
    count = prompt if isinstance(prompt, int) else len(prompt)
    check_length(names, count, tokens)
    if isinstance(inputs, Inputs):
        fed = inputs
    elif inputs is not None:
        fed = loaded.inputs(inputs, seed=seed)
    else:
        dims = decoding_dims(loaded.structure, names, count)
        fed = random_inputs(loaded.structure, loaded.name, seed, dims, loaded.usual_dims)
    with (
        bar(progress) as on_progress,
        in_background(loaded.record, "hash of the model", cancel) as hashing,
    ):
        compared = CompareRequest(
            model=loaded.path,
            source=loaded,
            model_name=loaded.name,
            model_bytes=loaded.graph_bytes + sum(file.size_bytes for file in loaded.external),
            model_record=hashing.result,
            configs=configs,
            feeds=fed.feeds[:1],
            inputs=fed.record(),
            smallest_effect=smallest_effect,
            tolerance=tolerance,
            calibration=replayed(calibration),
            seed=seed,
            limits=limits or Limits(),
        )
        ids = _prompt(prompt, fed.feeds[0][names.tokens])
        request = DecodeRequest(compared, names, ids, tokens, float(budget_s))
        record = measure_decoding(request, on_progress=on_progress, cancel=cancel)
    result = Decoding(record, origin_of(loaded, configs[0], fed, cancel=cancel))
    if keep:
        result.keep()
    return result


def _prompt(prompt: int | Sequence[int], example: Any) -> tuple[int, ...]:
    """Return the given tokens, or the example's, repeated or cut to their number."""
    if not isinstance(prompt, int):
        if not all(isinstance(token, int) and token >= 0 for token in prompt):
            raise InputError("prompt holds something else than tokens", "give integers from 0 up")
        return tuple(prompt)
    drawn = [int(token) for token in example[0]]
    return tuple((drawn * (prompt // len(drawn) + 1))[:prompt])
