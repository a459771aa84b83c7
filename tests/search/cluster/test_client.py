"""Studies placed on a cluster: who gets one, and what is left when a worker or the scheduler dies."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

import workbench as wb
from tests.models import tiny
from tests.search.cluster.fakes import HERE, OTHER, RECORD, FakeClient, client_of, quicken, running
from workbench.records.study import StudyRecord
from workbench.results.target_studies import search_targets
from workbench.search.cluster import on_worker
from workbench.search.cluster.client import run_on_cluster
from workbench.search.cluster.on_worker import WorkerDescription
from workbench.search.cluster.order import pack
from workbench.search.cluster.workers import Cluster
from workbench.search.request import StudyRequest


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quicken(monkeypatch, tmp_path / "home")


def cluster_of(client: FakeClient) -> Cluster:
    return Cluster(cast(Any, client))


def asked(folder: Path, **changes: Any) -> StudyRequest:
    model = wb.load(tiny.save(tiny.mlp(), folder))
    return StudyRequest(model=model, inputs=model.inputs(), space=wb.Space.of(level=("basic",)), **changes)


def test_a_study_runs_on_a_worker_and_every_round_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came, steps = threading.Event(), []

    def run(request: StudyRequest, *, on_measured: Any, **_: Any) -> StudyRecord:
        assert request.space == wb.Space.of(level=("basic",))
        on_measured(RECORD)
        assert came.wait(30)
        return RECORD

    running(monkeypatch, run)
    client, kept = client_of(one=HERE), []

    def keep(record: StudyRecord) -> None:
        kept.append(record)
        came.set()

    record = run_on_cluster(
        asked(tmp_path), cluster_of(client), on_measured=keep, on_progress=lambda now: steps.append(now.doing)
    )
    assert (record, kept) == (RECORD, [RECORD])
    assert client.sent == ["one"]
    assert steps[0] == "sending the model to one"


def test_the_model_travels_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running(monkeypatch, lambda *_, **__: RECORD)
    client = client_of(one=HERE)
    for _ in range(2):
        run_on_cluster(asked(tmp_path), cluster_of(client))
    assert client.placed == ["one", "one"]
    assert client.sent == ["one"]


def dying_first(monkeypatch: pytest.MonkeyPatch, requests: list[StudyRequest]) -> threading.Event:
    """Let the first worker hang after its first round until the event is set; the second one finishes."""
    died = threading.Event()

    def run(request: StudyRequest, *, on_measured: Any, **_: Any) -> StudyRecord:
        requests.append(request)
        if len(requests) == 1:
            on_measured(RECORD)
            assert died.wait(30)
        return RECORD

    running(monkeypatch, run)
    return died


def test_a_worker_that_dies_gives_its_work_back_with_its_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, requests = client_of(one=HERE, two=HERE), list[StudyRequest]()
    died = dying_first(monkeypatch, requests)

    def die(_: StudyRecord) -> None:
        client.infos.pop("one", None)
        died.set()

    record = run_on_cluster(asked(tmp_path, budget_s=500.0), cluster_of(client), on_measured=die)
    assert record == RECORD
    assert client.placed == ["one", "two"]
    assert requests[1].earlier == RECORD
    assert requests[1].budget_s == 500.0 - RECORD.elapsed_s


def test_on_another_machine_the_study_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, requests = client_of(one=HERE, two=OTHER), list[StudyRequest]()
    died = dying_first(monkeypatch, requests)

    def die(_: StudyRecord) -> None:
        client.infos.pop("one", None)
        died.set()

    run_on_cluster(asked(tmp_path), cluster_of(client), on_measured=die)
    assert client.placed == ["one", "two"]
    assert requests[1].earlier is None


def test_a_worker_that_leaves_for_good_is_an_error_with_its_rounds_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(one=HERE)
    died = dying_first(monkeypatch, [])

    def die(_: StudyRecord) -> None:
        client.infos.clear()
        died.set()

    with pytest.raises(wb.ClusterError, match="can take the work over"):
        run_on_cluster(asked(tmp_path), cluster_of(client), on_measured=die)


def test_a_scheduler_that_goes_away_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, kept = client_of(one=HERE), []
    died = dying_first(monkeypatch, [])

    def go(record: StudyRecord) -> None:
        kept.append(record)
        client.status = "closed"
        died.set()

    with pytest.raises(wb.ClusterError, match=r"scheduler of the cluster went away\nFix: every finished"):
        run_on_cluster(asked(tmp_path), cluster_of(client), on_measured=go)
    assert kept == [RECORD]


def test_a_study_is_cancelled_on_its_worker_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, cancel, stopped = client_of(one=HERE), threading.Event(), threading.Event()

    def run(_: StudyRequest, *, on_measured: Any, cancel: threading.Event, **__: Any) -> StudyRecord:
        on_measured(RECORD)
        assert cancel.wait(30)
        stopped.set()
        return RECORD

    running(monkeypatch, run)
    with pytest.raises(wb.Cancelled) as caught:
        run_on_cluster(asked(tmp_path), cluster_of(client), on_measured=lambda _: cancel.set(), cancel=cancel)
    assert RECORD.id in caught.value.fix
    assert stopped.wait(30)


def test_a_round_that_ended_before_the_cancel_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = replace(RECORD, elapsed_s=RECORD.elapsed_s + 1.0)
    came, ended, cancel = threading.Event(), threading.Event(), threading.Event()
    kept: list[StudyRecord] = []

    def run(_: StudyRequest, *, on_measured: Any, cancel: threading.Event, **__: Any) -> StudyRecord:
        on_measured(RECORD)
        assert came.wait(30)
        on_measured(second)
        ended.set()
        assert cancel.wait(30)
        return second

    def keep(record: StudyRecord) -> None:
        kept.append(record)
        if len(kept) == 1:
            came.set()
            assert ended.wait(30)
            cancel.set()

    running(monkeypatch, run)
    with pytest.raises(wb.Cancelled):
        run_on_cluster(asked(tmp_path), cluster_of(client_of(one=HERE)), on_measured=keep, cancel=cancel)
    assert kept == [RECORD, second]


def test_the_error_of_a_worker_is_raised_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> StudyRecord:
        raise wb.RunFailed("the default config does not run", "give another")

    running(monkeypatch, run)
    with pytest.raises(wb.RunFailed, match="the default config does not run"):
        run_on_cluster(asked(tmp_path), cluster_of(client_of(one=HERE)))


def test_without_a_worker_that_measures_the_error_says_how_to_start_one(tmp_path: Path) -> None:
    client = client_of(one=HERE)
    client.infos["one"]["resources"] = {}
    with pytest.raises(
        wb.ClusterError, match=r"no worker of the cluster has the resource measuring\n.*--res"
    ):
        run_on_cluster(asked(tmp_path), cluster_of(client))


def test_an_unknown_target_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(wb.ClusterError, match=r"no worker of the cluster has the tag 'GPU'\n.*AVX2"):
        run_on_cluster(asked(tmp_path), cluster_of(client_of(one=HERE)), target="GPU")


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    client = client_of(one=HERE)
    client.machines["one"] = pack(WorkerDescription(HERE, (), "0.0.1"))
    with pytest.raises(wb.ClusterError, match=r"has version 0\.0\.1 of the workbench"):
        run_on_cluster(asked(tmp_path), cluster_of(client))


def test_a_study_goes_on_only_on_the_machine_that_it_was_measured_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running(monkeypatch, lambda *_, **__: RECORD)
    with pytest.raises(wb.ClusterError, match="no worker of the cluster is the machine"):
        run_on_cluster(asked(tmp_path, earlier=RECORD), cluster_of(client_of(one=OTHER)))
    client = client_of(one=OTHER, two=HERE)
    run_on_cluster(asked(tmp_path, earlier=RECORD), cluster_of(client))
    assert client.placed == ["two"]


def test_what_is_no_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.raises(wb.ConfigError, match=r"is no client of a Dask cluster"):
        Cluster(cast(Any, "tcp://scheduler:8786"))


def test_targets_race_at_once_and_their_best_configs_are_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(2, timeout=30)

    def run(*_: Any, **__: Any) -> StudyRecord:
        together.wait()
        return RECORD

    running(monkeypatch, run)
    monkeypatch.setattr(on_worker, "alone", lambda *_: nullcontext())  # two machines have a lock each
    client = client_of(one=HERE, two=OTHER)
    studies = search_targets(
        asked(tmp_path), cluster_of(client), ["tag-one", "tag-two"], progress=False, keep=False
    )
    assert sorted(client.placed) == ["one", "two"]
    frame = studies.to_frame()
    assert list(frame["target"]) == ["tag-one", "tag-two"]
    assert set(frame["study"]) == {RECORD.id}
    assert "tag-one: " in str(studies)
    assert "<table" in studies._repr_html_()


def test_studies_of_one_host_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy, most = [0], [0]

    def run(*_: Any, **__: Any) -> StudyRecord:
        busy[0] += 1
        most[0] = max(most[0], busy[0])
        threading.Event().wait(0.05)
        busy[0] -= 1
        return RECORD

    running(monkeypatch, run)
    client = client_of(one=HERE, two=HERE)
    for info in client.infos.values():
        info["host"] = "the same"
    search_targets(asked(tmp_path), cluster_of(client), ["tag-one", "tag-two"], progress=False, keep=False)
    assert sorted(client.placed) == ["one", "two"]
    assert most == [1]


def test_a_target_without_an_answer_is_a_row_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(one=HERE, two=OTHER)
    client.on_submit = lambda address: client.infos.pop(address) and None if address == "two" else None
    running(monkeypatch, lambda *_, **__: RECORD)
    studies = search_targets(
        asked(tmp_path), cluster_of(client), ["tag-one", "tag-two"], progress=False, keep=False
    )
    assert list(studies) == ["tag-one"]
    assert "can take the work over" in studies.errors["tag-two"].problem
    assert "can take the work over" in studies.to_frame()["ended"][1]
