"""Results that hold several comparisons: the points of a sweep, the rows of a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workbench.config import Config
from workbench.errors import ConfigError
from workbench.judge.best import Best, BestLimits, Contender
from workbench.records.comparison import ComparisonRecord
from workbench.results.result import Result
from workbench.text import listed

if TYPE_CHECKING:
    from workbench.report.document import Document


class SeveralComparisons(Result):
    """Several comparisons of the same configs."""

    def _measured(self) -> Iterator[tuple[str, ComparisonRecord]]:
        """Yield the name and the comparison of what was measured."""
        raise NotImplementedError

    def _contenders(self, limits: BestLimits) -> Iterator[Contender]:
        """Yield every config, as far as it keeps the limits."""
        raise NotImplementedError

    def _configs(self) -> Mapping[str, Config]:
        """Return the configs by label."""
        raise NotImplementedError

    def best(
        self,
        *,
        max_p50_s: float | None = None,
        max_p99_s: float | None = None,
        max_memory_bytes: int | None = None,
    ) -> Best:
        """Return what is best within these limits: yes, no, or not settled.

        Of a matrix: for each model its fastest config. Of a sweep: the point with most items a second.
        """
        limits = BestLimits(max_p50_s, max_p99_s, max_memory_bytes)
        return Best(tuple(self._contenders(limits)))

    def to_python(self, label: str = "A", model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs one of the configs."""
        configs = self._configs()
        if label not in configs:
            raise ConfigError(f"there is no config {label!r}", f"the configs are: {listed(configs)}")
        return configs[label].to_python(model)

    def _add_result(self, page: Document) -> None:
        """Add figure and table, the doubts of each comparison, and the origin."""
        from workbench.report.pieces import facts, figured, paragraph

        page.add("result", "Result", figured(self))
        doubts = [
            (name, f"{doubt.kind}: {doubt.evidence}. Fix: {doubt.fix}")
            for name, measured in self._measured()
            for doubt in measured.doubts
        ]
        page.add(
            "doubts", "Doubts", facts(doubts) if doubts else paragraph("No reason to doubt it was found.")
        )
        self._add_origin(page)
