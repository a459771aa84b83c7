"""Whatever the bytes: it works, or it is refused with an error of ours."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from tests.amount import amount
from tests.core.models.mutate import mutants
from workbench.core.errors import WorkbenchError
from workbench.core.models import load

COUNT = amount(900)
LIMIT_BYTES = 8 << 20  # of Python objects that one broken model of a few hundred bytes may leave behind


@pytest.mark.thorough
@pytest.mark.usefixtures("small_bound")
@pytest.mark.parametrize("seed", range(3))
def test_a_mutant_works_or_is_refused(seed: int, tmp_path: Path) -> None:
    worked = refused = 0
    tracemalloc.start()
    try:
        for number, (what, data) in enumerate(mutants(seed, COUNT // 3)):
            path = tmp_path / f"{number}.onnx"
            path.write_bytes(data)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                model = load(path)
                assert str(model.describe())
                assert model.describe()._repr_html_()
                model.inputs()
                worked += 1
            except WorkbenchError as error:
                refused += bool(error.problem and error.fix)
            except Exception as error:
                raise AssertionError(f"seed {seed}, {what}") from error
            assert tracemalloc.get_traced_memory()[1] - before < LIMIT_BYTES, what
    finally:
        tracemalloc.stop()
    assert worked + refused == COUNT // 3
    assert min(worked, refused) > COUNT // 30


def test_the_same_seed_gives_the_same_mutants() -> None:
    assert list(mutants(5, 20)) == list(mutants(5, 20))
    assert list(mutants(5, 20)) != list(mutants(6, 20))
