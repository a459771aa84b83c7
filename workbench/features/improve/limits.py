"""Whether a measured config keeps the limits of an improvement."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.goal import Goal
from workbench.core.bundle.run import Run
from workbench.features.grid.acceptance import Check
from workbench.features.grid.best import file_bytes
from workbench.features.tune.objectives import limit_checks


@dataclass(frozen=True, slots=True)
class Kept:
    """The checks of all limits of one measured config."""

    checks: tuple[Check, ...]

    @classmethod
    def of(cls, limits: Goal, record: ComparisonRecord, run: Run) -> Kept:
        """Check each limit on what was measured of a run; accuracy and error are checked beside it."""
        checks = limit_checks(limits, run, file_bytes(record, run), {})
        return cls(tuple(limit.check for limit in checks))

    def named(self, passed: bool | None) -> dict[str, str]:
        """Return the reason of each limit that is kept (True), broken (False) or not settled (None)."""
        return {check.what: check.reason for check in self.checks if check.passed is passed}

    def words(self, passed: bool | None) -> str:
        """Return these reasons as one text; empty where there is none."""
        return "; ".join(self.named(passed).values())

    @property
    def is_sure(self) -> bool:
        """Return whether every limit is kept for sure."""
        return all(check.passed for check in self.checks)
