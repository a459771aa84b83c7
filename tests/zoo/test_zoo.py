"""Every call on small trained models of other people, unpacked by `.ci/run`: it works, or says what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.zoo import CALLS, NEVER, cell, files, name_of

pytestmark = [pytest.mark.real, pytest.mark.slow]

WHOLE = ("magika", "silero_vad")  # with every call; others with FEW
FEW = ("inputs", "measure", "explain", "dynamic int8", "static int8", "static int8, QOperator")
NO_DECODER = ("No input takes tokens", "cannot go on")
MAY_REFUSE = (
    "dynamic int8",
    "static int8",
    "static int8, QOperator",
    "float16",
    "4-bit weights",
    "layer errors",
)


def found() -> list[Path]:
    folder = os.environ.get("WORKBENCH_ZOO")
    return files(Path(folder)) if folder else []


CELLS = [
    pytest.param(path, call, id=f"{name_of(path)}-{call}")
    for path in found()
    for call in (CALLS if name_of(path) in WHOLE else FEW)
]


@pytest.mark.parametrize(("path", "call"), CELLS)
def test_a_call_works_or_says_why_and_what_to_do(path: Path, call: str) -> None:
    made = cell(path, call)
    assert not any(word in made.outcome for word in NEVER), made
    assert made.works or made.fix, made
    if call == "decode":
        assert any(reason in made.outcome for reason in NO_DECODER), made
    elif call not in MAY_REFUSE:
        assert made.works, made


def test_the_zoo_is_there_in_continuous_integration() -> None:
    if not os.environ.get("CI") and not found():
        pytest.skip("WORKBENCH_ZOO names no folder with the packages of benchmarks/zoo.py")
    assert {path.stem for path in found()} >= {"model", "silero_vad", "ch_PP-OCRv4_rec_infer"}
