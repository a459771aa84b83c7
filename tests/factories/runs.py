"""Hand-made records: small, exact, and cheap to vary."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.core.bundle.machine import Machine
from workbench.core.bundle.run import Block, ProcessRecord, Run
from workbench.core.config import Config
from workbench.core.measure.pairs import Pair


def block(
    median_s: float, *, order: int = 0, start_s: float = 0.0, disturbed: tuple[str, ...] = (), count: int = 5
) -> Block:
    return Block(
        order=order,
        start_s=start_s,
        wall_s=median_s * count,
        samples_s=(median_s,) * count,
        own_cpu_s=median_s * count,
        run_delay_s=0.0,
        others_cpu_s=0.5 * median_s * count if disturbed else 0.0,
        disturbed=disturbed,
    )


def process(
    number: int, blocks: Sequence[Block], *, steady: bool = True, peak: int | None = 100 << 20
) -> ProcessRecord:
    return ProcessRecord(
        round=number,
        spawn_s=0.2,
        import_s=0.1,
        load_s=0.01,
        first_run_s=0.002,
        warmup_s=(0.002, 0.001),
        steady=steady,
        blocks=tuple(blocks),
        rss_start_bytes=50 << 20,
        rss_loaded_bytes=60 << 20,
        rss_bytes=90 << 20,
        peak_rss_bytes=peak,
    )


def run(label: str, processes: Sequence[ProcessRecord], **changes: object) -> Run:
    fields = {
        "label": label,
        "config": Config(),
        "providers": ("CPUExecutionProvider",),
        "threads": 2,
        "io": "run",
        "processes": tuple(processes),
        "log": (),
        "failure": None,
        **changes,
    }
    return Run(**fields)  # type: ignore[arg-type]


def pairs(ratios: Sequence[float | None]) -> tuple[Pair, ...]:
    """Pairs with these ratios A/B; None: a disturbed round."""
    return tuple(
        Pair(
            number,
            None if ratio is None else math.log(ratio),
            math.log(ratio or 1.0),
            3,
            0 if ratio is None else 3,
        )
        for number, ratio in enumerate(ratios, 1)
    )


def machine(**changes: object) -> Machine:
    fields = {
        "cpu": "a processor",
        "isa_flags": ("avx2",),
        "physical_cores": 2,
        "logical_cores": 2,
        "usable_cores": 2,
        "quota_cores": None,
        "memory_bytes": 8 << 30,
        "memory_limit_bytes": None,
        "gpus": (),
        "platform": "Linux-6.1-x86_64",
        **changes,
    }
    return Machine(**fields)  # type: ignore[arg-type]
