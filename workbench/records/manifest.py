"""The first member of a bundle: what the file is, and which members it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.config.foreign import ForeignPath
from workbench.errors import BundleError
from workbench.records.codec import decode, encode
from workbench.records.columns import ColumnReader, ColumnWriter
from workbench.records.jsontext import DAMAGED, dump_json, load_json
from workbench.records.origin import Origin
from workbench.records.privacy import without_paths
from workbench.records.upgrades import refuse_newer


@dataclass(frozen=True, slots=True)
class Member:
    """One other member; the hash is of its content, unpacked."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Listed:
    """One record beside the main one. Its members are in the folder `parts/n`, n its place in the list."""

    name: str  # its kind, and after a slash the label of a run
    about: Origin | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a reader needs to know before it reads the rest."""

    format: Literal["ortbench"]
    version: int
    kind: str
    created_utc: str
    workbench: str  # the version that wrote the file
    about: Origin | None  # null: the main record says itself whose it is
    parts: tuple[Listed, ...]
    members: tuple[Member, ...]

    def dump(self, *, private: bool = True) -> bytes:
        """As JSON; not `private`: without absolute paths."""
        data = encode(self, ColumnWriter())
        return dump_json(data if private else without_paths(data))

    @classmethod
    def load(cls, blob: bytes, foreign: list[ForeignPath] | None = None) -> Manifest:
        """From JSON, which may be that of a later version with fields unknown to us."""
        data = load_json(blob, "manifest.json")
        if not isinstance(data, dict) or data.get("format") != "ortbench":
            raise BundleError("manifest.json does not say that this is a bundle.", DAMAGED)
        version = data.get("version")
        if isinstance(version, int):
            refuse_newer(version)
        try:
            return decode(cls, data, ColumnReader({}, foreign=foreign))
        except BundleError as error:
            raise BundleError(f"manifest.json: {error.problem}", error.fix) from error
