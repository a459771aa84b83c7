"""Measured facts: frozen records, the bundle file that holds them, and the history."""

from workbench.records.bundle import Bundle, read_bundle, write_bundle
from workbench.records.comparison import (
    ComparisonRecord,
    Doubt,
    InputsRecord,
    ModelRecord,
    OutputAgreement,
    Protocol,
    Verdict,
)
from workbench.records.entries import Entry
from workbench.records.history import History
from workbench.records.kinds import Kind, Kinds, Part
from workbench.records.machine import Gpu, Machine, Versions
from workbench.records.origin import Origin
from workbench.records.run import Block, Failure, LatencySamples, LogLine, ProcessRecord, Run

__all__ = [
    "Block",
    "Bundle",
    "ComparisonRecord",
    "Doubt",
    "Entry",
    "Failure",
    "Gpu",
    "History",
    "InputsRecord",
    "Kind",
    "Kinds",
    "LatencySamples",
    "LogLine",
    "Machine",
    "ModelRecord",
    "Origin",
    "OutputAgreement",
    "Part",
    "ProcessRecord",
    "Protocol",
    "Run",
    "Verdict",
    "Versions",
    "read_bundle",
    "write_bundle",
]
