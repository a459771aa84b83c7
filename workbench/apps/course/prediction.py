"""A guess that is kept before the measured value is displayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from workbench.apps.course.exercise import is_number
from workbench.apps.course.progress import Guess, check_name, lesson_of, progress, save
from workbench.core.errors import ConfigError, WorkbenchError
from workbench.core.html_table import facts_table
from workbench.core.text import listed, quoted

if TYPE_CHECKING:
    import ipywidgets as W

SINGULAR = {  # of units that are counted: 1 pass; others stay as they are
    "nodes": "node", "partitions": "partition", "passes": "pass", "points": "point", "providers": "provider",
    "threads": "thread",
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Predicted:
    """A guess beside the measured value."""

    guess: float | str | None
    measured: float | str | None  # None: not measured, so the guess stays open
    unit: str
    source: str = "measured here"

    def __repr__(self) -> str:
        if self.measured is None:
            return "Not measured yet, so your guess stays open: give more time and run the cells again."
        measured = _with_unit(self.measured, self.unit)
        if self.guess is None:
            return f"{self.source.capitalize()}: {measured}. You kept no guess this time."
        start = f"You guessed {_with_unit(self.guess, self.unit)}; {self.source}: {measured}."
        if isinstance(self.guess, str) or isinstance(self.measured, str):
            return f"{start} {'As you guessed.' if self.guess == self.measured else 'Not as you guessed.'}"
        if self.guess == self.measured:
            return f"{start} Exactly right."
        low, high = sorted((self.guess, self.measured))
        ratio = f"{high / low:.3g}" if low > 0 else "1"
        times = "" if ratio == "1" else f"{ratio} times "
        return f"{start} The guess is {times}too {'high' if self.guess == high else 'low'}."

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


@dataclass(repr=False)
class Prediction:
    """The reader's guess at a question. Made by `predict`; a widget in Jupyter, a plain value elsewhere."""

    name: str
    question: str
    choices: tuple[str, ...]
    unit: str
    own: float | str | None = None  # the guess of this session, where none can be kept

    @property
    def value(self) -> float | str | None:
        """The kept guess, or None."""
        guess = progress().guess(self.name)
        return self.own if guess is None else guess.value

    @property
    def is_final(self) -> bool:
        """Whether the measured value was displayed, so that the guess cannot change."""
        guess = progress().guess(self.name)
        return self.name in progress().displayed or (guess is not None and guess.revealed)

    def keep(self, value: float | str) -> None:
        """Keep a guess; a ConfigError once the measured value was displayed."""
        checked = self._checked(value)
        if self.is_final and checked != self.value:
            fix = f"to guess anew, forget the lesson's guesses: wb.course.reset({lesson_of(self.name)!r})"
            raise ConfigError(self._status(), fix)
        self.own = checked
        save(progress().with_guess(Guess(self.name, checked, self.is_final)))

    def against(self, measured: float | str | None, source: str = "measured here") -> Predicted:
        """Return the guess, or none, beside the measured value; final then, unless nothing was measured.

        `source` says where the value is from, if it is not measured: "predicted by a table".
        """
        value, kept = self.value, progress()
        if measured is not None and not self.is_final:
            unguessed = replace(kept, displayed=(*kept.displayed, self.name))
            save(unguessed if value is None else kept.with_guess(Guess(self.name, value, True)))
        return Predicted(value, measured, self.unit, source)

    def widget(self) -> W.VBox:
        """Return a field for the guess with a button that keeps it."""
        import ipywidgets as W

        question, status = W.HTML(f"<b>{escape(self.question)}</b>"), W.HTML(escape(self._status()))
        field: Any = W.FloatText(description=self.unit or "guess")
        if self.choices:
            field = W.Dropdown(options=self.choices, description="guess")
        kept = self.value  # may be of an older version of the lesson, with other choices
        if kept in self.choices or not (self.choices or kept is None or isinstance(kept, str)):
            field.value = kept
        button = W.Button(description="Keep my guess", disabled=self.is_final)

        def keep(_: object) -> None:
            try:
                self.keep(field.value)
                status.value = escape(self._status())
            except WorkbenchError as error:
                status.value = f"<pre>{escape(str(error))}</pre>"

        button.on_click(keep)
        return W.VBox([question, W.HBox([field, button]), status])

    def _status(self) -> str:
        kept = "No guess yet." if self.value is None else f"Kept: {_with_unit(self.value, self.unit)}."
        return f"{kept} This is final: the answer was displayed." if self.is_final else kept

    def _checked(self, value: object) -> float | str:
        if self.choices:
            if value not in self.choices:
                raise ConfigError(f"{quoted(value)} is no choice", f"choose one of {listed(self.choices)}")
            return str(value)
        if not is_number(value):
            raise ConfigError(f"{quoted(value)} is no number", "guess a number, such as 5 or 0.5")
        return value

    def __repr__(self) -> str:
        return f"{self.question} {self._status()}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The widget for a live page, the question as a table for a page without a kernel."""
        live: dict[str, Any] = dict(self.widget()._repr_mimebundle_())
        return {**live, "text/plain": str(self), "text/html": facts_table([(self.question, self._status())])}


def predict(
    question: str, value: float | str | None = None, *, name: str, choices: Sequence[str] = (), unit: str = ""
) -> Prediction:
    """Ask for a guess. In Jupyter the last line of a cell displays a field; elsewhere give `value`.

    >>> from workbench import course
    >>> course.predict("How many nodes?", name="doctest.nodes").unit
    ''
    """
    prediction = Prediction(check_name(name), question, tuple(choices), unit)
    if value is not None:
        prediction.keep(value)
    return prediction


def _with_unit(value: float | str, unit: str) -> str:
    text = value if isinstance(value, str) else format(value, ",.0f" if 1e4 <= abs(value) < 1e15 else ",.4g")
    return f"{text} {SINGULAR.get(unit, unit) if text == '1' else unit}".strip()
