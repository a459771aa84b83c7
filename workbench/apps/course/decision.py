"""The decision log of a lesson: three sentences of the student's own, and the rubric to judge them by."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from workbench.apps.course.effect import OF_KIND
from workbench.apps.course.exercise import lesson_texts
from workbench.core.errors import ConfigError
from workbench.core.html_table import html_table
from workbench.core.text import listed, quoted

_FIELD = re.compile(r"\{([^{}]*)\}")


class Rubric(dict[str, tuple[str, ...]]):
    """By criterion what it asks for, a sample that earns all of it, and one that earns nothing."""

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {asks}\n  + {good}\n  - {bad}" for name, (asks, good, bad) in self.items())

    def _repr_html_(self) -> str:
        heads = ("criterion", "what it asks for", "excellent", "insufficient")
        rows = ((name, *texts) for name, texts in self.items())
        return html_table(heads, rows, "Each criterion counts the same", longest=1_000, left=True)


class Decision(tuple[str, ...]):
    """Three sentences with the numbers of a result filled in. Made by `decision`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return " ".join(self)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self)


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

    sentences = {"We should": should.strip(), "because": because.strip(), "unless": unless.strip()}
    if empty := [start for start, text in sentences.items() if not text]:
        raise ConfigError(f"the sentence {listed(empty)} … is empty", "give all three in your own words")
    return Decision(f"{start} {_FIELD.sub(fact, text)}" for start, text in sentences.items())


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
        texts["effect"] = effect.words(size)
        for name, end in (("low", size.low), ("high", size.high)):
            texts[name] = None if end is None else f"{end:.3g}"
    return {name: text or "not known" for name, text in texts.items()}


def rubric(lesson: str | int) -> Rubric:
    """Return the rubric of a lesson's decision, with a good and a poor sample for each criterion.

    >>> from workbench import course
    >>> course.rubric("03")["cause"][-1]
    'Fusions add overhead.'
    """
    texts, wanted = lesson_texts(), str(lesson).lstrip("0")
    lessons = [name for name in texts if name.isdigit()]
    if wanted not in lessons:
        raise ConfigError(f"there is no lesson {quoted(lesson)}", f"name one of {listed(lessons, None)}")
    samples = texts[wanted]["rubric"]
    return Rubric({name: (asks, *samples[name]) for name, asks in texts["criteria"].items()})
