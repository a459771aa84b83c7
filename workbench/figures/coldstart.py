"""From nothing to the first answer, step by step, and the memory after each: a bar a way of starting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.analysis.cold_start import ColdStartRecord
from workbench.figures.palette import PALE, STRONG, TEXT
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain
from workbench.text import in_ms

_PATTERNS = ("", "/", "x", "-", "\\", ".", "+")
_COLORS = (*STRONG, *PALE)
STEADY = "steady run"
MIB = 1 << 20
BAR_PIXELS, GAP_PIXELS = 46, 62


@dataclass(frozen=True, slots=True)
class StartBars:
    """A row a config, and one more where its graph was also saved ahead. None: not known."""

    names: tuple[str, ...]
    steps: tuple[tuple[str, tuple[float | None, ...]], ...]  # (step, ms a row)
    memory: tuple[tuple[str, tuple[float | None, ...]], ...]  # (stage, MiB that it added a row)


def cold_start_data(starts: Sequence[ColdStartRecord]) -> StartBars:
    """Loading a graph saved ahead is one step: nothing is optimized then."""
    names: list[str] = []
    rows: list[dict[str, float | None]] = []
    sizes: list[dict[str, int | None]] = []
    for start in starts:
        names.append(start.label)
        rows.append(dict(start.steps))
        sizes.append(_added(start.resident()))
        if start.saved_ahead:
            names.append(f"{start.label}, saved ahead")
            rows.append(_ahead(start))
            sizes.append(_added(start.resident("saved_ahead")))
    steps = [name for name, _ in starts[0].steps if name != STEADY] if starts else []
    stages = [name for name, _ in starts[0].resident()] if starts else []
    return StartBars(
        tuple(names),
        tuple((step, tuple(_ms(row[step]) for row in rows)) for step in steps),
        tuple((stage, tuple(_mib(row[stage]) for row in sizes)) for stage in stages),
    )


def cold_start_figure(starts: Sequence[ColdStartRecord]) -> go.Figure:
    """Time above, memory below; the steady run stands in the note, since it is no part of starting."""
    data = cold_start_data(starts)
    figure = make_subplots(
        rows=2, cols=1, vertical_spacing=GAP_PIXELS / (190 + 2 * BAR_PIXELS * len(data.names))
    )
    styles = {"process start": 0, "import": 1, "read": 2, "load": 2, "optimize": 3, "prepack": 4,
              "first run": 5, STEADY: 6}  # fmt: skip
    shown: set[str] = set()
    for row, table, unit in ((1, data.steps, "ms"), (2, data.memory, "MiB")):
        for name, values in table:
            if all(value is None for value in values):
                continue
            legend = "read or load" if name in ("read", "load") else name
            figure.add_trace(
                go.Bar(
                    x=values,
                    y=[plain(each) for each in data.names],
                    name=legend,
                    legendgroup=legend,
                    showlegend=legend not in shown,
                    orientation="h",
                    marker={
                        "color": _COLORS[styles[name]],
                        "pattern": {"shape": _PATTERNS[styles[name]]},
                        "line": {"color": TEXT, "width": 1},
                    },
                    hovertemplate=f"{name}: %{{x:,.4g}} {unit}<extra>%{{y}}</extra>",
                ),
                row=row,
                col=1,
            )
            shown.add(legend)
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title_text="time since the process was asked for (ms)", row=1, col=1)
    figure.update_xaxes(title_text="resident memory, what each stage added (MiB)", row=2, col=1)
    figure.update_yaxes(autorange="reversed")
    steady = [dict(start.steps)[STEADY] or 0.0 for start in starts]
    note = "once steady, a run takes " + " and ".join(str(in_ms(seconds)) for seconds in steady)
    return set_title(
        apply(figure), [_told(start) for start in starts], note, 190 + 2 * BAR_PIXELS * len(data.names)
    )


def _told(start: ColdStartRecord) -> str:
    head, _, rest = str(start).partition(", ")
    return f"{head}; {rest}" if rest else head


def _added(resident: tuple[tuple[str, int | None], ...]) -> dict[str, int | None]:
    """What each stage added; memory that a stage gave back counts as nothing added."""
    found: dict[str, int | None] = {}
    before: int | None = 0
    for stage, size in resident:
        found[stage] = None if size is None or before is None else max(0, size - before)
        before = size if before is None or (size is not None and size > before) else before
    return found


def _ahead(start: ColdStartRecord) -> dict[str, float | None]:
    """Loading is one step then: nothing is optimized."""
    fields = (
        ("process start", "process_s"),
        ("import", "import_s"),
        ("read", "load_s"),
        ("first run", "first_run_s"),
    )
    found: dict[str, float | None] = {"optimize": None, "prepack": None}
    for step, field in fields:
        found[step] = median(getattr(each, field) for each in start.saved_ahead)
    return found


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _mib(size: int | None) -> float | None:
    return None if size is None else size / MIB
