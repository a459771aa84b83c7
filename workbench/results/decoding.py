"""A language model decoded token by token."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from workbench.judge.decoding_points import (
    DecodeFigures,
    decode_frame,
    figures_of,
    in_words,
    positions_frame,
)
from workbench.records.decoding import DecodingRecord, check_decoding
from workbench.results.form import Field, count_or_list
from workbench.results.registry import ResultKind
from workbench.results.result import Result, run_of

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


class Decoding(Result):
    """A language model decoded token by token. Made by `wb.decode`.

    >>> import workbench as wb
    >>> wb.Decoding.__name__
    'Decoding'
    """

    record: DecodingRecord
    charted_by = "workbench.figures.decoding:decoding_chart"

    @property
    def figures(self) -> tuple[DecodeFigures, ...]:
        """Time to the first token, time of a further one, and tokens of each config."""
        return figures_of(self.record)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per config."""
        return decode_frame(self.record)

    def positions_frame(self) -> pd.DataFrame:
        """Return one row per config and token: its position, its time, and what was picked."""
        return positions_frame(self.record)

    def to_python(self, model: str | os.PathLike[str], label: str = "A") -> str:
        """Return a plain onnxruntime script that makes the session of one config and decodes with it."""
        from workbench.results.decoding_script import decoding_script

        run = run_of(self.record.runs, label)
        return decoding_script(run.config, model)

    def figure(self) -> go.Figure:
        """Draw milliseconds a token against its position, a line for each config."""
        from workbench.figures.decoding import decoding_figure

        return decoding_figure(self.record)

    def __str__(self) -> str:
        return in_words(self.record)


KIND = ResultKind(
    "decoding",
    DecodingRecord,
    check_decoding,
    result=Decoding,
    scope="runs",
    entry="workbench.api.decoding:decode",
    takes=("seed", "calibration", "progress", "keep"),
    heading="Token by token",
    button="Decode",
    hint="All configs as language models: time to the first token, time of each further one, the cache",
    step="decoding",
    tabs=("scenarios",),
    form=(
        Field("prompt", "prompt", "Tokens of the prompt, or the tokens themselves", count_or_list, "128"),
        Field("tokens", "tokens", "Tokens to make", int, "64"),
    ),
)
