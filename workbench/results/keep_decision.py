"""Whether a prepared model is kept, and why."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from workbench.config import Config
from workbench.judge.acceptance import Check
from workbench.models import Model
from workbench.records.display import config_in_words
from workbench.results.accuracy import AccuracyTable
from workbench.results.comparison import Comparison

if TYPE_CHECKING:
    import pandas as pd

_WORDS = {True: "yes", False: "no", None: "not settled"}


@dataclass(frozen=True, eq=False, repr=False)
class KeepDecision:
    """The prepared model if it is better, else the original. Made by `wb.keep_if_better`.

    `model` and `config` are what to use; `checks` say why.

    >>> import workbench as wb
    >>> wb.KeepDecision.__name__
    'KeepDecision'
    """

    model: Model
    config: Config
    asked: Config
    checks: tuple[Check, ...]
    comparison: Comparison
    accuracy: AccuracyTable | None

    @property
    def kept(self) -> bool:
        """Whether every check passed; an unsettled check does not pass."""
        return all(check.passed is True for check in self.checks)

    def __bool__(self) -> bool:
        return self.kept

    @property
    def reason(self) -> str:
        """The reason, in one sentence."""
        if self.kept:
            return "; ".join(check.reason for check in self.checks)
        return "; ".join(check.reason for check in self.checks if check.passed is not True)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per check: what, passed, reason."""
        import pandas as pd

        rows = [(check.what, _WORDS[check.passed], check.reason) for check in self.checks]
        return pd.DataFrame(rows, columns=["check", "passed", "reason"])

    def __str__(self) -> str:
        word = "kept" if self.kept else "not kept, the original stays"
        return f"{config_in_words(self.asked)}: {word}, since {self.reason}"

    def __repr__(self) -> str:
        return f"<KeepDecision: {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"
