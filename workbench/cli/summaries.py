"""Summaries of a command for code hosts: Markdown for the page of a build, JUnit for its list of tests."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from workbench.cli.checks import FINE, OPEN, WORSE, Check, exit_code
from workbench.cli.subject import save
from workbench.records.comparison import ComparisonRecord
from workbench.text import in_mib, in_ms, one_line

if TYPE_CHECKING:
    import pandas as pd

RESULTS = {FINE: "passed", WORSE: "failed", OPEN: "open"}
MOST_ROWS = 60
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKUP = re.compile(r"([\\`*_\[\]<>|#&])")


def finish(arguments: argparse.Namespace, result: Any, checks: Iterable[Check]) -> int:
    """Save a result and its summaries if the user named files, and return the exit code of the checks."""
    made = tuple(checks)
    save(result, arguments)
    if arguments.markdown is not None:
        arguments.markdown.write_text(markdown(result, made), encoding="utf-8")
    if arguments.junit is not None:
        arguments.junit.write_bytes(junit(result, made))
    return exit_code(made)


def markdown(result: Any, checks: Sequence[Check]) -> str:
    """Return the checks, the table and the doubts of a result; names from files are escaped."""
    frame = runs_frame(result.record) if isinstance(result.record, ComparisonRecord) else result.to_frame()
    lines = [f"### {_plain(result.subject)}: {RESULTS[exit_code(checks)]}", ""]
    lines += _rows(("check", "result", "reason"), ((c.name, RESULTS[c.code], c.text) for c in checks))
    shown = frame.head(MOST_ROWS)
    present = shown.astype(object).where(shown.notna(), None)
    lines += ["", *_rows(list(map(str, present)), present.itertuples(index=False, name=None))]
    if len(frame) > MOST_ROWS:
        lines += ["", f"The first {MOST_ROWS} of {len(frame):,} rows."]
    measured = _measured(result)
    if measured is not None and measured.doubts:
        lines.append("")
        lines += [f"- doubt ({_plain(doubt.kind)}): {_plain(doubt.evidence)}" for doubt in measured.doubts]
    return "\n".join([*lines, ""])


def junit(result: Any, checks: Sequence[Check]) -> bytes:
    """Return a test suite with a case for each check: worse is a failure, open is an error."""
    counts = {code: sum(check.code == code for check in checks) for code in RESULTS}
    name = _clean(f"workbench {result.subject}")
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(checks)),
        failures=str(counts[WORSE]),
        errors=str(counts[OPEN]),
        timestamp=result.about.created_utc,
    )
    measured = _measured(result)
    if measured is not None:
        suite.set("time", f"{measured.protocol.elapsed_s:.1f}")
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=_clean(check.name))
        kind = {WORSE: "failure", OPEN: "error"}.get(check.code)
        if kind is None:
            ElementTree.SubElement(case, "system-out").text = _clean(check.text)
        else:
            ElementTree.SubElement(case, kind, message=_clean(check.text))
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _measured(result: Any) -> ComparisonRecord | None:
    """Return the runs that a result is or holds."""
    record = getattr(result.record, "measured", result.record)
    return record if isinstance(record, ComparisonRecord) else None


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
