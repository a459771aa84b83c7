"""`wb.decode`: a language model run token by token."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.config import Config
from workbench.core.errors import ConfigError, InputError
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.compare_request import check_seed
from workbench.core.measure.limits import Limits, Progress
from workbench.core.models import Model
from workbench.core.models.decoding import DecodingNames, check_length, decoding_dims, decoding_names
from workbench.core.models.generate import random_inputs
from workbench.core.prepare.real_data import inputs_from
from workbench.core.prepare.replayed import replayed
from workbench.core.text import quoted
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs, kept, opened_for, request_for
from workbench.features.decode.decoding import DecodeRequest, DecodingRounds
from workbench.features.decode.result import Decoding

_BUDGET_S = 60.0
PROMPT, TOKENS = 128, 64  # where the model has positions for so many
MOST_TOKENS = 100_000


@finding_inputs
def decode(
    model: Model | Any,
    *configs: Config,
    prompt: int | Sequence[int] | None = None,
    tokens: int | None = None,
    budget_s: float = _BUDGET_S,
    inputs: Feeds = None,
    seed: int = 0,
    allow_fallback: bool = False,
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
    without a cache runs the whole sequence at each step. `prompt` is a number of random tokens, or your own
    (None: 128, or half as many as the model has positions for), `tokens` how many to make (None: 64 at most);
    `inputs` gives what else the model takes, such as the states of an encoder. The first config picks the
    tokens, and all configs are timed on these; what each would have picked is compared step by step.

    >>> import workbench as wb
    >>> wb.decode.__name__
    'decode'
    """
    check_seed(seed)
    configs = configs or (Config(),)
    loaded = opened_for(model, configs, "wb.decode(model, wb.Config(…))")
    names = decoding_names(loaded.structure)
    prompt, tokens = usual_lengths(names, prompt, tokens)
    for name, value in (("tokens", tokens), ("prompt", prompt if isinstance(prompt, int) else len(prompt))):
        check_number(name, value, "give a number of tokens from 1 up", least=1, most=MOST_TOKENS, whole=True)
    if not budget_s > 0:
        raise ConfigError(f"budget_s={quoted(budget_s)} is no usable value", "give seconds above 0")
    count = prompt if isinstance(prompt, int) else len(prompt)
    check_length(names, count, tokens)
    if inputs is not None:
        fed = inputs_from(loaded, inputs, seed=seed)
    else:
        dims = decoding_dims(loaded.structure, names, count)
        fed = random_inputs(loaded.structure, loaded.name, seed, dims, loaded.usual)
    with request_for(
        loaded,
        configs,
        fed,
        feeds=fed.feeds[:1],
        smallest_effect=smallest_effect,
        tolerance=tolerance,
        calibration=replayed(calibration),
        seed=seed,
        allow_fallback=allow_fallback,
        progress=progress,
        cancel=cancel,
        limits=limits,
    ) as (compared, on_progress):
        ids = _prompt(prompt, fed.feeds[0][names.tokens])
        request = DecodeRequest(compared, names, ids, tokens, float(budget_s))
        record = DecodingRounds(request, on_progress).measure(cancel)
    return kept(Decoding(record, origin_of(loaded, configs[0], fed, cancel=cancel)), keep)


def usual_lengths(
    names: DecodingNames, prompt: int | Sequence[int] | None, tokens: int | None
) -> tuple[int | Sequence[int], int]:
    """Return what was asked for; what was left out fits the positions that the model has."""
    most = names.most_tokens or MOST_TOKENS
    if prompt is None:
        prompt = max(1, min(PROMPT, most // 2, most - (tokens or 0)))
    if tokens is None:
        tokens = max(1, min(TOKENS, most - (prompt if isinstance(prompt, int) else len(prompt))))
    return prompt, tokens


def _prompt(prompt: int | Sequence[int], example: Any) -> tuple[int, ...]:
    """Return the given tokens, or the example's, repeated or cut to their number."""
    if not isinstance(prompt, int):
        if not all(isinstance(token, int) and token >= 0 for token in prompt):
            raise InputError("prompt holds something else than tokens", "give integers from 0 up")
        return tuple(prompt)
    drawn = [int(token) for token in example[0]]
    return tuple((drawn * (prompt // len(drawn) + 1))[:prompt])
