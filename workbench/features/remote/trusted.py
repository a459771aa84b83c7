"""What is believed of a cluster: an encrypted connection, and an answer to the question that was asked."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from workbench.core.bundle.bundle import Bundle
from workbench.core.config import Config
from workbench.core.errors import ClusterError, ConfigError
from workbench.core.measure.processor_time import at_one_thread
from workbench.core.models import Model
from workbench.core.text import quoted
from workbench.features.base.folder import configs_of

_ENCRYPTED = ("tls", "wss")
_LOOK = "look at that machine and its log: its answers are not to be trusted"


def check_address(address: str) -> None:
    """Refuse a scheduler that others on the network could read from, or send code to."""
    parts = urlsplit(address)
    if parts.scheme in (*_ENCRYPTED, "inproc") or _is_loopback(parts.hostname or ""):
        return
    raise ConfigError(
        f"the scheduler at {quoted(address)} is reached without TLS: whoever reads or joins the connection "
        "can run code on the workers and here",
        "start scheduler and workers with --tls-ca-file, --tls-cert and --tls-key and connect to tls://; or "
        "reach it on this machine: ssh -L 8786:127.0.0.1:8786 HOST, then tcp://127.0.0.1:8786",
    )


def check_answer(
    bundle: Bundle, kind: str, model: Model | None, subjects: Sequence[Any], *, clock: object = "wall"
) -> None:
    """Refuse a bundle of another kind, of another model, or of other configs than were sent.

    A comparison by `clock="cpu"` runs the configs that were sent at one thread.
    """
    if bundle.kind != kind:
        raise ClusterError(f"the worker answered with a {quoted(bundle.kind)}, not with a {kind}", _LOOK)
    theirs = bundle.about.model
    if model is not None and theirs is not None and theirs.sha256 != model.sha256:
        raise ClusterError(f"the worker answered about another model, {quoted(theirs.name)}", _LOOK)
    if kind == "comparison" and not bundle.foreign and all(type(config) is Config for config in subjects):
        configs = [*configs_of(bundle.record).values()]
        if configs != ([*map(at_one_thread, subjects)] if clock == "cpu" else [*subjects]):
            raise ClusterError("the worker answered about other configs than were sent", _LOOK)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name, which a name server may send anywhere
        return host == "localhost"
