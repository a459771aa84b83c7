"""Comparisons made by hand, with every number chosen."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from tests.factories import records as examples
from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement, Verdict
from workbench.core.bundle.run import Block, Failure, Run
from workbench.core.config import Config

HOSTILE = '</script><img src=x onerror="alert(1)">\n<b>$x$</b> %{y} & \x00\u202e'


def run(label: str, processes: Sequence[Sequence[Sequence[float]]], aside: Sequence[int] = ()) -> Run:
    """`processes[round][block]` holds samples in seconds; blocks numbered in `aside` were disturbed."""
    made, number = [], 0
    for round_, process in enumerate(processes):
        blocks = []
        for order, samples in enumerate(process):
            reasons = ("others used 1.2 cores",) if number in aside else ()
            blocks.append(Block(order, round_ + order / 10, 0.05, tuple(samples), None, None, None, reasons))
            number += 1
        made.append(replace(examples.process(round_), blocks=tuple(blocks)))
    return replace(examples.run(label, rounds=0), processes=tuple(made))


def failed(label: str = "B", problem: str = "ORT refused the model") -> Run:
    failure = Failure("load", problem, "Use another model.", "")
    return replace(run(label, ()), failure=failure, providers=(), threads=None, io=None)


@cache
def drawn_run(
    label: str, middle_s: float, blocks: int = 8, samples: int = 20, aside: Sequence[int] = ()
) -> Run:
    """Five processes with log-normal samples from a fixed seed."""
    rng = random.Random(label)
    return run(
        label,
        [
            [[middle_s * rng.lognormvariate(0, 0.05) for _ in range(samples)] for _ in range(blocks)]
            for _ in range(5)
        ],
        aside,
    )


def with_sample(run: Run, sample_s: float) -> Run:
    """The run with one sample more in its first block."""
    first, *others = run.processes
    block = replace(first.blocks[0], samples_s=(*first.blocks[0].samples_s, sample_s))
    return replace(run, processes=(replace(first, blocks=(block, *first.blocks[1:])), *others))


def comparison(*runs: Run, kind: str = "faster", model: str = "tiny") -> ComparisonRecord:
    """Those runs and a verdict on each but the first."""
    base = examples.comparison()
    verdicts = tuple(
        Verdict(one.label, kind, 1.83, 1.79, 1.88, 0.95, 0.01, 5, False, "the interval says so")  # type: ignore[arg-type]
        for one in runs[1:]
    )
    agreement = tuple(OutputAgreement(one.label, "y", True, "", 0.0, 0.0, 92.0, 0, 0) for one in runs[1:])
    return replace(
        base,
        model=replace(base.model, name=model),
        runs=runs,
        verdicts=verdicts,
        agreement=agreement,
        doubts=(),
    )


@cache
def ordinary() -> ComparisonRecord:
    """B is faster, and two of its blocks were disturbed."""
    candidate = replace(drawn_run("B", 0.0011, aside=(3, 4)), config=Config(intra_op_threads=1))
    return comparison(drawn_run("A", 0.002), candidate)
