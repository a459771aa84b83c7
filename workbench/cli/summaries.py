"""Summaries of a gate for code hosts: Markdown for the page of a build, JUnit for its list of tests."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from workbench.cli.exit_codes import FINE, OPEN, WORSE, Check, exit_code
from workbench.text import in_mib, in_ms, one_line

if TYPE_CHECKING:
    from workbench.records.comparison import ComparisonRecord

RESULTS = {FINE: "passed", WORSE: "failed", OPEN: "open"}
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKUP = re.compile(r"([\\`*_\[\]<>|#&])")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options that write summaries."""
    command.add_argument("--markdown", metavar="FILE", type=Path, help="write a summary in Markdown")
    command.add_argument("--junit", metavar="FILE", type=Path, help="write the checks as JUnit XML")


def write_summaries(arguments: argparse.Namespace, checks: Sequence[Check], record: ComparisonRecord) -> None:
    """Write the summaries that the user named files for."""
    if arguments.markdown is not None:
        arguments.markdown.write_text(markdown(checks, record), encoding="utf-8")
    if arguments.junit is not None:
        arguments.junit.write_bytes(junit(checks, record))


def markdown(checks: Sequence[Check], record: ComparisonRecord) -> str:
    """Return the checks, the runs and the doubts; names from files are escaped."""
    lines = [f"### {_plain(record.model.name)}: {RESULTS[exit_code(checks)]}", ""]
    lines += ["| check | result | reason |", "|---|---|---|"]
    lines += [f"| {_plain(check.name)} | {RESULTS[check.code]} | {_plain(check.text)} |" for check in checks]
    lines += ["", "| run | median | load | peak memory | config |", "|---|---|---|---|---|"]
    for run in record.runs:
        config = ", ".join(f"{name}={value}" for name, value in run.config.changed().items()) or "defaults"
        cells = (in_ms(run.latency.median_s), in_ms(run.load_s), in_mib(run.peak_rss_bytes))
        figures = " | ".join(cell or "not measured" for cell in cells)
        lines.append(f"| {_plain(run.label)} | {figures} | {_plain(config)} |")
    if record.doubts:
        lines.append("")
        lines += [f"- doubt ({_plain(doubt.kind)}): {_plain(doubt.evidence)}" for doubt in record.doubts]
    return "\n".join([*lines, ""])


def junit(checks: Sequence[Check], record: ComparisonRecord) -> bytes:
    """Return a test suite with a case for each check: worse is a failure, open is an error."""
    counts = {code: sum(check.code == code for check in checks) for code in RESULTS}
    name = f"workbench {record.model.name}"
    suite = ElementTree.Element(
        "testsuite",
        name=_clean(name),
        tests=str(len(checks)),
        failures=str(counts[WORSE]),
        errors=str(counts[OPEN]),
        time=f"{record.protocol.elapsed_s:.1f}",
        timestamp=record.created_utc,
    )
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=_clean(name), name=_clean(check.name))
        kind = {WORSE: "failure", OPEN: "error"}.get(check.code)
        if kind is None:
            ElementTree.SubElement(case, "system-out").text = _clean(check.text)
        else:
            ElementTree.SubElement(case, kind, message=_clean(check.text))
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", one_line(text, 600))


def _clean(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", one_line(text, 600))
