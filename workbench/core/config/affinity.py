"""The affinity text: one list of processors for each extra intra-op thread, numbered from 1."""

from __future__ import annotations

import re

from workbench.core.errors import ConfigError
from workbench.core.text import quoted

MOST_PROCESSORS = 65536  # of one list; ranges such as 1-2000000000 would fill ORT's memory
_INTERVAL = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_EXAMPLE = (
    "Write one list for each thread but the first, processors from 1: '2;3' for 3 threads, or '1-4;5,7'."
)


def check(text: str, threads: int | None) -> None:
    """Refuse a text that ORT would refuse or ignore."""
    if threads is None:
        raise ConfigError(
            f"affinity is {quoted(text)}, but intra_op_threads is left to ORT, so it does not fit anything.",
            "Set intra_op_threads to the number of lists plus one: the first thread is the caller's.",
        )
    if threads == 1:
        raise ConfigError(
            f"affinity is {quoted(text)}, but one intra-op thread is the caller's own, which ORT never pins.",
            "Use 2 intra_op_threads or more, or leave affinity None.",
        )
    lists = text.split(";")
    for processor_list in lists:
        _ranges(processor_list)
    if len(lists) != threads - 1:
        raise ConfigError(
            f"affinity {quoted(text)} has {len(lists)} lists; {threads} intra-op threads need {threads - 1}.",
            _EXAMPLE,
        )


def _ranges(text: str) -> list[tuple[int, int]]:
    """Return the first and the last processor of each range of one list, such as "1-4,7"."""
    ranges: list[tuple[int, int]] = []
    count = 0
    for part in text.split(","):
        match = _INTERVAL.fullmatch(part)
        if match is None:
            raise ConfigError(f"affinity has {quoted(part)} where a processor or a range belongs.", _EXAMPLE)
        first = int(match[1])
        last = int(match[2] or match[1])
        count += last - first + 1
        if not 1 <= first <= last or count > MOST_PROCESSORS:
            raise ConfigError(
                f"affinity has {quoted(part)}, which is no range of processors from 1.", _EXAMPLE
            )
        ranges.append((first, last))
    return ranges


def highest(text: str) -> int:
    """Return the highest processor of an affinity text."""
    return max(last for processor_list in text.split(";") for _, last in _ranges(processor_list))
