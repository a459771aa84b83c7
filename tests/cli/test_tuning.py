"""`workbench tune` on a cluster: what it asks for, what it prints and saves, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.models import tiny
from tests.search.cluster.fakes import HERE, OTHER, RECORD, client_of, quicken, running
from workbench.cli import main
from workbench.records.goal import Goal
from workbench.records.origin import new_id
from workbench.search.cluster import connection, on_worker
from workbench.search.cluster.connection import TlsFiles
from workbench.search.request import StudyRequest

ADDRESS = "tls://scheduler:8786"


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(tiny.save(tiny.mlp(), tmp_path))


@pytest.fixture
def connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, TlsFiles]]:
    """A cluster of two machines at every address; the list gets the addresses that were connected to."""
    quicken(monkeypatch, tmp_path / "home")
    monkeypatch.setattr(on_worker, "alone", lambda *_: nullcontext())  # two machines have a lock each
    made: list[tuple[str, TlsFiles]] = []

    @contextmanager
    def connected(address: str, *, tls: TlsFiles) -> Iterator[Any]:
        made.append((address, tls))
        yield client_of(one=HERE, two=OTHER)

    monkeypatch.setattr(connection, "connected", connected)
    return made


def test_a_study_on_a_cluster_is_asked_for_with_its_certificates(
    connections: list[tuple[str, TlsFiles]],
    model: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    requests: list[StudyRequest] = []

    def run(request: StudyRequest, **_: Any) -> Any:
        requests.append(request)
        return RECORD

    running(monkeypatch, run)
    monkeypatch.setattr(on_worker, "default_space", lambda *_, **__: wb.Space.of(level=("basic",)))
    tls = ["--tls-ca", "ca.pem", "--tls-cert", "me.pem", "--tls-key", "me.key"]
    limits = ["--max-p99", "5", "--max-load", "2", "--max-file", "8"]
    assert main(["tune", model, "--cluster", ADDRESS, *tls, *limits, "--budget", "20"]) == 0
    assert connections == [(ADDRESS, TlsFiles("ca.pem", "me.pem", "me.key"))]
    (request,) = requests
    assert request.goal == Goal(max_p99_s=0.005, max_load_s=2.0, max_file_bytes=8 << 20)
    assert request.space == wb.Space.of(level=("basic",)), "that of the worker's machine"
    assert RECORD.headline in capsys.readouterr().out


@pytest.mark.usefixtures("connections")
def test_each_target_has_its_line_and_its_file(
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    records = iter([RECORD, replace(RECORD, id=new_id(datetime.now(UTC)))])  # the history has one of each id
    running(monkeypatch, lambda *_, **__: next(records))
    monkeypatch.setattr(on_worker, "default_space", lambda *_, **__: wb.Space.of(level=("basic",)))
    targets = ["--target", "tag-one", "--target", "tag-two"]
    output = ["-o", str(tmp_path / "study.ortbench")]
    assert main(["tune", model, "--cluster", ADDRESS, *targets, "--budget", "20", *output]) == 0
    out = capsys.readouterr().out
    assert f"tag-one: {RECORD.headline}" in out
    assert f"tag-two: {RECORD.headline}" in out
    for target in ("tag-one", "tag-two"):
        assert wb.open(tmp_path / f"study-{target}.ortbench").best == RECORD.best_config


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--target", "GPU"], "--target needs a cluster"),
        (["--tls-ca", "ca.pem"], "--tls-ca, --tls-cert and --tls-key need a cluster"),
        (["--cluster", ADDRESS, "--tls-ca", "nowhere.pem"], "there is no file nowhere.pem"),
    ],
)
def test_options_that_lead_nowhere_are_refused(
    model: str, options: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", model, *options]) == 2
    assert problem in capsys.readouterr().err
