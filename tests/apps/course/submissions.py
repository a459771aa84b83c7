"""Forty files as a class hands them in: right, wrong, copied, damaged, hostile, of another lesson."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import workbench as wb
from tests.core.bundle.hostile import zipped
from tests.factories import results
from tests.factories.comparisons import drawn_run
from workbench.core.bundle.estimate import Estimate

EXPECTED = {
    "right": 16, "wrong": 6, "over budget": 2, "copied": 4, "replaced": 1, "other exercise": 3,
    "cannot be opened": 8,
}  # fmt: skip
BOMB = b'{"format": "ortbench", "version": 2, "notes": ' + b"[" * 100_000


def ablation(number: int, budget_s: float = 60.0) -> wb.Ablation:
    """A measurement of one student's own: Skip costs time."""
    record = results.ablation()
    effects = (("Gelu", "helps", 0.05), ("Skip", "hurts", -0.2))
    rows = tuple(
        replace(record.rows[0], name=name, effect=effect, ratio=Estimate(1 / (1 + worth)))  # type: ignore[arg-type]
        for name, effect, worth in effects
    )
    comparison = record.comparison
    runs = tuple(drawn_run(run.label, 0.002 + number * 1e-5) for run in comparison.runs)
    protocol = replace(comparison.protocol, budget_s=budget_s)
    comparison = replace(comparison, id=f"20261120-120000-{number:06d}", runs=runs, protocol=protocol)
    return wb.Ablation(replace(record, rows=rows, comparison=comparison))


def write(folder: Path) -> None:
    """Write the forty files below the folder, one folder of Moodle's for each student."""
    numbers = iter(range(1, 100))

    def place() -> Path:
        number = next(numbers)
        return folder / f"Student {number}_{1000 + number}_assignsubmission_file_"

    def hand_in(answer: Any, where: Path, number: int, budget_s: float = 60.0) -> Path:
        return wb.course.hand_in("03", ablation(number, budget_s), answer, folder=where).path

    for number in range(17):  # the last one twice: its first file is replaced
        where = place()
        path = hand_in("Skip", where, number)
        if number == 15:
            path.rename(where / "first try.ortbench")
            hand_in("Skip", where, 200)
        if number == 16:  # two copies of one file, and one with another answer
            for _ in range(2):
                other = place()
                other.mkdir()
                shutil.copy(path, other)
            hand_in("Gelu", place(), number)
    for number in range(20, 26):
        hand_in("Gelu" if number % 2 else "Softmax", place(), number)
    for number in range(30, 32):
        hand_in("Skip", place(), number, 90.0)
    for number in range(40, 43):
        threads = wb.Threads(results.threads(), replace(results.about(), id=f"threads-{number}"))
        wb.course.hand_in("05", threads, 1, folder=place())
    good = hand_in("Skip", place(), 50)
    whole = good.read_bytes()
    with zipfile.ZipFile(good) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    good.write_bytes(whole[: len(whole) // 2])
    note = members["manifest.json"].replace(b"Skip", b"Skip\\\\u0000")
    hostile = (
        b"",
        b"\x80\x04cos\nsystem\n(S'touch executed'\ntR.",
        zipped({**members, "../../executed.py": b"print()"}),
        zipped({"manifest.json": BOMB, "record.json": b"{}"}),
        zipped({**members, "manifest.json": note.replace(b"3.a", b"9.z")}),
        zipped({**members, "numbers.npy": members["numbers.npy"][:-8]}),
    )
    for blob in hostile:
        where = place()
        where.mkdir()
        (where / "exercise-3a.ortbench").write_bytes(blob)
    where = place()
    where.mkdir()
    (where / "link.ortbench").symlink_to("/dev/zero")
