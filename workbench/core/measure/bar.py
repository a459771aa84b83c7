"""Progress display: a line in a terminal, a bar in a notebook, a user's callable, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, TypeAlias
from uuid import uuid4

from workbench.core.measure.limits import OnProgress, Progress, ShowProgress
from workbench.core.text import counted, factor, factor_ends

OnStep: TypeAlias = Callable[[str], None]
Publish: TypeAlias = Callable[..., Any]  # IPython's display publisher

EVERY_S = 0.1  # the fastest redraw of a fraction in a notebook


@contextmanager
def bar(progress: ShowProgress) -> Iterator[OnProgress]:
    """Yield the progress callback, which shows the spent budget, the current step and the verdict so far."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda _: None
    elif (publish := publisher()) is not None:
        with _notebook_bar(publish) as on_progress:
            yield on_progress
    else:
        with _terminal_bar() as on_progress:
            yield on_progress


@contextmanager
def steps(on_step: Callable[[str], None] | None, progress: bool | OnProgress = True) -> Iterator[OnStep]:
    """Yield a function that reports a step that begins: to `on_step`, else as a bar without an end."""
    if on_step is not None:
        yield on_step
        return
    began = time.monotonic()
    with bar(progress) as on_progress:
        yield lambda step: on_progress(Progress(step, 0, time.monotonic() - began, 0.0, None, None))


def publisher() -> Publish | None:
    """Return the function that displays output below the running cell; None outside a notebook.

    IPython is looked up among the loaded modules, since this layer does not import it.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not shell.has_trait("kernel"):
        return None
    publish: Publish = shell.display_pub.publish
    return publish


@contextmanager
def _terminal_bar() -> Iterator[OnProgress]:
    from tqdm import tqdm

    with tqdm(total=1.0, bar_format="{l_bar}{bar}| {postfix}", leave=False) as meter:

        def show(progress_now: Progress) -> None:
            if progress_now.fraction is not None:
                meter.n = round(progress_now.fraction, 3)
            meter.set_postfix_str(in_words(progress_now), refresh=True)

        yield show


@contextmanager
def _notebook_bar(publish: Publish) -> Iterator[OnProgress]:
    """Yield a callback that redraws one output, and end with the time taken, which a saved notebook keeps.

    A widget would leave a dead bar in the saved notebook.
    """
    began = drawn = time.monotonic()
    output = {"display_id": uuid4().hex}
    publish(_drawn(None, "starting"), transient=output)
    last: Progress | None = None

    def show(progress_now: Progress) -> None:
        nonlocal drawn, last
        last, now = progress_now, time.monotonic()
        if progress_now.fraction is None or now - drawn >= EVERY_S:  # the next step may be long in coming
            drawn = now
            publish(_drawn(progress_now.fraction, in_words(progress_now)), transient=output, update=True)

    how = "stopped after"
    try:
        yield show
        how = "took"
    finally:
        publish({"text/plain": _ended(how, time.monotonic() - began, last)}, transient=output, update=True)


def _drawn(fraction: float | None, words: str) -> dict[str, str]:
    at = "" if fraction is None else f' value="{min(1.0, max(0.0, fraction)):.3f}"'
    share = "" if fraction is None else f"{fraction * 100:.0f} %, "
    element = f'<progress max="1"{at} style="width: 16em; vertical-align: middle"></progress>'
    return {"text/html": f"{element} {escape(words)}", "text/plain": f"{share}{words}"}


def _ended(how: str, seconds: float, last: Progress | None) -> str:
    rounds = "" if last is None or not last.round else f", {counted(last.round, 'round')}"
    return f"{how} {seconds:.1f} s{rounds}"


def in_words(progress_now: Progress) -> str:
    """Return the text beside the bar; no ratio if the configs compute different things."""
    left = "" if progress_now.remaining_s is None else f", about {progress_now.remaining_s:.0f} s left"
    so_far = ""
    for verdict in progress_now.verdicts[:1]:
        if verdict.ratio is not None and verdict.kind != "outputs differ":
            times = factor(verdict.ratio, verdict.low, verdict.high)
            so_far = f", so far {times}{factor_ends(verdict.low, verdict.high)}"
    where = f"round {progress_now.round}: " if progress_now.round else ""  # only comparisons have rounds
    return f"{where}{progress_now.doing}{so_far}{left}"
