"""Speed against accuracy with a point for each config."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from workbench.core.text import factor, factor_ends, in_brackets, in_mib, in_ms
from workbench.drawing.chart import milliseconds, percent, run_look
from workbench.drawing.palette import TEXT
from workbench.drawing.template import error_bars, new_figure, set_title
from workbench.drawing.words import plain
from workbench.features.compare.side_by_side import Standing, standings

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord
    from workbench.features.accuracy.record import AccuracyRecord

PLOT = 380


def precision_figure(record: ComparisonRecord, accuracy: AccuracyRecord | None = None) -> go.Figure:
    """Draw speed to the right and accuracy up. The line joins configs that no other beats in both."""
    rows = standings(record, accuracy)
    by_score = any(row.accuracy is not None for row in rows)
    figure = new_figure()
    edge = sorted((row for row in rows if row.best), key=lambda row: row.speedup or 0.0)
    points = [(row.speedup, _height(row, by_score)) for row in edge]
    figure.add_scatter(
        x=[x for x, _ in points], y=[y for _, y in points], mode="lines", name="not beaten in both",
        line={"color": TEXT, "dash": "dot", "width": 1}, hoverinfo="skip",
    )  # fmt: skip
    for index, row in enumerate(rows):
        height, style = _height(row, by_score), run_look(index)
        if row.speedup is None or height is None:
            continue
        speed = (row.speedup_low, row.speedup, row.speedup_high)
        score = (percent(row.accuracy_low), height, percent(row.accuracy_high))
        figure.add_scatter(
            x=[row.speedup], y=[height], mode="markers+text", name=plain(f"{row.label} {row.config}", 60),
            text=[plain(row.label)], textposition="top center", textfont={"color": TEXT},
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
    ends = row.speedup_low, row.speedup_high
    speed = "" if row.speedup is None else factor(row.speedup, *ends)
    if row.is_told:
        speed += factor_ends(*ends)
    if row.verdict in ("unknown", "outputs differ"):
        speed = f"{speed} {row.verdict}".strip()
    took = in_ms(row.median_s) or ""
    if took:
        took += in_brackets(milliseconds(row.median_low_s), milliseconds(row.median_high_s), ".3g")
    score = "" if row.accuracy is None else f"{row.accuracy * 100:.4g} %"
    score += in_brackets(percent(row.accuracy_low), percent(row.accuracy_high), ".3g")
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
        return percent(row.accuracy)
    if row.verdict is None:
        return 0.0
    return None if row.error == float("inf") else percent(row.error)


def _symbol(row: Standing, symbol: str) -> str:
    """Return the symbol, hollow where the speed-up is unknown."""
    return symbol if row.verdict is None or row.is_told else f"{symbol}-open"


def _note(rows: tuple[Standing, ...], accuracy: AccuracyRecord | None) -> str:
    open_ended = [row.label for row in rows if row.speedup is None and row.is_told and not row.problem]
    missing = [row.label for row in rows if row.speedup is None or row.problem]
    missing = [label for label in missing if label not in open_ended]
    sources = sorted({row.error_from for row in rows if row.error_from})
    parts = [f"errors are of {' and '.join(sources)}"] if sources else []
    if accuracy is not None:
        parts.append(f"{accuracy.data.item_count:,} items of {accuracy.data.made_by}")
    unknown = [row.label for row in rows if row.verdict == "unknown" and row.speedup is not None]
    if unknown:
        parts.append(f"hollow, since the speed-up is not settled: {', '.join(unknown)}")
    if open_ended:
        parts.append(f"not drawn, since the size of the speed-up is open: {', '.join(open_ended)}")
    if missing:
        parts.append(f"not drawn, since not measured or computing something else: {', '.join(missing)}")
    return "; ".join(parts)
