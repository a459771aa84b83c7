"""Whose a record is: when it was made, of which model, with what; for those that do not say it themselves."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.config import Config
from workbench.errors import BundleError
from workbench.records.comparison import InputsRecord, ModelRecord
from workbench.records.machine import Machine, Versions

MOST_ID = 64


@dataclass(frozen=True, slots=True)
class Origin:
    """None: not known, as of a trace that another program wrote."""

    id: str
    created_utc: str
    model: ModelRecord | None
    config: Config | None
    inputs: InputsRecord | None
    machine: Machine | None
    versions: Versions | None


def new_id(now: datetime) -> str:
    """A time, and six digits that tell records of one second apart."""
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def origin_now(
    model: ModelRecord | None,
    config: Config | None,
    inputs: InputsRecord | None,
    machine: Machine | None,
    versions: Versions | None,
) -> Origin:
    """Of a record made now, with an id of its own."""
    now = datetime.now(UTC)
    created = now.isoformat(timespec="seconds")
    return Origin(new_id(now), created, model, config, inputs, machine, versions)


def check_id(identity: str, fix: str) -> None:
    """Ids are typed, printed and sorted."""
    if not identity or len(identity) > MOST_ID or not identity.isascii() or not identity.isprintable():
        raise BundleError(f"id: expected 1 to {MOST_ID} printable ASCII letters.", fix)
