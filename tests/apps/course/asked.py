"""A comparison that was asked to take a number of seconds."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.features.compare.result import Comparison


def asked(record: ComparisonRecord, budget_s: float) -> Comparison:
    return Comparison(replace(record, protocol=replace(record.protocol, budget_s=budget_s)))
