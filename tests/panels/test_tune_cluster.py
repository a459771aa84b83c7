"""The tune tab on a Dask cluster: its workers, the search on a machine or on several kinds, the code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.factories.results import study
from tests.search.cluster.fakes import HERE, OTHER, client_of, quicken
from workbench.panels import tuning
from workbench.panels.jobs import wait_for
from workbench.panels.tabs.tune import TunePage
from workbench.panels.tuning import tune_code
from workbench.results.target_studies import TargetStudies

ADDRESS = "tcp://10.0.0.1:8786"
SPACE = wb.Space.of(level=("basic",), intra_op_threads=(1, 2))


@pytest.fixture
def connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A cluster of two machines at every address but "nowhere"; the list gets the addresses."""
    quicken(monkeypatch, tmp_path / "home")
    made: list[str] = []

    @contextmanager
    def connected(address: str, *, timeout_s: float, cancel: object) -> Iterator[Any]:
        assert timeout_s <= 5.0, "a person waits"
        assert cancel is not None
        made.append(address)
        if address == "nowhere":
            raise wb.ClusterError("there is no Dask scheduler at 'nowhere'", "start one")
        yield client_of(one=HERE, two=OTHER)

    monkeypatch.setattr(tuning, "connected", connected)
    return made


def ended(bench: wb.Workbench) -> None:
    """Wait until the job has ended and is shown."""
    if (job := bench.jobs.running) is not None:
        wait_for(job)
    bench.ui.settle()


def test_the_workers_of_a_cluster_are_listed_with_their_tags(
    bench: wb.Workbench, connections: list[str]
) -> None:
    fields = TunePage(bench).cluster
    fields.address.value = ADDRESS
    fields.find.click()
    ended(bench)
    assert connections == [ADDRESS]
    for text in ("<td>one</td>", "<td>two</td>", "another processor", "AVX2, tag-one", "AVX2, tag-two"):
        assert text in fields.workers.value


@pytest.mark.parametrize(
    ("address", "problem"), [("nowhere", "no Dask scheduler at"), ("", "No cluster is named.")]
)
def test_a_cluster_that_is_not_there_is_an_error_beside_its_fields(
    bench: wb.Workbench, connections: list[str], address: str, problem: str
) -> None:
    fields = TunePage(bench).cluster
    fields.address.value = address
    fields.find.click()
    ended(bench)
    assert problem in fields.status.value
    assert fields.workers.value == ""
    assert bench.state.job is None
    assert connections == ([address] if address else [])


def test_without_dask_the_tab_says_what_to_install(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    fields = TunePage(bench).cluster
    fields.address.value = ADDRESS
    fields.find.click()
    ended(bench)
    assert "ort-workbench[cluster]" in fields.status.value


@pytest.mark.usefixtures("connections")
def test_a_study_on_a_cluster_has_the_space_of_its_machine(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def tune(*arguments: Any, on_round: Any, **options: Any) -> wb.Study:
        asked.append((arguments, options))
        on_round(wb.Study(study()))
        return wb.Study(study())

    monkeypatch.setattr(tuning, "tune", tune)
    page = TunePage(bench)
    bench.state.space = SPACE
    page.cluster.address.value = ADDRESS
    page.buttons["Start"].click()
    ended(bench)
    (_, space, *_), options = asked[-1]
    assert space is None, "the machine makes its own"
    assert options["client"].infos
    assert bench.state.study is not None
    page.checks["level"].value = False
    page.buttons["Start"].click()
    ended(bench)
    (_, space, *_), _ = asked[-1]
    assert [axis.name for axis in space.axes] == ["intra_op_threads"]


@pytest.mark.usefixtures("connections")
def test_each_target_has_a_study_that_can_be_chosen(
    bench: wb.Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    first, second = (wb.Study(replace(study(), id=f"20261121-09000{n}-abcdef")) for n in (1, 2))

    def tune_targets(_: Any, targets: Any, __: Any, *arguments: Any, **___: Any) -> TargetStudies:
        asked.append((targets, arguments))
        return TargetStudies({"AVX2": first, "edge": second}, {"GPU": wb.ClusterError("it died", "look")})

    monkeypatch.setattr(tuning, "tune_targets", tune_targets)
    page = TunePage(bench)
    page.show()
    page.cluster.address.value, page.cluster.targets.value = ADDRESS, "AVX2, edge,GPU"
    page.buttons["Start"].click()
    ended(bench)
    ((targets, (space, objective, *_)),) = asked
    assert (targets, space, objective) == (("AVX2", "edge", "GPU"), None, "latency")
    assert bench.state.study is first
    _, choice, *_, overview = page.answer.children
    assert [row[0] for row in overview.rows] == ["AVX2", "edge", "GPU"]
    assert overview.rows[2][-1] == "it died"
    choice.value = "edge"
    assert bench.state.study is second
    assert page.answer.children[1].value == "edge"
    bench.state.targets, bench.state.study = None, wb.Study(study())
    assert len(page.answer.children) == 4


def test_targets_without_a_cluster_are_refused(bench: wb.Workbench) -> None:
    page = TunePage(bench)
    page.cluster.targets.value = "GPU"
    page.buttons["Start"].click()
    assert "Targets are machines of a cluster" in page.status.value
    assert bench.state.job is None


def test_the_code_connects_to_the_cluster(bench: wb.Workbench) -> None:
    bench.state.seed = 3
    page = TunePage(bench)
    page.cluster.address.value = ADDRESS
    code = tune_code(bench.request(), page.choice)
    compile(code, "code", "exec")
    assert code.startswith("import workbench as wb\nfrom distributed import Client\n\nmodel = wb.load(")
    assert f'client = Client("{ADDRESS}")' in code
    assert code.endswith("seed=3, budget_s=120.0, client=client)\nstudy")
    page.cluster.targets.value = "AVX2, edge"
    code = tune_code(bench.request(), page.choice)
    compile(code, "code", "exec")
    assert 'studies = wb.tune_targets(model, ["AVX2", "edge"], client, inputs=inputs' in code
    assert code.endswith("\nstudies")
