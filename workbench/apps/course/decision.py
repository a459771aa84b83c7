"""The decision log of a lesson: three sentences of the student's own, and the rubric to judge them by."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from html import escape
from typing import Any

from workbench.apps.course.effect import OF_KIND
from workbench.apps.course.exercise import lesson_texts
from workbench.core.bundle.display import to_table
from workbench.core.errors import ConfigError
from workbench.core.text import listed, quoted

CRITERIA = {
    "numbers": "the effect with its interval, and what it was measured against",
    "cause": "why it is so, as a figure of the lesson shows it",
    "limits": "when the decision would be wrong: another model, machine, load or version",
}
_FIELD = re.compile(r"\{([^{}]*)\}")
_SAMPLES = 1_000  # letters of a sample


@dataclass(frozen=True, slots=True, repr=False)
class Rubric:
    """For each criterion a sample that earns all of it, and one that earns nothing."""

    numbers: tuple[str, str]
    cause: tuple[str, str]
    limits: tuple[str, str]

    def __repr__(self) -> str:
        rows = (f"{name}: {asks}\n  + {good}\n  - {bad}" for name, asks, good, bad in self._rows())
        return "\n".join(rows)

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [(part.name, CRITERIA[part.name], *getattr(self, part.name)) for part in fields(self)]

    def _repr_html_(self) -> str:
        heads = ("criterion", "what it asks for", "excellent", "insufficient")
        return to_table(heads, self._rows(), "Each criterion counts the same", _SAMPLES, left=True)


@dataclass(frozen=True, slots=True, repr=False)
class Decision:
    """Three sentences with the numbers of a result filled in. Made by `decision`."""

    sentences: tuple[str, str, str]

    def __repr__(self) -> str:
        return " ".join(self.sentences)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)


def decision(result: Any, *, should: str, because: str, unless: str) -> Decision:
    """Fill the numbers of a result into three sentences: "we should … because … unless …".

    In braces stands what the result says: {effect} with its interval, {low}, {high}, {model}, {processor},
    {onnxruntime}.
    """
    facts = facts_of(result)

    def fact(match: re.Match[str]) -> str:
        if match[1] not in facts:
            raise ConfigError(
                f"a result has no {quoted(match[1])}", f"write one of {listed(facts)} in braces"
            )
        return facts[match[1]]

    starts = ("We should", should), ("because", because), ("unless", unless)
    empty = [start for start, text in starts if not text.strip()]
    if empty:
        raise ConfigError(f"the sentence {listed(empty)} … is empty", "give all three in your own words")
    should, because, unless = (f"{start} {_FIELD.sub(fact, text.strip())}" for start, text in starts)
    return Decision((should, because, unless))


def facts_of(result: Any) -> dict[str, str]:
    """Return the texts that a decision may name, by their names."""
    about, effect = result.about, OF_KIND.get(result.feature.name)
    texts = {
        "model": about.model and about.model.name,
        "processor": about.machine and about.machine.cpu,
        "onnxruntime": about.versions and about.versions.onnxruntime,
    }
    if effect is not None:
        size = effect.read(result)
        ends = {"low": size.low, "high": size.high}
        texts |= {"effect": effect.words(size)} | {
            name: None if end is None else f"{end:.3g}" for name, end in ends.items()
        }
    return {name: text or "not known" for name, text in texts.items()}


def rubric(lesson: str | int) -> Rubric:
    """Return the rubric of a lesson's decision, with a good and a poor sample for each criterion.

    >>> from workbench import course
    >>> course.rubric("03").cause[1]
    'Fusions add overhead.'
    """
    texts, wanted = lesson_texts(), str(lesson).lstrip("0")
    if wanted not in texts:
        raise ConfigError(f"there is no lesson {quoted(lesson)}", f"name one of {listed(texts, None)}")
    return Rubric(**{name: tuple(samples) for name, samples in texts[wanted]["rubric"].items()})
