"""The connection to a scheduler: what is not there is said within the time that was asked for."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

import pytest

import workbench as wb
from workbench.search.cluster.connection import TlsFiles, connected


@pytest.fixture
def silent() -> str:
    """The address of a port at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{taken.getsockname()[1]}"


def test_an_address_without_a_scheduler_is_an_error_with_the_way_to_start_one(silent: str) -> None:
    with (
        pytest.raises(wb.ClusterError, match=r"no Dask scheduler at 'tcp://127.*\n.*dask scheduler"),
        connected(silent, timeout_s=0.3),
    ):
        pass


def test_an_address_with_tls_asks_for_certificates(silent: str) -> None:
    with (
        pytest.raises(wb.ClusterError, match=r"needs certificates: .*\n.*--tls-ca.*distributed\.comm\.tls"),
        connected(silent.replace("tcp", "tls"), timeout_s=0.3),
    ):
        pass


def test_a_cancel_ends_the_wait_for_a_scheduler(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.background.GRACE_S", 0.1)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(wb.Cancelled), connected(silent, timeout_s=1.0, cancel=cancel):
        pass


def test_without_dask_the_error_says_what_to_install(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(wb.ConfigError, match=r"Dask, which is not installed\n.*ort-workbench\[cluster\]"),
        connected(silent),
    ):
        pass


def test_a_missing_certificate_is_named(silent: str, tmp_path: Path) -> None:
    with (
        pytest.raises(wb.ConfigError, match=r"there is no file .*ca\.pem"),
        connected(silent, tls=TlsFiles(str(tmp_path / "ca.pem"))),
    ):
        pass


def test_certificates_make_the_connection_encrypted(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("")
    assert TlsFiles().security() is None
    security = TlsFiles(str(tmp_path / "ca.pem")).security()
    assert security is not None
    assert security.require_encryption
    assert security.tls_ca_file == str(tmp_path / "ca.pem")
