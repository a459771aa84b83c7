"""The first member of a bundle: what the file is, and which members it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.errors import BundleError
from workbench.records.codec import decode, encode
from workbench.records.columns import ColumnReader, ColumnWriter
from workbench.records.jsontext import DAMAGED, dump_json, load_json
from workbench.records.upgrades import refuse_newer


@dataclass(frozen=True, slots=True)
class Member:
    """One other member; the hash is of its content, unpacked."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a reader needs to know before it reads the rest."""

    format: Literal["ortbench"]
    version: int
    kind: str
    created_utc: str
    workbench: str  # the version that wrote the file
    members: tuple[Member, ...]

    def dump(self) -> bytes:
        """As JSON."""
        return dump_json(encode(self, ColumnWriter()))

    @classmethod
    def load(cls, blob: bytes) -> Manifest:
        """From JSON, which may be that of a later version with fields unknown to us."""
        data = load_json(blob, "manifest.json")
        if not isinstance(data, dict) or data.get("format") != "ortbench":
            raise BundleError("manifest.json does not say that this is a bundle.", DAMAGED)
        version = data.get("version")
        if isinstance(version, int):
            refuse_newer(version)
        try:
            return decode(cls, data, ColumnReader({}))
        except BundleError as error:
            raise BundleError(f"manifest.json: {error.problem}", error.fix) from error
