"""A language model decoded token by token."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from workbench.core.bundle.display import DataFrame
from workbench.core.command import Command
from workbench.core.config import Config
from workbench.core.config.engines import GenAi
from workbench.core.config.script_text import TIMING
from workbench.core.feature import Feature
from workbench.core.form import Field, count_or_list, whole_numbers
from workbench.core.models.position_tables import positions_of, usual_prompt, usual_tokens
from workbench.core.models.sizes import free_names, is_batch
from workbench.core.text import in_digits
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    headlines,
    one_value,
    run_look,
    size_value,
    time_value,
    value_of,
)
from workbench.drawing.words import plain
from workbench.features.base.result import Result, run_of
from workbench.features.decode.points import (
    DecodeFigures,
    decode_frame,
    decoding_gates,
    figures_of,
    in_words,
    positions_frame,
)
from workbench.features.decode.record import DecodingRecord, check_decoding

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.core.models import Model


_HEIGHT = 380
_AXES = (
    Axis("time to the first token (ms)"),
    Axis("time of each further token (ms)"),
    Axis("tokens a second"),
    Axis("cache after the last token (MiB)"),
)


def decoding_chart(record: DecodingRecord) -> Chart:
    """Return a row for each config."""
    several = bool(record.further)
    rows = tuple(_row(index, figures, several) for index, figures in enumerate(figures_of(record)))
    note = "" if several else f"{record.cases[0].name} of prompt"
    return Chart(headlines(in_words(record), len(record.runs)), _AXES, rows, note, columns=2)


def decoding_figure(record: DecodingRecord) -> go.Figure:
    """Draw each token's time with plotly, from the second on: the first one runs the prompt."""
    from workbench.drawing.scale import scale_of
    from workbench.drawing.template import new_figure, set_title

    figure, every = new_figure(), figures_of(record)
    scale = scale_of([row.token.value for row in every])
    for index, row in enumerate(every):
        style = run_look(index)
        places, name = range(1, len(row.position_s)), plain(_label(row, bool(record.further)))
        figure.add_scatter(
            x=[row.case.prompt_count + place for place in places],
            y=[scale.of(row.position_s[place]) for place in places],
            name=name,
            mode="lines+markers",
            marker={"symbol": style.symbol, "size": 5},
            line={"color": style.color, "dash": style.dash},
            hovertemplate=f"position %{{x}}: %{{y:.4~g}} {scale.unit}<extra>{name}</extra>",
            showlegend=True,
        )
    figure.update_xaxes(title_text="position of the token")
    figure.update_yaxes(title_text=f"median time of the token ({scale.unit})", rangemode="tozero")
    note = "the first token, which runs the prompt, stands in the sentences only"
    return set_title(figure, headlines(in_words(record), len(record.runs)), note, _HEIGHT)


def _label(figures: DecodeFigures, several: bool) -> str:
    return f"{figures.run.label}, {figures.case.name}" if several else figures.run.label


def _row(index: int, figures: DecodeFigures, several: bool) -> ChartRow:
    look, run = run_look(index), figures.run
    absent = "not measured" if run.failure is None else run.failure.problem
    times = (time_value(time, look, absent, digits=3) for time in (figures.first_token, figures.token))
    rate = figures.tokens_per_s
    text = absent if rate.value is None else in_digits(rate.value, 3)
    if figures.roof_share is not None:
        text += f" ({figures.roof_share * 100:.0f} % of the roof)"
    speed = value_of(rate, text, look)
    return one_value(_label(figures, several), *times, speed, size_value(run.cache_bytes, look, "no cache"))


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


class Decoding(Result):
    """A language model decoded token by token. Made by `wb.decode`."""

    record: DecodingRecord

    @property
    def figures(self) -> tuple[DecodeFigures, ...]:
        """Time to the first token, time of a further one, and tokens, for each prompt and config."""
        return figures_of(self.record)

    def to_frame(self) -> DataFrame:
        """Return one row per config, length of the prompt and batch."""
        return decode_frame(self.record)

    def positions_frame(self) -> DataFrame:
        """Return one row per config, token and sequence: its position, its time, and what was picked."""
        return positions_frame(self.record)

    def to_python(self, model: str | os.PathLike[str], label: str = "A") -> str:
        """Return a plain onnxruntime script that makes the session of one config and decodes with it."""
        run = run_of(self.record.runs, label)
        return decoding_script(run.config, model)

    def _in_words(self) -> str:
        return in_words(self.record)


def decoding_script(config: Config, model: str | os.PathLike[str]) -> str:
    """Return the script of the config's session, and the loop over tokens."""
    if isinstance(config.engine, GenAi):
        return config.to_python(os.fspath(model))
    return f"{config.to_python(os.fspath(model)).removesuffix(TIMING)}\n\n{_LOOP}\n"


def _positions(model: Model | None) -> int | None:
    return None if model is None else positions_of(model.structure)


def _prompt(model: Model | None) -> str:
    return str(usual_prompt(_positions(model)))


def _tokens(model: Model | None) -> str:
    most = _positions(model)
    return str(usual_tokens(most, usual_prompt(most)))


def _batches(model: Model | None) -> str:
    """Return several batches, where the model takes another one than its own."""
    names = () if model is None else free_names(model.structure)
    is_free = model is None or any(is_batch(name) or name.endswith(".0") for name in names)
    return "1, 4" if is_free else "1"


def _prompts(model: Model | None) -> str:
    """Return a short prompt and one of the usual length."""
    longest = usual_prompt(_positions(model))
    return ", ".join(map(str, sorted({max(1, longest // 4), longest})))


FEATURE = Feature(
    "decoding",
    DecodingRecord,
    check_decoding,
    result=Decoding,
    chart="workbench.features.decode.result:decoding_chart",
    figure="workbench.features.decode.result:decoding_figure",
    per="runs",
    call="workbench.features.decode.call:decode",
    takes=("seed", "calibration", "progress", "keep"),
    heading="Token by token",
    button="Decode",
    hint="All configs as language models: time to the first token, time of each further one, the cache",
    step="decoding",
    role="for generators",
    tabs=("Explore",),
    gates=decoding_gates,
    command=Command(
        example="llama-small --b io_binding=true --prompt 128 --tokens 64",
        once=("prompt",),
        hints={
            "prompt": "how many tokens, or these themselves: 5,9,2; default 128, or as many as fit; once",
            "tokens": "tokens to make; default 64, or as many as fit",
            "prompt_lengths": "several numbers of tokens, in place of --prompt",
            "inputs": "your own inputs beside the tokens",
        },
        text=str,
    ),
    form=(
        Field(
            "prompt",
            "prompt",
            "Tokens of the prompt, or these themselves",
            count_or_list,
            example=_prompt,
            before="Run a prompt of",
        ),
        Field("tokens", "tokens", "Tokens to make", int, example=_tokens, before="tokens and"),
        Field(
            "batch",
            "batch",
            "Prompts that run together, or several such numbers",
            count_or_list,
            example=_batches,
            before="new ones, in batches of",
        ),
        Field(
            "prompt_lengths",
            "lengths",
            "Several numbers of tokens of the prompt, in place of one",
            whole_numbers,
            example=_prompts,
            before="or with prompts of",
        ),
    ),
)
