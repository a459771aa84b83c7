"""The origin of a record (time, model, tools), stored separately if the record has no such fields."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from workbench.core.bundle.comparison import InputsRecord, ModelRecord
from workbench.core.bundle.machine import Machine, SoftwareVersions
from workbench.core.config import Config
from workbench.core.errors import BundleError

MOST_ID = 64


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a record. None: unknown, as for a trace of another program."""

    id: str
    created_utc: str
    model: ModelRecord | None
    config: Config | None
    inputs: InputsRecord | None
    machine: Machine | None
    versions: SoftwareVersions | None


def new_id(now: datetime) -> str:
    """Return a time with six digits, which distinguish records of one second."""
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def check_id(identity: str, fix: str) -> None:
    """Refuse an id that users cannot type, print or sort."""
    if not identity or len(identity) > MOST_ID or not identity.isascii() or not identity.isprintable():
        raise BundleError(f"id: expected 1 to {MOST_ID} printable ASCII letters.", fix)
