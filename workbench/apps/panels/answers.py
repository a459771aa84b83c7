"""What the results show, and what it is about: it is folded while something else is set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import workbench as wb
from workbench.apps.panels.request import Subject, labelled
from workbench.core.config import Config
from workbench.core.models.recorded import is_file_of

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord

MOST_FOLDED = 8  # answers that come back when what they are about is set again


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A comparison with what was made beside it. Without a subject it was made elsewhere."""

    subject: Subject | None
    result: wb.Comparison | None
    code: str
    parts: Mapping[str, Any]
    forms: Mapping[str, Any] = field(default_factory=dict)  # those by which the parts were made, by kind

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return self.result is None and not self.parts

    def beside(self, older: Answer) -> Answer:
        """Return both as one answer, with the older comparison where this one has none."""
        held = self if older.result is None or self.result is not None else older
        parts, forms = {**older.parts, **self.parts}, {**older.forms, **self.forms}
        return replace(held, parts=parts, forms=forms)

    def is_about(self, subject: Subject) -> bool:
        """Return whether it is about this model, these configs and these inputs, as far as they are known."""
        if self.subject is not None or self.result is None:
            return self.subject == subject
        record = self.result.record
        fits = subject.model is None or is_file_of(record, subject.model)
        return fits and subject.configs == configs_of(record)


def folded_with(folded: Sequence[Answer], answer: Answer) -> tuple[Answer, ...]:
    """Return the folded answers and one more, the newest last; all about the same subject is one answer."""
    same = [other for other in folded if answer.subject is not None and other.subject == answer.subject]
    for other in same:
        answer = answer.beside(other)
    return (*(other for other in folded if other not in same), answer)[-MOST_FOLDED:]


NO_ANSWER = Answer(None, None, "", {})


def configs_of(record: ComparisonRecord) -> dict[str, Config]:
    """Return the configs of a comparison by label, as the panels hold them."""
    return labelled(run.config for run in record.runs)
