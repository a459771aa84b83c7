"""The first member of a bundle: the type of the file and the list of its members."""

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
    """One other member; the hash is of its unpacked content."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Listed:
    """One record beside the main record. Its members are in folder `parts/n`, n its position in the list."""

    name: str  # its kind, and after a slash the label of a run
    about: Origin | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The facts that a reader needs before reading the rest."""

    format: Literal["ortbench"]
    version: int
    kind: str
    created_utc: str
    workbench: str  # the version that wrote the file
    about: Origin | None  # null: the main record has its own origin
    parts: tuple[Listed, ...]
    members: tuple[Member, ...]

    def dump(self, *, private: bool = True) -> bytes:
        """Return the manifest as JSON; without absolute paths unless `private`."""
        data = encode(self, ColumnWriter())
        return dump_json(data if private else without_paths(data))

    @classmethod
    def load(cls, blob: bytes, foreign: list[ForeignPath] | None = None) -> Manifest:
        """Read the manifest from JSON; ignore unknown fields of later versions."""
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
