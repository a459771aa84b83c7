"""Records as small HTML tables. Every text in them may be a stranger's, so every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from workbench.text import in_mib, in_ms, one_line

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.records.run import Run

_LONGEST = 200  # letters in a cell: a name can be a megabyte
ABSENT = "not known"


def to_table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """An HTML table; None is shown as absent."""
    head = "".join(f"<th>{escape(title)}</th>" for title in heads)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return (
        f"<table><caption>{escape(one_line(caption, _LONGEST))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def config_in_words(config: Config) -> str:
    """What was set, shortly."""
    changes = type(config)().diff(config).changes
    return ", ".join(f"{change.what} {change.after}" for change in changes) or "ORT told nothing"


def runs_to_html(runs: Iterable[Run], caption: str) -> str:
    """A row a run."""
    heads = ("", "config", "median", "samples", "load", "first run", "peak memory", "providers", "failure")
    rows = [
        (
            run.label,
            config_in_words(run.config),
            in_ms(run.latency.median_s),
            len(run.latency.samples_s),
            in_ms(run.load_s),
            in_ms(run.first_run_s),
            in_mib(run.peak_rss_bytes),
            ", ".join(run.providers) or None,
            run.failure.problem if run.failure else "",
        )
        for run in runs
    ]
    return to_table(heads, rows, caption)


def _cell(value: object) -> str:
    return ABSENT if value is None else escape(one_line(str(value), _LONGEST))
