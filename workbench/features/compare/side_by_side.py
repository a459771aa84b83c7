"""Results of all runs of a comparison as one: tables, sections and charts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.run import Run
from workbench.core.measure.percentiles import percentiles
from workbench.core.text import factor_ends, in_brackets, in_mib, in_ms
from workbench.drawing.chart import percent, run_look
from workbench.drawing.palette import TEXT
from workbench.drawing.words import plain
from workbench.features.accuracy.record import AccuracyRecord

if TYPE_CHECKING:
    import plotly.graph_objects as go

TIMED, EVALUATED = "the timed inputs", "the evaluation"


@dataclass(frozen=True, slots=True)
class Standing:
    """One config. None: unknown; `speedup` is the baseline's time over this config's."""

    label: str
    config: str
    median_s: Estimate  # from its own processes; the speed-up's interval is paired and narrower
    speedup: Estimate
    verdict: str | None  # None: the baseline
    file_bytes: int | None
    peak_rss_bytes: int | None
    accuracy: Estimate
    lost: Estimate  # accuracy change from the baseline on the same items; negative: lost
    error: float | None  # rms error of the worst output over the baseline's rms; infinite: no finite size
    error_from: str | None
    problem: str | None
    best: bool  # no other config is both faster and more accurate; False also if the speed-up is unknown

    @property
    def bound(self) -> float | None:
        """Return the speed-up or, of a large effect whose size is open, the end that is known."""
        return self.speedup.known

    @property
    def is_told(self) -> bool:
        """Return whether the interval of the speed-up is conclusive."""
        return self.verdict in ("faster", "slower", "tie")


def standings(record: ComparisonRecord, accuracy: AccuracyRecord | None) -> tuple[Standing, ...]:
    """Return all configs, the baseline first."""
    verdicts = {verdict.label: verdict for verdict in record.verdicts}
    rows = []
    for run in record.runs:
        verdict = verdicts.get(run.label)
        (middle,) = percentiles(run, (50.0,))
        scored = accuracy.score(run.label) if accuracy is not None else None
        score, gap = (scored.score, scored.against) if scored else (None, None)
        error, error_from = _error(record, accuracy, run.label)
        trusted = verdict is None or verdict.kind != "outputs differ"
        rows.append(
            Standing(
                label=run.label,
                config=config_in_words(run.config),
                median_s=Estimate(run.latency.median_s, middle.low, middle.high),
                speedup=Estimate(1.0) if verdict is None else Estimate.of(verdict if trusted else None),
                verdict=verdict.kind if verdict else None,
                file_bytes=_file_bytes(record, run),
                peak_rss_bytes=run.peak_rss_bytes,
                accuracy=Estimate.of(score),
                lost=Estimate.of(gap),
                error=error,
                error_from=error_from,
                problem=run.failure.problem if run.failure else (scored.problem if scored else None),
                best=False,
            )
        )
    return _with_best(rows)


def precision_frame(record: ComparisonRecord, accuracy: AccuracyRecord | None) -> DataFrame:
    """Return one row per config; column names contain the units."""
    rows = [
        {
            "label": row.label,
            "config": row.config,
            **row.median_s.times(1e3).cells("median", "_ms"),
            **row.speedup.cells("speedup"),
            "verdict": row.verdict,
            "file_bytes": row.file_bytes,
            "peak_rss_bytes": row.peak_rss_bytes,
            **row.accuracy.cells("accuracy"),
            **row.lost.cells("lost"),
            "error": row.error,
            "error_from": row.error_from,
            "problem": row.problem,
            "best": row.best,
        }
        for row in standings(record, accuracy)
    ]
    others = ("label", "config", "verdict", "file_bytes", "peak_rss_bytes", "error_from", "problem", "best")
    floats = dict.fromkeys((name for name in rows[0] if name not in others), "float64")
    return data_frame(rows).astype({**floats, "file_bytes": "Int64", "peak_rss_bytes": "Int64"})


def _with_best(rows: list[Standing]) -> tuple[Standing, ...]:
    """Mark the Pareto front: rows that no other row beats in both speed and accuracy."""

    def beats(row: Standing, other: Standing) -> bool:
        ours, theirs = _badness(row), _badness(other)
        if ours is None or theirs is None or row.bound is None or other.bound is None:
            return False
        at_least = row.bound >= other.bound and ours <= theirs
        return at_least and (row.bound > other.bound or ours < theirs)

    known = [
        row
        for row in rows
        if row.bound is not None and row.verdict != "unknown" and _badness(row) is not None
    ]
    return tuple(
        replace(row, best=row in known and not any(beats(other, row) for other in known)) for row in rows
    )


def _badness(row: Standing) -> float | None:
    """Return the lost accuracy if known, else the error; None for the baseline."""
    if row.accuracy.value is not None:
        return -row.accuracy.value
    if row.verdict is None:
        return 0.0
    return row.error if row.error is not None and math.isfinite(row.error) else None


def _error(
    record: ComparisonRecord, accuracy: AccuracyRecord | None, label: str
) -> tuple[float | None, str | None]:
    if accuracy is not None and label in accuracy.labels:
        error = accuracy.error(label)
        return error, None if error is None else EVALUATED
    rows = [row for row in record.agreement if row.label == label]
    noise = [row.sqnr_db for row in rows]
    known = [10 ** (-db / 20) for db in noise if db is not None]
    if rows and all(row.max_abs_error == 0 for row in rows):
        return 0.0, TIMED
    return (max(known), TIMED) if known else (None, None)


def _file_bytes(record: ComparisonRecord, run: Run) -> int | None:
    """Return the size of the file that ORT loaded, with its weights."""
    if run.preparation is not None:
        return run.preparation.file_bytes
    return None if run.failure else record.model.graph_bytes + record.model.external_bytes


PLOT = 380


def precision_figure(record: ComparisonRecord, accuracy: AccuracyRecord | None = None) -> go.Figure:
    """Draw speed to the right and accuracy up. The line joins configs that no other beats in both."""
    from workbench.drawing.template import error_bars, new_figure, set_title

    rows = standings(record, accuracy)
    by_score = any(row.accuracy.value is not None for row in rows)
    figure = new_figure()
    edge = sorted((row for row in rows if row.best), key=lambda row: row.speedup.value or 0.0)
    points = [(row.speedup.value, _height(row, by_score)) for row in edge]
    figure.add_scatter(
        x=[x for x, _ in points], y=[y for _, y in points], mode="lines", name="not beaten in both",
        line={"color": TEXT, "dash": "dot", "width": 1}, hoverinfo="skip",
    )  # fmt: skip
    for index, row in enumerate(rows):
        height, style = _height(row, by_score), run_look(index)
        if row.speedup.value is None or height is None:
            continue
        speed = (row.speedup.low, row.speedup.value, row.speedup.high)
        score = (percent(row.accuracy.low), height, percent(row.accuracy.high))
        figure.add_scatter(
            x=[row.speedup.value], y=[height], mode="markers+text",
            name=plain(f"{row.label} {row.config}", 60), text=[plain(row.label)],
            textposition="top center", textfont={"color": TEXT},
            marker={"color": style.color, "symbol": _symbol(row, style.symbol), "size": 12},
            error_x=error_bars([speed], thickness=1.5, color=style.color) if row.is_told else None,
            error_y=error_bars([score], thickness=1.5, color=style.color) if by_score else None,
            hovertemplate=f"{plain('; '.join(filter(None, _cells(row))), 400)}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title_text="speed-up over A (A's time over its own)")
    if by_score:
        figure.update_yaxes(title_text=f"{plain(accuracy.metric or '') if accuracy else ''} (%)")
    else:
        figure.update_yaxes(title_text="error of the worst output (%), up is better", autorange="reversed")
    sentences = [f"{record.model.name}: speed against {'accuracy' if by_score else 'error'}"]
    return set_title(figure, sentences, _note(rows, accuracy), PLOT)


def _cells(row: Standing) -> tuple[str, ...]:
    speed = "" if row.speedup.value is None else row.speedup.factor
    if row.is_told:
        speed += factor_ends(row.speedup.low, row.speedup.high)
    if row.verdict in ("unknown", "outputs differ"):
        speed = f"{speed} {row.verdict}".strip()
    median = row.median_s.times(1e3)
    took = in_ms(row.median_s.value) or ""
    if took:
        took += in_brackets(median.low, median.high, ".3g")
    share = row.accuracy.times(100)
    score = "" if share.value is None else f"{share.value:.4g} %{in_brackets(share.low, share.high, '.3g')}"
    return (
        f"{row.label} {row.config}",
        row.problem or took,
        speed,
        in_mib(row.file_bytes) or "",
        in_mib(row.peak_rss_bytes) or "",
        "" if row.error is None else f"{row.error * 100:.2g} %",
        score,
    )


def _height(row: Standing, by_score: bool) -> float | None:
    if by_score:
        return percent(row.accuracy.value)
    if row.verdict is None:
        return 0.0
    return None if row.error == float("inf") else percent(row.error)


def _symbol(row: Standing, symbol: str) -> str:
    """Return the symbol, hollow where the speed-up is unknown."""
    return symbol if row.verdict is None or row.is_told else f"{symbol}-open"


def _note(rows: tuple[Standing, ...], accuracy: AccuracyRecord | None) -> str:
    open_ended = [row.label for row in rows if row.speedup.value is None and row.is_told and not row.problem]
    missing = [row.label for row in rows if row.speedup.value is None or row.problem]
    missing = [label for label in missing if label not in open_ended]
    sources = sorted({row.error_from for row in rows if row.error_from})
    parts = [f"errors are of {' and '.join(sources)}"] if sources else []
    if accuracy is not None:
        parts.append(f"{accuracy.data.item_count:,} items of {accuracy.data.made_by}")
    unknown = [row.label for row in rows if row.verdict == "unknown" and row.speedup.value is not None]
    if unknown:
        parts.append(f"hollow, since the speed-up is not settled: {', '.join(unknown)}")
    if open_ended:
        parts.append(f"not drawn, since the size of the speed-up is open: {', '.join(open_ended)}")
    if missing:
        parts.append(f"not drawn, since not measured or computing something else: {', '.join(missing)}")
    return "; ".join(parts)
