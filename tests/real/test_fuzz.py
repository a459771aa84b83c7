"""Broken models all the way into ORT: each runs or is refused, and the parent never falls with a worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.conftest import is_worker
from tests.core.models import tiny
from tests.core.models.mutate import mutants
from tests.core.worker.harness import endless_loop
from tests.real.longlived import LongLived
from workbench.core.errors import InputError, ModelError, RunFailed, WorkbenchError, WorkerError
from workbench.core.measure.limits import Limits
from workbench.core.models import load, values

pytestmark = [pytest.mark.real, pytest.mark.slow]

SEEDS = range(100, 110)  # others than those of the models' own fuzz test
MUTANTS_A_SEED = 300
QUICK = Limits(start_s=300, load_s=5, run_s=5)  # a mutant that takes longer has ended, too
PATIENT = Limits(start_s=3600, load_s=3600, run_s=3600)
STAGES = {ModelError: "opened", InputError: "fed", RunFailed: "ran", WorkerError: "survived"}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongLived]:
    with LongLived(tmp_path_factory.mktemp("fuzz") / "worker", limits=QUICK) as worker:
        yield worker
    assert not [child for child in psutil.Process().children(recursive=True) if is_worker(child)]


@pytest.mark.parametrize(
    "seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.release) for seed in SEEDS[1:])]
)
def test_a_mutant_runs_or_is_refused(
    seed: int, worker: LongLived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "MAX_BYTES", 4 << 20)  # of inputs: many mutants have huge dims
    ended: Counter[str] = Counter()
    bad: dict[str, str] = {}
    for number, (what, data) in enumerate(mutants(seed, MUTANTS_A_SEED)):
        path = tmp_path / f"mutant-{number}.onnx"
        path.write_bytes(data)
        try:
            model = load(path)
            worker.first_run(path, model.inputs().feeds)
            ended["ran"] += 1
        except WorkbenchError as error:
            ended[f"not {STAGES[type(error)]}"] += 1
            if not is_helpful(error, path.name):
                bad[what] = str(error)
        except Exception as error:  # noqa: BLE001 - the name of every such mutant is wanted
            bad[what] = repr(error)
    assert bad == {}
    assert ended.total() == MUTANTS_A_SEED
    assert min(ended["ran"], ended["not opened"], ended["not ran"]) > 10, ended


def test_a_hang_costs_one_worker_and_no_other_model(tmp_path: Path) -> None:
    """Only what never ends has a limit that ends: a machine that stands still for a while changes nothing."""
    endless = tiny.save(endless_loop(), tmp_path, "endless.onnx")
    whole = tiny.save(tiny.mlp(), tmp_path)
    with LongLived(tmp_path / "worker", limits=PATIENT) as worker:
        worker.first_run(whole, load(whole).inputs().feeds)
        with pytest.raises(WorkerError, match="no answer within 1 s during first run"):
            worker.first_run(endless, load(endless).inputs().feeds, run_s=1.0)
        worker.first_run(whole, load(whole).inputs().feeds)
        assert worker.started == 2


def is_helpful(error: WorkbenchError, name: str) -> bool:
    """A problem and a fix, in a text that a screen holds; what cannot be opened is named."""
    whole = bool(error.problem and error.fix) and len(str(error)) < 10_000
    return whole and (name in error.problem or not isinstance(error, ModelError))
