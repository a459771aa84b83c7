"""The cumulative latency distribution: the share of runs up to each latency."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.measure.percentiles import NEEDED, percentiles
from workbench.drawing.chart import milliseconds, run_look
from workbench.drawing.scale import Scale, scale_of
from workbench.drawing.strips import failure, near_view, span
from workbench.drawing.template import latency_axis, new_figure, set_title
from workbench.drawing.thinning import MOST_POINTS, drawn_note, evenly, fair_shares
from workbench.drawing.words import plain

_HEIGHT = 380


@dataclass(frozen=True, slots=True)
class Distribution:
    """The shares of a run's samples that took at most the latency at the same index."""

    label: str
    latency_s: tuple[float, ...]
    share: tuple[float, ...]
    measured: int  # samples, drawn or not
    disturbed: bool  # no sample was clean, so these are those of disturbed blocks
    failure: str | None  # untrusted


@dataclass(frozen=True, slots=True)
class EcdfData:
    """The data of the figure, in seconds and shares of one."""

    scale: Scale
    view_s: tuple[float, float] | None  # what the axis shows at first; None: everything
    model: str  # untrusted
    runs: tuple[Distribution, ...]


def ecdf_data(record: ComparisonRecord, most: int = MOST_POINTS) -> EcdfData:
    """Return the steps of every run, at most `most` altogether."""
    ordered = [sorted(run.latency.samples_s) for run in record.runs]
    kept = fair_shares([len(values) for values in ordered], most)
    steps = []
    for run, values, count in zip(record.runs, ordered, kept, strict=True):
        places = evenly(range(len(values)), count)
        steps.append(
            Distribution(
                run.label,
                tuple(values[place] for place in places),
                tuple((place + 1) / len(values) for place in places),
                len(values),
                bool(values) and all(block.disturbed for block in run.blocks),
                failure(run),
            )
        )
    scale = scale_of([values[len(values) // 2] if values else None for values in ordered])
    view_s = None if scale.log else near_view(ordered, [()] * len(ordered))
    return EcdfData(scale, view_s, record.model.name, tuple(steps))


def ecdf_figure(record: ComparisonRecord) -> go.Figure:
    """Draw a line for each run; a line further left is faster."""
    data = ecdf_data(record)
    figure = new_figure()
    for index, run in enumerate(data.runs):
        style = run_look(index)
        figure.add_scatter(
            x=[data.scale.of(value_s) for value_s in run.latency_s] if run.measured else [None],
            y=[round(100 * share, 3) for share in run.share] if run.measured else [None],
            name=_name(run),
            mode="lines",
            line={"color": style.color, "width": 2, "dash": style.dash, "shape": "hv"},
            hovertemplate=f"%{{y:.4~g}} % took at most %{{x:.4~g}} {data.scale.unit}"
            f"<extra>{plain(run.label)}</extra>",
            showlegend=True,
        )
    whole = span(*(run.latency_s for run in data.runs))
    figure.update_xaxes(**latency_axis(data.scale, "latency of one run", whole, data.view_s))
    figure.update_yaxes(title_text="share of runs (%)", range=[0, 101])
    return set_title(
        figure,
        ["Cumulative latency distribution; share of runs that took at most that long"],
        _note(data),
        _HEIGHT,
    )


def ecdf_table(record: ComparisonRecord) -> DataFrame:
    """Return percentiles with intervals over processes; `note` says why a cell is empty."""
    rows = [
        (run.label, percent, *map(milliseconds, (estimate.value, estimate.low, estimate.high)), estimate.note)
        for run in record.runs
        for percent, estimate in zip(NEEDED, percentiles(run, tuple(NEEDED)), strict=True)
    ]
    columns = ["label", "percent", "latency_ms", "latency_low_ms", "latency_high_ms", "note"]
    return data_frame(rows, columns=columns)


def _name(run: Distribution) -> str:
    if not run.measured:
        return f"{plain(run.label)}: nothing was measured"
    return f"{plain(run.label)}: all samples disturbed" if run.disturbed else plain(run.label)


def _note(data: EcdfData) -> str:
    drawn, measured = sum(len(run.latency_s) for run in data.runs), sum(run.measured for run in data.runs)
    view = "double-click shows the slowest samples" if data.view_s is not None else ""
    failures = [f"{run.label} {run.failure}" for run in data.runs if run.failure]
    return "; ".join(filter(None, (data.model, drawn_note(drawn, measured, "samples"), view, *failures)))
