"""`wb.decode`: a language model run token by token."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from numbers import Integral
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.config import Config
from workbench.core.errors import ConfigError, InputError
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.compare_request import check_seed
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Model
from workbench.core.models.decoding import DecodingNames, check_length, decoding_dims, decoding_names
from workbench.core.models.position_tables import MOST_TOKENS, usual_prompt, usual_tokens
from workbench.core.prepare.real_data import inputs_from
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs, kept, opened_for, request_for
from workbench.features.decode.decoding import DecodeRequest, DecodingRounds
from workbench.features.decode.result import Decoding

_BUDGET_S = 60.0
MOST_BATCH = 1_024
_TOKENS_FIX = "give a number of tokens from 1 up"


@finding_inputs
def decode(
    model: Model | Any,
    *configs: Config,
    prompt: int | Sequence[int] | None = None,
    tokens: int | None = None,
    batch: int | Sequence[int] = 1,
    prompt_lengths: Sequence[int] = (),
    budget_s: float = _BUDGET_S,
    inputs: Feeds = None,
    seed: int = 0,
    allow_fallback: bool = False,
    calibration: Any = None,
    smallest_effect: float = 0.01,
    tolerance: float = TOLERANCE,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Decoding:
    """Run a language model in a loop: a prompt, then one token after the other.

    Where the model has a cache (`past…` inputs with their `present…` outputs), each step is fed what the
    last one gave: copied through numpy, or bound without a copy where the config has `io_binding`. A model
    without a cache runs the whole sequence at each step. `prompt` is a number of random tokens, or your own
    (None: 128, or half as many as the model has positions for), `tokens` how many to make (None: 64 at most);
    `prompt_lengths` are several numbers in one call, and `batch` how many prompts run together, or several
    such numbers: each length and each batch has its rows. `inputs` gives what else the model takes, such as
    the states of an encoder. The first config picks the tokens, and all configs are timed on these; what each
    would have picked is compared step by step.
    """
    check_seed(seed)
    configs = configs or (Config(),)
    loaded = opened_for(model, configs, "wb.decode(model, wb.Config(…))")
    names = decoding_names(loaded.structure)
    if prompt is not None and prompt_lengths:
        raise ConfigError("prompt= and prompt_lengths= are both given", "give one of them")
    prompt, tokens = usual_lengths(names, max(prompt_lengths, default=prompt), tokens)
    prompts = tuple(prompt_lengths) or (prompt,)
    batches = (batch,) if isinstance(batch, int) else tuple(batch)
    _check_numbers(names, prompts, batches, tokens)
    check_number("budget_s", budget_s, "give seconds above 0, like 60.0")
    cases = [(length, size) for length in prompts for size in batches]
    if inputs is not None:
        if batches != (1,):
            raise ConfigError("inputs= are those of one prompt, and batch= asks for more", "leave one out")
        every = [inputs_from(loaded, inputs, seed=seed)] * len(cases)
    else:
        sizes = (decoding_dims(loaded.structure, names, _count(length), size) for length, size in cases)
        every = [loaded.draw(seed, dims) for dims in sizes]
    fed = every[0]
    with request_for(
        loaded,
        configs,
        fed,
        feeds=tuple(of.feeds[0] for of in every),
        smallest_effect=smallest_effect,
        tolerance=tolerance,
        calibration=calibration,
        seed=seed,
        allow_fallback=allow_fallback,
        progress=progress,
        cancel=cancel,
        limits=worker_limits,
    ) as (compared, on_progress):
        ids = tuple(
            _prompts(length, of.feeds[0][names.tokens], size)
            for (length, size), of in zip(cases, every, strict=True)
        )
        request = DecodeRequest(compared, names, ids, tokens, float(budget_s))
        record = DecodingRounds(request, on_progress).measure(cancel)
    return kept(Decoding(record, origin_of(loaded, configs[0], fed, cancel=cancel)), keep)


def usual_lengths(
    names: DecodingNames, prompt: int | Sequence[int] | None, tokens: int | None
) -> tuple[int | Sequence[int], int]:
    """Return what was asked for; what was left out fits the positions that the model has."""
    if prompt is None:
        prompt = usual_prompt(names.most_tokens, tokens)
    if tokens is None:
        tokens = usual_tokens(names.most_tokens, _count(prompt))
    return prompt, tokens


def _count(prompt: int | Sequence[int]) -> int:
    return prompt if isinstance(prompt, int) else len(prompt)


def _check_numbers(
    names: DecodingNames, prompts: Sequence[int | Sequence[int]], batches: Sequence[int], tokens: int
) -> None:
    check_number("tokens", tokens, _TOKENS_FIX, least=1, most=MOST_TOKENS, whole=True)
    for prompt in prompts:
        check_number("prompt", _count(prompt), _TOKENS_FIX, least=1, most=MOST_TOKENS, whole=True)
        check_length(names, _count(prompt), tokens)
    for batch in batches:
        fix = "give how many prompts run together, from 1 up"
        check_number("batch", batch, fix, least=1, most=MOST_BATCH, whole=True)
    for name, values in (("prompt_lengths", prompts), ("batch", batches)):
        if not values or len({str(value) for value in values}) < len(values):
            raise ConfigError(f"{name} holds no number, or one twice", "give each number once")


def _prompts(prompt: int | Sequence[int], example: Any, batch: int) -> tuple[tuple[int, ...], ...]:
    """Return the given tokens for each sequence, or the example's, repeated or cut to their number."""
    if not isinstance(prompt, int):
        if not all(isinstance(token, Integral) and token >= 0 for token in prompt):
            raise InputError("prompt holds something else than tokens", "give integers from 0 up")
        return (tuple(map(int, prompt)),) * batch
    rows = [[int(token) for token in row] for row in example[:batch]]
    return tuple(tuple((drawn * (prompt // len(drawn) + 1))[:prompt]) for drawn in rows)
