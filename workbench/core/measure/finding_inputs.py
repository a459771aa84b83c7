"""Inputs that run: guessed ones are tried in a worker, and usual sizes and values where they fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from workbench.core.config import Config
from workbench.core.errors import InputError, PrepareError, RunFailed, WorkerError
from workbench.core.models import Inputs, Model
from workbench.core.models.declared import declared_inputs
from workbench.core.models.generate import NOTHING_SAYS
from workbench.core.models.sizes import free_dims, is_guessed, is_guessed_axis
from workbench.core.models.tries import tries
from workbench.core.models.usual import FOUND, TRIED, Usual, sizes_in
from workbench.core.text import shorten
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import write_values

SEARCH_S = 8.0  # of runs, beside the start of the worker and the load of the model
START_S, LOAD_S = 60.0, 300.0
OFFER_LOAD_S = 5.0  # of a model whose inputs are only offered; a run finds them for one that loads longer

R = TypeVar("R")


def with_running_inputs(
    run: Callable[[Any], R],
    open_model: Callable[[], Model],
    inputs: Any,
    config: Config | None = None,
    cancel: threading.Event | None = None,
) -> R:
    """Run with these inputs; where random ones fail, find sizes that run, and run once more with them.

    None stands for the inputs that `Model.inputs` makes, which takes what was found.
    """
    try:
        return run(inputs)
    except (RunFailed, PrepareError) as error:
        if isinstance(error, PrepareError) and not isinstance(error.__cause__, RunFailed):
            raise  # no inputs make the file
        if inputs is not None and not (isinstance(inputs, Inputs) and inputs.seed is not None):
            raise
        model = open_model()
        given = {} if inputs is None else given_sizes(model, inputs)
        known = inputs is not None and remade(model, inputs, given).guesses != inputs.guesses
        if not known and not find_inputs(model, given, config or Config(), cancel):
            raise
    return run(None if inputs is None else remade(model, inputs, given))


def find_inputs(
    model: Model, given: Mapping[str, int], config: Config, cancel: threading.Event | None = None
) -> bool:
    """Return whether sizes or values were found with which the model runs, where the guessed ones do not."""
    if TRIED.get(_key(model, given)):
        return False
    return _tried(model, given, config, cancel) is not None


def tried_inputs(model: Model, drawn: Inputs, given: Mapping[str, Any]) -> Inputs:
    """Return random inputs to offer: as drawn if nothing was guessed or they run, else others that run."""
    if drawn.seed is None or model.fed is not None or not _is_doubtful(model, drawn, given):
        return drawn
    key = _key(model, given)
    if key not in TRIED:
        _tried(model, given, Config(), None, OFFER_LOAD_S)
    inputs, problem = remade(model, drawn, given), TRIED.get(key)
    return replace(inputs, guesses=(*inputs.guesses, problem)) if problem else inputs


def _is_doubtful(model: Model, drawn: Inputs, given: Mapping[str, int]) -> bool:
    """Return whether a size other than the batch was guessed, or numbers that stand for nothing known."""
    if model.usual_dims:  # a sample's own, which run
        return False
    others = islice(tries(declared_inputs(model.structure), given), 2)
    return any(tried.sizes for tried in others) or any(NOTHING_SAYS in guess for guess in drawn.guesses)


def _key(model: Model, given: Mapping[str, int]) -> tuple[str, frozenset[tuple[str, int]]]:
    return model.fingerprint(), frozenset((name, int(size)) for name, size in given.items())


def given_sizes(model: Model, inputs: Inputs) -> dict[str, int]:
    """Return the sizes of free dims in random inputs that were given, not guessed."""
    sizes, given = sizes_in(model.structure, inputs.shapes), {}
    for name, axis, symbol in free_dims(declared_inputs(model.structure)):
        if symbol is None:
            guessed = is_guessed_axis(name, axis, inputs.guesses)
        else:
            guessed = is_guessed(symbol, inputs.guesses)
        dim = symbol or f"{name}.{axis}"
        if not guessed and dim in sizes:
            given[dim] = sizes[dim]
    return given


def remade(model: Model, inputs: Inputs, given: Mapping[str, int]) -> Inputs:
    """Return random inputs anew, from what is known now."""
    return model.draw(inputs.seed or 0, given)


def _tried(
    model: Model,
    given: Mapping[str, int],
    config: Config,
    cancel: threading.Event | None,
    load_s: float = LOAD_S,
) -> Usual | None:
    """Try the guess, then others; return those that run in its place, and remember what came of it."""
    working, refused = _search(model, given, config, cancel, load_s)
    if working is not None:
        FOUND[model.fingerprint(cancel)] = working
    problem = f"tried: {refused} did not run, nor did other usual sizes; give sizes or data"
    TRIED[_key(model, given)] = problem if refused and working is None else ""
    return working


def _search(
    model: Model, given: Mapping[str, int], config: Config, cancel: threading.Event | None, load_s: float
) -> tuple[Usual | None, str]:
    """Return what runs where the guess does not, and the guess that did not run, or nothing."""
    plan = Config(custom_ops=config.custom_ops).plan().to_dict()
    before = model.usual
    with WorkerFolder() as folder, Worker(folder, name="inputs", python=config.interpreter) as worker:
        try:
            worker.hello(timeout_s=START_S, cancel=cancel)
            body = {"model": str(model.path), "plan": plan, "log_severity": 4}
            worker.request("load", body, stage="load", timeout_s=load_s, cancel=cancel)
        except (RunFailed, WorkerError):
            return None, ""  # no inputs help: the first error stands
        ends, refused, feeds = time.monotonic() + SEARCH_S, "", folder / "feeds"
        for number, tried in enumerate(tries(declared_inputs(model.structure), given)):
            left_s = ends - time.monotonic()
            if left_s <= 0:
                break
            usual = replace(before, sizes={**before.sizes, **tried.sizes}, values=tried.values)
            try:
                inputs = model.draw(0, given, usual)
            except InputError:
                continue
            write_values(feeds, inputs.feeds)
            try:
                worker.request(
                    "first_run", {"feeds": str(feeds)}, stage="first run", timeout_s=left_s, cancel=cancel
                )
            except RunFailed:
                refused = refused or "; ".join(f"{shorten(name)} {kind}" for name, kind in inputs.shapes[:4])
                continue
            except WorkerError:
                break
            if number == 0:
                return None, ""
            return replace(usual, why=f"found by trying: {refused} did not run"), refused
    return None, refused
