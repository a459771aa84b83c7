"""What a replayed stream of requests showed: each size, memory after it, and whether memory only grows."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, fields
from itertools import pairwise
from math import sqrt
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Literal

from workbench.core.bundle.codec import TABLE
from workbench.core.bundle.display import data_frame, typed
from workbench.core.errors import BundleError
from workbench.core.measure.sequential import student_t
from workbench.core.text import counted, in_digits, in_mib, in_ms

if TYPE_CHECKING:
    import pandas as pd

AS_THEY_COME, BUCKETS = "as they come", "buckets"
LEAST_SIZES = 6  # new sizes that the slope is made of
GrowthVerdict = Literal["bounded", "grows", "not settled"]
BOUNDED_SHARE = 0.001  # of the memory held: a slope below it a new size is none


@dataclass(frozen=True, slots=True)
class SizeSeen:
    """One size of the stream, in the order of its first request. None: not known."""

    shape: str
    requests: int
    first_s: float
    steady_s: float  # the median of the runs right after
    rss_bytes: int | None  # after these
    is_covered: bool  # an earlier size was at least as large in every dim


@dataclass(frozen=True, slots=True)
class Growth:
    """The slope of memory over new sizes that are no larger than one before, with its 95 % interval."""

    verdict: GrowthVerdict
    sizes: int
    per_size: tuple[float, float, float] | None = None  # bytes: the mean, and the ends of its interval

    def __str__(self) -> str:
        if self.per_size is None:
            need = f"{2 * LEAST_SIZES} new sizes that an earlier one covers tell, here are {self.sizes}"
            return f"growth not settled: {need}"
        value, low, high = (in_digits(size / 1024, 3) for size in self.per_size)
        words = {"bounded": "bounded:", "grows": "grows by", "not settled": "growth not settled:"}
        return f"{words[self.verdict]} {value} KiB a new size (95 % CI {low} to {high})"


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """The stream through one session. `pass_s` are the times of each pass, the first touches in the first."""

    name: str
    sizes: tuple[SizeSeen, ...] = field(metadata=TABLE)
    loaded_bytes: int | None  # before the first request
    pass_s: tuple[float, ...]
    pass_bytes: tuple[int | None, ...]  # resident after each pass
    failure: str | None = None

    @property
    def growth(self) -> Growth:
        """Judge the later half of the sizes that an earlier one covers: until then the arena fills."""
        known = [(size.is_covered, size.rss_bytes) for size in self.sizes if size.rss_bytes is not None]
        steps = [float(after - before) for (_, before), (covered, after) in pairwise(known) if covered]
        late = steps[len(steps) // 2 :]
        if len(late) < LEAST_SIZES:
            return Growth("not settled", len(steps))
        mean, held = fmean(late), known[-1][1]
        half = student_t(0.975, len(late) - 1) * stdev(late) / sqrt(len(late))
        low, high = mean - half, mean + half
        verdict: GrowthVerdict = (
            "grows" if low > 0 else "bounded" if high < BOUNDED_SHARE * held else "not settled"
        )
        return Growth(verdict, len(steps), (mean, low, high))

    @property
    def first_factor(self) -> float | None:
        """How many times as long as a steady run a first one takes: the median, without the very first."""
        ratios = [size.first_s / size.steady_s for size in self.sizes[1:] if size.steady_s]
        return median(ratios) if ratios else None

    def __str__(self) -> str:
        if self.failure is not None:
            return f"{self.name}: failed ({self.failure})"
        parts = [f"{self.name}: {counted(len(self.sizes), 'size')}", f"memory {self.growth}"]
        if self.first_factor is not None:
            parts.append(
                f"a first run takes {in_digits(self.first_factor, 3)} times as long as the next ones"
            )
        parts.append(f"a pass {in_ms(self.pass_s[0])} at first, then {in_ms(median(self.pass_s[1:]))}")
        ends = (self.loaded_bytes, self.pass_bytes[0], self.pass_bytes[-1])
        loaded, first, last = (in_mib(size) or "not known" for size in ends)
        parts.append(f"memory {loaded} before, {first} after the first pass, {last} after the last")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class ReplayRecord:
    """One stream through the session of a config and of its variants, which take turns pass by pass."""

    model_name: str
    requests: int
    padding_share: float | None  # by arithmetic: by how much the products of the dims grow; None: no buckets
    runs: tuple[ReplayRun, ...]  # as they come first

    @property
    def bucket_shares(self) -> tuple[float, float, float] | None:
        """The median, least and largest time of a steady pass in buckets, over the pass beside it."""
        bucketed = next((run for run in self.runs if run.name == BUCKETS and run.failure is None), None)
        pairs = [] if bucketed is None else [*zip(bucketed.pass_s, self.runs[0].pass_s, strict=False)][1:]
        ratios = [ours / given for ours, given in pairs if given > 0]
        return (median(ratios), min(ratios), max(ratios)) if ratios else None

    def __str__(self) -> str:
        lines = [f"{self.model_name}: {counted(self.requests, 'request')}", *map(str, self.runs)]
        if self.padding_share is not None:
            lines.append(f"buckets enlarge the requests by {self.padding_share:.0%} (arithmetic: their dims)")
        if self.bucket_shares is not None:
            middle, low, high = (in_digits(share, 3) for share in self.bucket_shares)
            lines.append(f"measured, a later pass in buckets takes {middle} times as long ({low} to {high})")
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each size of each run."""
        names = [part.name for part in fields(SizeSeen)]
        rows = [(run.name, *astuple(size)) for run in self.runs for size in run.sizes]
        return typed(data_frame(rows, columns=["run", *names]))


def check_replay(record: ReplayRecord, fix: str) -> None:
    """Refuse a record without the stream as it comes, and runs without their passes."""
    for run in record.runs:
        if run.failure is None and not (len(run.pass_s) == len(run.pass_bytes) > 1):
            raise BundleError("pass_s, pass_bytes: expected one of each for two passes or more.", fix)
    if not record.runs or record.runs[0].failure is not None:
        raise BundleError("runs: expected the stream as it comes.", fix)
