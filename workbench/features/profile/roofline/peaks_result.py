"""The best that ORT reaches on this machine."""

from __future__ import annotations

from workbench.core.command import Command
from workbench.core.feature import Feature
from workbench.core.text import counted
from workbench.features.base.result import Result
from workbench.features.profile.roofline.peaks import PeakRow, PeakTable, check_peak_table


class Peaks(Result):
    """The best that ORT reaches on this machine, one row per thread count. Made by `wb.peaks`."""

    record: PeakTable

    @property
    def rows(self) -> tuple[PeakRow, ...]:
        """One row per thread count."""
        return self.record.rows

    def figure(self) -> None:
        """Return None: the picture and the words say it all."""

    def _in_words(self) -> str:
        return "; ".join(
            f"{counted(row.threads, 'thread')}: float32 {_giga(row.float32_flops, 'GFLOP/s')}, "
            f"int8 {_giga(row.int8_flops, 'GOP/s')}, copying {_giga(row.bytes_per_s, 'GB/s')}"
            + ("" if row.doubt is None else f" (doubtful: {row.doubt})")
            for row in self.record.rows
        )


def _giga(rate: float | None, unit: str) -> str:
    return "not measured" if rate is None else f"{rate / 1e9:,.1f} {unit}"


FEATURE = Feature(
    "peaks",
    PeakTable,
    check_peak_table,
    result=Peaks,
    chart="workbench.features.profile.roofline.result:peaks_chart",
    call="workbench.features.profile.calls:peaks",
    command=Command(hints={"threads": "numbers of threads; default 1 and all cores"}),
    hint="What this machine can do through ONNX Runtime",
)
