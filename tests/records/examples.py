"""Records made by hand and at random."""

from __future__ import annotations

import random
import typing
from dataclasses import replace
from typing import Any, get_type_hints

from hypothesis import strategies as st

from workbench.config import Config, Provider
from workbench.records.comparison import (
    ComparisonRecord,
    Doubt,
    InputsRecord,
    ModelRecord,
    OutputAgreement,
    Protocol,
    Verdict,
)
from workbench.records.machine import Gpu, Machine, Versions
from workbench.records.run import Block, Failure, LogLine, ProcessRecord, Run

CONFIGS = (
    Config(),
    Config(level="all", intra_op_threads=2, spinning=False),
    Config(providers=("cuda", "cpu"), disabled_passes=("GeluFusion",), free_dimensions={"batch": 1}),
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
        versions=Versions("0.1.0", "3.11.7", "1.31.1", "1.19.0", "2.3.0"),
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


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_limit = (1 << 63) - 1


def anything(hint: Any, name: str = "") -> st.SearchStrategy[Any]:
    """Values of a field called `name` with the type `hint`, within the law of its unit."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if type(None) in arguments:
        return st.none() | anything(arguments[0], name)
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is ...:
        least = int(name == "samples_s")  # a block has a sample
        return st.lists(anything(arguments[0], name), min_size=least, max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(anything(argument) for argument in arguments))
    if hint is Config:
        return st.sampled_from(CONFIGS)
    if hint is str:
        return st.datetimes().map(lambda at: at.isoformat()) if name.endswith("_utc") else _texts
    if hint is bool:
        return st.booleans()
    if hint is int:
        return st.integers(0 if name.endswith(("_bytes", "_count")) else -_limit, _limit)
    if name in ("ratio", "low", "high"):
        return st.floats(0, exclude_min=True, allow_infinity=False)
    if hint is float:
        return st.floats(0, 1e9) if name.endswith("_s") else st.floats(allow_nan=False)
    return st.builds(hint, **{field: anything(part, field) for field, part in get_type_hints(hint).items()})


_any_comparison = anything(ComparisonRecord)
_any_run, _any_verdict, _any_agreement, _any_doubt = map(anything, (Run, Verdict, OutputAgreement, Doubt))


@st.composite
def comparisons(draw: st.DrawFn) -> ComparisonRecord:
    """Any comparison that could be saved, not only likely ones."""
    labels = list("ABC"[: draw(st.integers(2, 3))])
    return replace(
        draw(_any_comparison),
        id=draw(st.text("0123456789abcdef-", min_size=1, max_size=64)),
        runs=tuple(replace(draw(_any_run), label=label) for label in labels),
        verdicts=tuple(replace(draw(_any_verdict), label=label) for label in labels[1:]),
        agreement=tuple(replace(draw(_any_agreement), label=label) for label in labels[1:]),
        doubts=(replace(draw(_any_doubt), label=draw(st.none() | st.sampled_from(labels))),),
    )
