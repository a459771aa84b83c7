"""The data of the latency figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.run import Run
from workbench.core.config import Config, PreparedModel
from workbench.core.measure.percentiles import Figure, percentiles
from workbench.core.measure.wording import sentence
from workbench.drawing.scale import Scale, scale_of
from workbench.drawing.thinning import MOST_POINTS, drawn_note, evenly, fair_shares

FIGURES = (50.0, 90.0, 99.0)
NEAR, NEAR_ASIDE = 0.99, 0.9  # shares of the samples, clean or excluded, that the view must hold…
FAR_ROOM = 0.5  # …and the rest, too, unless it reaches further than half their width and would squeeze them
ROW, AXIS = 104, 56  # pixels: of a run, of the axis below
ABOVE, BELOW = 0.78, 0.42  # rows above the first and below the last
# Heights above and below the middle of a row, which is 1 high.
DENSITY, SAMPLES, LABEL = 0.44, (-0.32, -0.07), 0.47
GOLDEN = 0.6180339887498949  # its multiples spread evenly whatever their number
CURVE_POINTS = 120  # of a density
LEAST_SAMPLES = 8  # fewer are dots and no shape
NARROWEST = 0.002  # of the median: the curve of equal samples is a peak that can be seen
_TAIL = 0.01  # share of the samples at each end that the curve may leave out
BANDWIDTH = 0.9  # Silverman's rule of thumb, "Density Estimation" (1986), equation 3.31


@dataclass(frozen=True, slots=True)
class Strip:
    """One run as a row. Samples are sorted; those of disturbed blocks are apart, in `aside_s`."""

    label: str
    text: str  # what its config changes, or why there is nothing to see; untrusted
    samples_s: tuple[float, ...]  # as many as are drawn
    aside_s: tuple[float, ...]
    measured: int  # samples of clean blocks, drawn or not
    measured_aside: int
    estimates: tuple[Figure, ...]  # FIGURES of the clean samples, or of all where none was
    beyond: int  # samples to the right of the view
    most_s: float | None  # the largest sample; None: there is none
    failure: str | None  # untrusted

    @property
    def median(self) -> Figure:
        return self.estimates[0]

    @property
    def drawn(self) -> int:
        return len(self.samples_s) + len(self.aside_s)

    @property
    def all_aside(self) -> bool:
        """Whether all samples were disturbed, so that the estimates are of disturbed samples."""
        return not self.measured and self.measured_aside > 0


@dataclass(frozen=True, slots=True)
class LatencyData:
    """The data of the figure, in seconds. `view_s` is the initial range of the axis; None: everything."""

    title: tuple[str, ...]  # one sentence a candidate; untrusted, as it quotes names
    model: str  # untrusted
    scale: Scale
    span_s: tuple[float, float] | None  # from the fastest sample to the slowest; None: there is none
    view_s: tuple[float, float] | None
    rows: tuple[Strip, ...]

    @property
    def left_out(self) -> str:
        """What the figure leaves out, or an empty text."""
        measured = sum(row.measured + row.measured_aside for row in self.rows)
        return drawn_note(sum(row.drawn for row in self.rows), measured, "samples")

    @property
    def note(self) -> str:
        """What a reader of the figure may ask: what is drawn, what is left out, what failed."""
        rows = self.rows
        parts = [
            self.model,
            "above: density; below: each sample; the line: median; the bar: its 95 % interval",
        ]
        if any(row.aside_s for row in rows):
            parts.append("hollow samples are excluded because the machine was busy")
        parts += [f"all samples of {row.label} were disturbed by other work" for row in rows if row.all_aside]
        if self.view_s is not None:
            parts.append("double-click shows the samples beyond the edge")
        parts += [f"{row.label} {row.failure}" for row in rows if row.failure]
        return "; ".join(part for part in (*parts, self.left_out) if part)


def latency_data(record: ComparisonRecord, most: int = MOST_POINTS) -> LatencyData:
    """Return the rows of the latency figure, with at most `most` samples altogether."""
    clean = [samples(run, disturbed=False) for run in record.runs]
    aside = [samples(run, disturbed=True) for run in record.runs]
    estimates_by_run = [percentiles(run, FIGURES) for run in record.runs]
    middles = [
        estimates[0].value if estimates[0].value is not None else _middle(ours or theirs)
        for estimates, ours, theirs in zip(estimates_by_run, clean, aside, strict=True)
    ]
    scale = scale_of(middles)
    highs = [median.high for median, *_ in estimates_by_run if median.high is not None]
    span_s = span(*clean, *aside)
    view_s = None if scale.log else near_view(clean, aside, highs)
    kept = fair_shares([len(part) for pair in zip(clean, aside, strict=True) for part in pair], most)
    rows = []
    for at, run in enumerate(record.runs):
        everything = (*clean[at], *aside[at])
        rows.append(
            Strip(
                label=run.label,
                text=config_text(record, run),
                samples_s=evenly(clean[at], kept[2 * at]),
                aside_s=evenly(aside[at], kept[2 * at + 1]),
                measured=len(clean[at]),
                measured_aside=len(aside[at]),
                estimates=estimates_by_run[at],
                beyond=0 if view_s is None else sum(sample > view_s[1] for sample in everything),
                most_s=max(everything, default=None),
                failure=failure(run),
            )
        )
    title = tuple(sentence(record, verdict) for verdict in record.verdicts)
    return LatencyData(title, record.model.name, scale, span_s, view_s, tuple(rows))


def samples(run: Run, *, disturbed: bool) -> list[float]:
    """Return the samples of the blocks that were excluded, or of those that count, sorted."""
    return sorted(
        sample for block in run.blocks if run.counts(block) is not disturbed for sample in block.samples_s
    )


def span(*parts: Sequence[float]) -> tuple[float, float] | None:
    """Return the least and the largest of sorted sequences."""
    some = [part for part in parts if part]
    return (min(part[0] for part in some), max(part[-1] for part in some)) if some else None


def config_text(record: ComparisonRecord, run: Run) -> str:
    """Return a run's config in words, or that it is the baseline's; of several model files also the name."""
    baseline = record.runs[0]
    if run is not baseline and run.config == baseline.config:
        return "the same config as A"
    if not any(isinstance(other.config.precision, PreparedModel) for other in record.runs):
        return config_in_words(run.config)
    name, config, precision = record.model.name, run.config, run.config.precision
    if isinstance(precision, PreparedModel):
        name, config = Path(precision.model or "").stem, config.replace(precision=precision.precision)
    return name if config == Config() else f"{name}, {config_in_words(config)}"


def failure(run: Run) -> str | None:
    """Return where and why a run failed."""
    return None if run.failure is None else f"failed at {run.failure.stage}: {run.failure.problem}"


def _middle(ordered: Sequence[float]) -> float | None:
    return ordered[len(ordered) // 2] if ordered else None


def near_view(
    clean: Sequence[Sequence[float]], aside: Sequence[Sequence[float]], highs: Iterable[float] = ()
) -> tuple[float, float] | None:
    """Return the initial range of an axis; None where everything fits."""
    whole = span(*clean, *aside)
    if whole is None:
        return None
    least, most = whole
    near = max(
        ordered[ceil(share * (len(ordered) - 1))]
        for ours, theirs in zip(clean, aside, strict=True)
        for ordered, share in [(ours, NEAR) if ours else (theirs, NEAR_ASIDE)]
        if ordered
    )
    end = max((near, *highs))
    return None if most <= max(end, near + FAR_ROOM * (near - least)) else (least, end)


def beyond_text(row: Strip, scale: Scale) -> str:
    """Return how many samples are beyond the right edge of the view, and how far they reach."""
    return f"{row.beyond:,} more, up to {scale.text(row.most_s or 0.0, 3)}"


def spread(count: int) -> list[float]:
    """Return heights in a row, above its middle, that never form a line, the same at every drawing."""
    low, high = SAMPLES
    return [low + (high - low) * (at * GOLDEN % 1) for at in range(count)]


def density(samples: Sequence[float], *, log: bool = False) -> tuple[tuple[float, float], ...]:
    """Return places and heights, at most 1, of a Gaussian kernel density; empty for few samples.

    No place is below 0, since no latency is.
    """
    import numpy as np

    values = np.asarray(samples, dtype=np.float64)
    if len(values) < LEAST_SAMPLES or not np.isfinite(values).all() or (log and values.min() <= 0):
        return ()
    with np.errstate(all="ignore"):  # a stranger's bundle may hold 1e308
        scaled = np.log(values) if log else values
        first, low, middle, high, last = np.quantile(scaled, [_TAIL, 0.25, 0.5, 0.75, 1 - _TAIL])
        spread = min(scaled.std(), (high - low) / 1.34) or scaled.std()
        least = NARROWEST if log else NARROWEST * abs(middle)
        width = max(BANDWIDTH * spread * len(scaled) ** -0.2, least)
        start = first - 3 * width
        places = np.linspace(start if log else max(0.0, start), last + 3 * width, CURVE_POINTS)
        heights = np.exp(-0.5 * ((places[:, None] - scaled[None, :]) / width) ** 2).sum(axis=1)
        heights /= heights.max()
        places = np.exp(places) if log else places
    if not (np.isfinite(places).all() and np.isfinite(heights).all()):
        return ()
    return tuple(zip(places.tolist(), heights.tolist(), strict=True))
