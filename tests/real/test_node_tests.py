"""Every node test of the ONNX project that plain ORT can run, we load, feed and measure."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import workbench as wb
from tests.real.longlived import LongLived
from tests.real.node_cases import NodeCase, write_cases
from workbench.core.errors import RunFailed
from workbench.core.measure.agreement import NO_VALUES, compare_outputs
from workbench.core.worker.values import read_values

pytestmark = [pytest.mark.real, pytest.mark.release]

SHARDS = 12
LEAST = 1_640  # of the 1,884 that onnx 1.23 has, 1,658 run on ORT 1.31 and take no packed elements
MATCH = 1e-2  # of the largest magnitude: what a float8 output of the project's own reckoning may differ
NEEDS_OWN_DATA = frozenset(  # its inputs depend on each other in ways that only the operator's own text tells
    (
        *("test_affine_grid_2d_expanded", "test_affine_grid_2d_align_corners_expanded"),
        *("test_affine_grid_3d_expanded", "test_affine_grid_3d_align_corners_expanded"),
        *("test_col2im", "test_col2im_strides", "test_col2im_pads", "test_col2im_dilations"),
        *("test_col2im_5d", "test_loop11", "test_maxunpool_export_with_output_shape"),
        *("test_melweightmatrix", "test_split_to_sequence_2", "test_squeeze_negative_axes"),
    )
)


@dataclass
class Bench:
    """What all shards share."""

    cases: tuple[NodeCase, ...]  # those that plain ORT runs
    worker: LongLived
    measured: set[str] = field(default_factory=set)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("node-tests")
    cases = write_cases(folder)
    parts = 2
    command = (sys.executable, "-m", "tests.real.plain_ort", str(folder))
    root = Path(__file__).parents[2]
    running = [
        subprocess.Popen([*command, str(part), str(parts)], cwd=root, stderr=subprocess.DEVNULL)
        for part in range(parts)
    ]
    assert [process.wait() for process in running] == [0] * parts
    answers: dict[str, str | None] = {}
    for part in range(parts):
        answers |= json.loads((folder / f"plain-{part}.json").read_text())
    with LongLived(folder / "worker") as worker:
        yield Bench(tuple(case for case in cases if answers[case.model.stem] is None), worker)


def test_plain_ort_runs_most_of_them(bench: Bench) -> None:
    assert len(bench.cases) >= LEAST


@pytest.mark.parametrize("shard", range(SHARDS))
def test_each_is_loaded_fed_and_measured(shard: int, bench: Bench) -> None:
    """With inputs that we make, or with the test's own where a name above says that ours cannot fit."""
    errors: dict[str, str] = {}
    refused: set[str] = set()
    for case in bench.cases[shard::SHARDS]:
        try:
            model = wb.load(case.model)
            assert model.describe().nodes == len(model.structure.graph.node)
            try:
                warm, block = bench.worker.measure(case.model, model.inputs().feeds)
            except RunFailed:
                refused.add(case.name)
                warm, block = bench.worker.measure(case.model, model.inputs(case.feed).feeds)
            assert warm >= 2
            assert block >= 2
        except Exception as error:  # noqa: BLE001 - the name of every failing model is wanted
            errors[case.name] = repr(error)
        bench.measured.add(case.name)
    assert errors == {}
    assert refused <= NEEDS_OWN_DATA


@pytest.mark.parametrize("shard", range(SHARDS))
def test_each_gives_what_plain_ort_gives(shard: int, bench: Bench) -> None:
    """To the last bit; outputs that plain ORT cannot hand to numpy are held against the ONNX project's."""
    differing: dict[str, str] = {}
    for case in bench.cases[shard::SHARDS]:
        feeds = wb.load(case.model).inputs(case.feed).feeds
        bench.worker.first_run(case.model, feeds)
        outputs = bench.worker.outputs()
        plain = case.plain_outputs.exists()
        reference = read_values(case.plain_outputs) if plain else [case.expected]
        for row in compare_outputs("B", reference, outputs, tolerance=0.0 if plain else MATCH):
            unread = row.reason == NO_VALUES or (not plain and "cannot be read" in row.reason)
            if row.agrees is not True and not (row.agrees is None and unread):
                differing[case.name] = f"{row.output}: {row.reason}"
    assert differing == {}
