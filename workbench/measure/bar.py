"""The progress bar: a line in a terminal, a widget in a notebook, a callable of the user's, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.measure.limits import OnProgress, Progress


@contextmanager
def bar(progress: bool | Callable[[Progress], None]) -> Iterator[OnProgress]:
    """Seconds spent of the budget, what is happening, and the verdict so far."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda _: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, bar_format="{l_bar}{bar}| {postfix}", leave=False) as shown:

        def show(told: Progress) -> None:
            if told.fraction is not None:
                shown.n = round(told.fraction, 3)
            shown.set_postfix_str(in_words(told), refresh=True)

        yield show


def in_words(told: Progress) -> str:
    """Beside the bar: no ratio of configs that compute different things."""
    left = "" if told.remaining_s is None else f", at most {told.remaining_s:.0f} s left"
    so_far = ""
    for verdict in told.verdicts[:1]:
        if verdict.ratio is not None and verdict.kind != "outputs differ":
            so_far = f", so far {verdict.ratio:.2f}×"
    where = f"round {told.round}: " if told.round else ""  # only comparisons have rounds
    return f"{where}{told.doing}{so_far}{left}"
