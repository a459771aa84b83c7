"""Summaries of `workbench check`: Markdown for the page of a build, JUnit XML for its list of tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.markdown import markdown_table, without_markup
from workbench.core.measure.gates import FINE, OPEN, WORSE, Gate, exit_code
from workbench.core.text import in_mib, in_ms, one_line

RESULTS = {FINE: "passed", WORSE: "failed", OPEN: "open"}
RUN_COLUMNS = ("run", "median", "load", "peak memory", "config")
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def markdown(measured: ComparisonRecord, checks: Sequence[Gate]) -> str:
    """Return the checks, the runs and the doubts of a measurement; names from files are escaped."""
    lines = [f"### {without_markup(measured.model.name)}: {RESULTS[exit_code(checks)]}", ""]
    lines += markdown_table(
        ("check", "result", "reason"), ((c.name, RESULTS[c.code], c.text) for c in checks)
    )
    lines += ["", *markdown_table(RUN_COLUMNS, _runs(measured))]
    if measured.doubts:
        lines.append("")
        lines += [
            f"- doubt ({without_markup(doubt.kind)}): {without_markup(doubt.evidence)}"
            for doubt in measured.doubts
        ]
    return "\n".join([*lines, ""])


def junit(measured: ComparisonRecord, checks: Sequence[Gate]) -> bytes:
    """Return a test suite with a case for each check: worse is a failure, open is an error."""
    counts = {code: sum(check.code == code for check in checks) for code in RESULTS}
    name = _clean(f"workbench {measured.model.name}")
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(checks)),
        failures=str(counts[WORSE]),
        errors=str(counts[OPEN]),
        timestamp=measured.created_utc,
        time=f"{measured.protocol.elapsed_s:.1f}",
    )
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=_clean(check.name))
        kind = {WORSE: "failure", OPEN: "error"}.get(check.code)
        if kind is None:
            ElementTree.SubElement(case, "system-out").text = _clean(check.text)
        else:
            ElementTree.SubElement(case, kind, message=_clean(check.text))
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _runs(measured: ComparisonRecord) -> Iterator[tuple[str, ...]]:
    for run in measured.runs:
        config = ", ".join(f"{name}={value}" for name, value in run.config.changed().items()) or "defaults"
        cells = (in_ms(run.latency.median_s), in_ms(run.load_s), in_mib(run.peak_rss_bytes))
        yield (run.label, *(cell or "not measured" for cell in cells), config)


def _clean(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", one_line(text, 600))
