"""The connection to a Dask scheduler: its client, with certificates where it wants them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.background import in_background
from workbench.errors import ClusterError, ConfigError
from workbench.text import path_text, quoted

if TYPE_CHECKING:
    from distributed import Client, Security

CONNECT_S = 15.0


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The files of a client's certificates; Dask's own configuration has those that are not given."""

    tls_ca_file: str | None = None
    tls_client_cert: str | None = None
    tls_client_key: str | None = None

    def security(self) -> Security | None:
        """Return them as Dask takes them; None if no file is given."""
        from distributed import Security

        given = {name: file for name, file in asdict(self).items() if file is not None}
        for file in given.values():
            if not Path(file).is_file():
                raise ConfigError(f"there is no file {path_text(Path(file))}", "give the path of a PEM file")
        if not given:
            return None
        return Security(**given, require_encryption=True)  # type: ignore[no-untyped-call]


@contextmanager
def connected(
    address: str,
    *,
    tls: TlsFiles | None = None,
    timeout_s: float = CONNECT_S,
    cancel: threading.Event | None = None,
) -> Iterator[Client]:
    """Connect to a scheduler; a request to cancel ends the wait for it."""
    client_class = _client_class("a cluster")
    security = None if tls is None else tls.security()

    def connect(stop: threading.Event) -> Client:
        client = client_class(address, timeout=timeout_s, security=security, set_as_default=False)
        if stop.is_set():
            client.close()  # type: ignore[no-untyped-call]
        return client

    try:
        with in_background(connect, f"connect to {address}", cancel) as connecting:
            client = connecting.result()
    except TypeError as error:  # what Dask raises of an address with TLS without certificates
        raise ClusterError(
            f"{quoted(address)} needs certificates: {error}",
            "give --tls-ca, --tls-cert and --tls-key, or set distributed.comm.tls in Dask's configuration",
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise ClusterError(
            f"there is no Dask scheduler at {quoted(address)}: {error}",
            "start one, dask scheduler, and give the address that it prints: tcp://HOST:8786, or tls:// with "
            "certificates that it accepts",
        ) from error
    with client:
        yield client


def check_client(client: Any) -> Client:
    """Return the client; refuse what is none, and one that is asynchronous."""
    if not isinstance(client, _client_class("client=")) or client.asynchronous:
        raise ConfigError(
            f"client={quoted(client)} is no client of a Dask cluster",
            'connect one: client=distributed.Client("tcp://scheduler:8786")',
        )
    return client


def _client_class(name: str) -> type[Client]:
    """Return Dask's client; `name` is what needs it."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(
            f"{name} needs Dask, which is not installed", "pip install 'ort-workbench[cluster]'"
        ) from error
    return Client
