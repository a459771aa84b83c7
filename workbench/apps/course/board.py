"""The class board: everyone's guess against everyone's measured effect, from bundles alone, without names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.apps.course.effect import OF_KIND, Effect, Size
from workbench.apps.course.exercise import exercises
from workbench.apps.course.grading import Opened, open_all
from workbench.apps.course.hand_in import handed_in
from workbench.core.errors import ConfigError
from workbench.core.text import counted, listed, one_line
from workbench.drawing.chart import Axis, Chart, ChartRow, ReferenceLine, Value, series_look, value_of
from workbench.drawing.exportable import DrawnTable

GUESSES = {
    "1.b": "1.thread", "2.c": "2.level", "3.a": "3.skip", "5.a": "5.knee", "7.c": "7.signed",
    "10.a": "10.gain",
}  # fmt: skip
_MEASURED, _SELECTED, _GUESSED = map(series_look, range(3), ("measured", "when selected", "guessed"))


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One hand-in of the class: what was guessed, and what was measured."""

    guess: str | int | float | None
    size: Size
    selected: float | None  # the winner's ratio on the rounds that selected it

    @property
    def place(self) -> float:
        """The effect or, of a large one, the end that is known; 0 where nothing is."""
        return self.size.known or 0.0

    @property
    def lucky(self) -> bool:
        """Whether the selection promised a gain that fresh rounds do not confirm."""
        return self.selected is not None and self.selected > 1 and self.size.present is not True


class Board(DrawnTable):
    """All hand-ins of an exercise, the largest effect last. Made by `gather`."""

    def __init__(self, exercise: str, effect: Effect, rows: tuple[BoardRow, ...], left_out: int) -> None:
        self.exercise, self.rows, self.left_out = exercise, rows, left_out
        sentence = self._counts(effect)
        drawn = (self._drawn(number, row, effect) for number, row in enumerate(rows, 1))
        numbers = ("effect", "low", "high")
        columns = ("guess", *numbers, "present", "selected", "lucky")
        table = ((row.guess, *row.size.ends, row.size.present, row.selected, row.lucky) for row in rows)
        chart = Chart((sentence,), (Axis(effect.axis, "dot", (ReferenceLine(effect.none),)),), tuple(drawn))
        super().__init__(sentence, chart, columns, table, (*numbers, "selected"))

    @property
    def subject(self) -> str:
        return f"Exercise {self.exercise}"

    def _counts(self, effect: Effect) -> str:
        kinds = Counter(row.size.present for row in self.rows)
        text = (
            f"Exercise {self.exercise}, {counted(len(self.rows), 'hand-in')}: {effect.sentence} in "
            f"{kinds[True]}, not in {kinds[False]}, not settled in {kinds[None]}."
        )
        guesses = Counter(str(row.guess) for row in self.rows if row.guess is not None)
        if guesses:
            counts = (f"{one_line(guess, 30)} {number}" for guess, number in guesses.most_common(8))
            text += f" Guesses: {', '.join(counts)}."
        selected = [row for row in self.rows if row.selected is not None]
        if selected:
            lucky = sum(row.lucky for row in selected)
            text += f" Of {counted(len(selected), 'winner')} {lucky} were luck: fresh rounds confirm no gain."
        return text + (f" Left out: {counted(self.left_out, 'file')}." if self.left_out else "")

    def _drawn(self, number: int, row: BoardRow, effect: Effect) -> ChartRow:
        """Return the effect and, where they are on the scale, the selection and the guess."""
        values = [value_of(row.size, effect.words(row.size), _MEASURED)]
        if row.selected is not None:
            values.append(Value(row.selected, f"{row.selected:.2f}", _SELECTED))
        if self.exercise == "10.a" and isinstance(row.guess, int | float):  # a guess at the size itself
            values.append(Value(row.guess, f"{row.guess:g}", _GUESSED))
        guess = "no guess" if row.guess is None else f"guess: {one_line(str(row.guess), 24)}"
        return ChartRow(f"{number}, {guess}", (tuple(values),))


def gather(folder: str | Path, exercise: str | None = None) -> Board:
    """Read the hand-ins of an exercise below a folder; without `exercise` of the one that most are of.

    A measurement that several files hold counts once. Nothing in the board names a student.
    """
    files = open_all(Path(folder).expanduser())
    opened = [content for content in files.values() if isinstance(content, Opened)]
    drawn = {name for name, exercise in exercises().items() if exercise.evidence in OF_KIND}
    counts = Counter(file.hand_in.exercise for file in opened if file.hand_in.exercise in drawn)
    if exercise is None and not counts:
        raise ConfigError(
            "the folder holds no hand-in with a ratio", f"exercises that have one: {listed(drawn)}"
        )
    name = counts.most_common(1)[0][0] if exercise is None else handed_in(exercise)[0]
    if name not in drawn:
        raise ConfigError(f"exercise {name} measures no ratio", f"name one of {listed(sorted(drawn), None)}")
    kind = exercises()[name].evidence
    once: dict[frozenset[str], BoardRow] = {}
    for content in opened:
        if content.hand_in.exercise == name and content.result.feature.name == kind:
            known = next((marks for marks in once if marks & content.marks), content.marks)
            measured = _measured(content, name, OF_KIND[kind])
            once |= {} if measured is None else {known: measured}
    rows = sorted(once.values(), key=lambda row: row.place)
    return Board(name, OF_KIND[kind], tuple(rows), len(files) - len(rows))


def _measured(content: Opened, name: str, effect: Effect) -> BoardRow | None:
    """Return what a hand-in measured; None of a record that is whole and makes no sense."""
    record: Any = content.result.record
    selected = None
    try:
        size = effect.read(content.result)
    except Exception:  # noqa: BLE001 - of a stranger's record anything may follow
        return None
    if content.result.feature.name == "study" and record.winner != record.candidates[0].label:
        selected = record.candidate(record.winner).ratio
    return BoardRow(content.hand_in.guess(GUESSES.get(name, "")), size, selected)
