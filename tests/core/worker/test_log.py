"""ORT's log, read back as lines."""

from __future__ import annotations

from pathlib import Path

from workbench.core.bundle.run import LogLine
from workbench.core.worker import log

TEXT = (
    "\x1b[0;93m2026-11-21 08:00:00.123456789 [W:onnxruntime:, graph.cc:120 Function] "
    "Unused <b>initializer</b>\x1b[m\n"
    "\n"
    "2026-11-21 08:00:00.2 [E:onnxruntime:Default, provider.cc:9 Load] "
    "Failed to load library: libcudart.so.13\n"
    "*************** EP Error ***************\n"
)


def test_lines_with_and_without_ort_format() -> None:
    assert log.parse(TEXT.replace("\x1b[0;93m", "").replace("\x1b[m", "")) == [
        LogLine("W", "Unused <b>initializer</b>"),
        LogLine("E", "Failed to load library: libcudart.so.13"),
        LogLine("", "*************** EP Error ***************"),
    ]


def test_colours_are_dropped_on_reading(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(TEXT)
    assert "\x1b" not in log.read_bounded(path)


def test_what_a_terminal_obeys_is_shown_instead(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes("\x1b]0;title\x07 \x1b[2Jname\u202e\ttab\r\nnext\rover".encode())
    assert log.read_bounded(path) == "\\x1b]0;title\\x07 \\x1b[2Jname\\u202e\ttab\nnext\nover"


def test_a_long_log_loses_its_middle_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("first\n" + "x" * (3 << 20) + "\nlast\n")
    text = log.read_bounded(path)
    assert text.startswith("first")
    assert text.endswith("last\n")
    assert "bytes left out" in text
    assert len(text) < 2 << 20


def test_a_long_line_is_cut() -> None:
    assert len(log.parse("y" * 10_000)[0].message) == log.MAX_LINE


def test_tail() -> None:
    assert log.tail("1\n2\n3\n", 2) == "2\n3"
