"""Records made by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from workbench.core.bundle.atomic import write_atomically
from workbench.core.bundle.bundle import pack_record
from workbench.core.bundle.comparison import (
    ComparisonRecord,
    Doubt,
    InputsRecord,
    ModelRecord,
    OutputAgreement,
    Protocol,
    Verdict,
)
from workbench.core.bundle.machine import Gpu, Machine, SoftwareVersions
from workbench.core.bundle.run import Block, Failure, LogLine, ProcessRecord, Run
from workbench.core.config import Config, Provider

CONFIGS = (
    Config(),
    Config(level="all", intra_op_threads=2, spinning=False),
    Config(providers=("cuda", "cpu"), disabled_passes=("GeluFusionL2",), free_dimensions={"batch": 1}),
    Config(providers=(Provider("cuda", {"device_id": "1"}),), execution_mode="parallel"),
    Config(session_entries={"session.dynamic_block_base": "4"}, affinity="1;2", intra_op_threads=3),
)


def block(order: int = 0, samples_s: tuple[float, ...] = (0.001, 0.0011, 0.0009)) -> Block:
    return Block(order, 0.5 + order, 0.003, samples_s, 0.0029, None, 0.0, ())


def process(round_: int = 0, blocks: tuple[Block, ...] = (block(0), block(3))) -> ProcessRecord:
    return ProcessRecord(
        round_, 0.1, 0.09, 0.25, 0.004, (0.002, 0.0015), True, blocks, 30 << 20, None, 60 << 20, 61 << 20
    )


def run(label: str = "A", config: Config = CONFIGS[0], rounds: int = 2) -> Run:
    processes = tuple(process(at) for at in range(rounds))
    return Run(
        label=label,
        config=config,
        providers=("CPUExecutionProvider",),
        threads=2,
        io="run",
        processes=processes,
        log=(LogLine("W", "slow <op> & such"),),
        failure=None,
        preparation=None,
    )


def failed_run(label: str = "B") -> Run:
    failure = Failure("load", "ORT refused the model: <b>bad</b>", "Use another model.", "tail\nof the log")
    return replace(run(label, CONFIGS[3], 0), providers=(), threads=None, io=None, log=(), failure=failure)


def comparison(identity: str = "01-abc", candidate: Run | None = None) -> ComparisonRecord:
    """A comparison of two runs with something in every field."""
    verdict = Verdict("B", "faster", 1.83, 1.79, 1.88, 0.95, 0.01, 5, False, "Wholly beyond 1 %.")
    return ComparisonRecord(
        id=identity,
        created_utc="2026-11-21T08:00:00+00:00",
        model=ModelRecord("bert <tiny> & 'co'", "ab" * 32, 1234, 0),
        inputs=InputsRecord("random, seed 0", 0, (("ids", "int64[1,8]"),), ("ids below the vocabulary",)),
        machine=Machine(
            "A CPU", ("avx2", "fma"), None, 2, 2, 1.5, 8 << 30, None, (Gpu("GPU", None, "1.2"),), "Linux-x86"
        ),
        versions=SoftwareVersions("0.1.0", "3.11.7", "1.31.1", "1.19.0", "2.3.0"),
        protocol=Protocol(10.0, 0.01, None, 0.02, 0.05, 7, True, 9.5, 6.25),
        runs=(run(), candidate or run("B", CONFIGS[1])),
        agreement=(
            OutputAgreement("B", "logits", True, "", 1e-6, 1e-7, 92.5, 0, 0),
            OutputAgreement("B", "odd", None, "not numbers", float("inf"), None, None, None, None),
        ),
        verdicts=(verdict,),
        doubts=(Doubt("other load", "A", "2 of 9 blocks", "Close other programs."),),
    )


def bulky(identity: str, seed: int, samples: int = 150_000) -> ComparisonRecord:
    """A comparison whose bundle is over a megabyte, since random digits do not shrink."""
    draw = random.Random(seed)
    row = tuple(draw.random() for _ in range(samples))
    return comparison(identity, replace(run("B"), processes=(process(blocks=(block(0, row),)),)))


def names(folder: Path) -> list[str]:
    """What lies in `folder`."""
    return sorted(path.name for path in folder.iterdir())


def write_bundle(record: object, path: Path, structure: bytes | None = None) -> Path:
    """Save a comparison as `wb.save` does, without its result."""
    return write_atomically(path, pack_record(record, structure, private=False))
