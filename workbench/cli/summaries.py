"""Summaries of a command for code hosts: Markdown for the page of a build, JUnit for its list of tests."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from workbench.cli.checks import FINE, OPEN, WORSE, Check, exit_code
from workbench.cli.subject import save
from workbench.records.comparison import ComparisonRecord
from workbench.text import in_mib, in_ms, one_line

if TYPE_CHECKING:
    import pandas as pd

    from workbench.records.comparison import Doubt

RESULTS = {FINE: "passed", WORSE: "failed", OPEN: "open"}
MOST_ROWS = 60
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKUP = re.compile(r"([\\`*_\[\]<>|#&])")


@dataclass(frozen=True, slots=True)
class Summary:
    """What a command found: the checks, a table, the doubts. All texts may come from model files."""

    subject: str
    checks: tuple[Check, ...]
    frame: pd.DataFrame
    created_utc: str
    elapsed_s: float | None = None
    doubts: tuple[Doubt, ...] = ()


def finish(arguments: argparse.Namespace, result: Any, checks: Iterable[Check]) -> int:
    """Save a result and its summaries if the user named files, and return the exit code of the checks."""
    made = tuple(checks)
    save(result, arguments)
    if arguments.markdown is not None:
        arguments.markdown.write_text(markdown(summary_of(result, made)), encoding="utf-8")
    if arguments.junit is not None:
        arguments.junit.write_bytes(junit(summary_of(result, made)))
    return exit_code(made)


def summary_of(result: Any, checks: tuple[Check, ...]) -> Summary:
    """Return the summary of a result."""
    record = getattr(result.record, "measured", result.record)
    if isinstance(record, ComparisonRecord):
        doubts, elapsed_s = record.doubts, record.protocol.elapsed_s
    else:
        doubts, elapsed_s = (), None
    frame = runs_frame(result.record) if isinstance(result.record, ComparisonRecord) else result.to_frame()
    return Summary(result.subject, checks, frame, result.about.created_utc, elapsed_s, doubts)


def markdown(summary: Summary) -> str:
    """Return the checks, the table and the doubts; names from files are escaped."""
    checks = summary.checks
    lines = [f"### {_plain(summary.subject)}: {RESULTS[exit_code(checks)]}", ""]
    lines += _rows(("check", "result", "reason"), ((c.name, RESULTS[c.code], c.text) for c in checks))
    shown = summary.frame.head(MOST_ROWS)
    present = shown.astype(object).where(shown.notna(), None)
    lines += ["", *_rows(list(map(str, present)), present.itertuples(index=False, name=None))]
    if len(summary.frame) > MOST_ROWS:
        lines += ["", f"The first {MOST_ROWS} of {len(summary.frame):,} rows."]
    if summary.doubts:
        lines.append("")
        lines += [f"- doubt ({_plain(doubt.kind)}): {_plain(doubt.evidence)}" for doubt in summary.doubts]
    return "\n".join([*lines, ""])


def junit(summary: Summary) -> bytes:
    """Return a test suite with a case for each check: worse is a failure, open is an error."""
    checks = summary.checks
    counts = {code: sum(check.code == code for check in checks) for code in RESULTS}
    name = _clean(f"workbench {summary.subject}")
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(checks)),
        failures=str(counts[WORSE]),
        errors=str(counts[OPEN]),
        timestamp=summary.created_utc,
    )
    if summary.elapsed_s is not None:
        suite.set("time", f"{summary.elapsed_s:.1f}")
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=_clean(check.name))
        kind = {WORSE: "failure", OPEN: "error"}.get(check.code)
        if kind is None:
            ElementTree.SubElement(case, "system-out").text = _clean(check.text)
        else:
            ElementTree.SubElement(case, kind, message=_clean(check.text))
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def runs_frame(record: ComparisonRecord) -> pd.DataFrame:
    """Return a row for each run, in the words that people read."""
    import pandas as pd

    rows = []
    for run in record.runs:
        config = ", ".join(f"{name}={value}" for name, value in run.config.changed().items()) or "defaults"
        cells = (in_ms(run.latency.median_s), in_ms(run.load_s), in_mib(run.peak_rss_bytes))
        rows.append((run.label, *(cell or "not measured" for cell in cells), config))
    return pd.DataFrame(rows, columns=["run", "median", "load", "peak memory", "config"])


def _rows(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    lines = [f"| {' | '.join(map(_plain, heads))} |", f"|{'---|' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(map(_cell, row))} |" for row in rows)]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else _plain(str(value))


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", one_line(text, 600))


def _clean(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", one_line(text, 600))
