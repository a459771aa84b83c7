"""A matrix: every model under every config, each cell judged against the first config of its model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import counted, in_ms, one_line, shorten
from workbench.features.grid.measured import MeasuredConfig, configs_of, measured_frame
from workbench.features.grid.winner import Winner, winner_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One model under all configs, measured together. None: nothing, for the reason in `problem`."""

    model: str  # untrusted
    sha256: str | None  # None: the file could not be read
    measured: ComparisonRecord | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Cell(MeasuredConfig):
    """One model under one config."""

    model: str
    config: str

    @property
    def text(self) -> str:
        """Return what the cell says: a latency, a verdict, or why there is none."""
        if self.problem is not None:
            return one_line(self.problem)
        if self.verdict is None:
            return in_ms(None if self.run is None else self.run.latency.median_s) or "not measured"
        kind = "not settled" if self.verdict.kind == "unknown" else self.verdict.kind
        return speed_in_words(self.verdict) or kind


@dataclass(frozen=True, slots=True)
class MatrixRecord:
    """All models under all configs. The configs of a model are compared; models are not."""

    configs: tuple[Config, ...]
    rows: tuple[MatrixRow, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the label of each config."""
        return labels_of(len(self.configs))

    def cells(self, row: MatrixRow) -> tuple[Cell, ...]:
        """Return the cells of a row; a config that failed has no verdict."""
        cells = []
        for config, fields in zip(
            self.configs, configs_of(row.measured, self.labels, row.problem), strict=True
        ):
            cell = Cell(**fields, model=row.model, config=config_in_words(config))
            cells.append(cell if cell.problem is None else replace(cell, verdict=None))
        return tuple(cells)

    def winners(self) -> tuple[tuple[MatrixRow, Winner], ...]:
        """Return the fastest config of each model."""
        return tuple((row, winner_of(row.measured)) for row in self.rows)

    def sorted_by(self, label: str) -> MatrixRecord:
        """Return the matrix with the rows ordered by the speed-up under one config, the largest first."""
        index = self.labels.index(label)

        def gain(row: MatrixRow) -> tuple[bool, float]:
            cell = self.cells(row)[index]
            if index == 0:
                return cell.run is not None, -((cell.run and cell.run.latency.median_s) or 0.0)
            verdict = cell.verdict
            return (False, 0.0) if verdict is None else (verdict.is_settled, verdict.bound or 0.0)

        return MatrixRecord(self.configs, tuple(sorted(self.rows, key=gain, reverse=True)))

    @property
    def headline(self) -> str:
        """Return what was measured, and how often each config wins."""
        size = f"{counted(len(self.rows), 'model')} under {counted(len(self.configs), 'config')}"
        if len(self.configs) < 2:
            failed = sum(row.measured is None for row in self.rows)
            return f"{size}{f'; {failed} not measured' if failed else ''}"
        standings = [winner for _, winner in self.winners()]
        wins = {
            label: sum(w.standing == "clear" and w.label == label for w in standings) for label in self.labels
        }
        parts = [f"{label} wins {counted(count, 'time')}" for label, count in wins.items() if count]
        for standing in ("tie", "not settled", "not measured"):
            if count := sum(winner.standing == standing for winner in standings):
                parts.append(f"{standing}: {count}")
        return f"{size}; {', '.join(parts)}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell: latency, throughput, memory, load, verdict, and why a cell is empty."""
        return measured_frame(
            [
                {
                    "model": cell.model,
                    "label": cell.label,
                    "config": cell.config,
                    **cell.latency_cells(),
                    "runs_per_s": cell.rate().value,
                    "load_s": None if cell.run is None else cell.run.load_s,
                    "peak_rss_bytes": None if cell.run is None else cell.run.peak_rss_bytes,
                    **cell.verdict_cells(),
                    "failure": cell.problem,
                }
                for row in self.rows
                for cell in self.cells(row)
            ]
        )

    def __str__(self) -> str:
        lines = [self.headline]
        for row in self.rows:
            cells = ", ".join(f"{cell.label} {cell.text}" for cell in self.cells(row))
            text = one_line(row.problem or "") if row.measured is None else cells
            lines.append(f"  {shorten(row.model)}: {text}")
        return "\n".join(lines)
