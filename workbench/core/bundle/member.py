"""The members of a bundle: a manifest that lists them, and each record as JSON, columns, texts and blobs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.core.bundle import container, limits
from workbench.core.bundle.codec import decode, encode
from workbench.core.bundle.columns import ColumnReader, ColumnWriter
from workbench.core.bundle.jsontext import DAMAGED, check_extent, dump_compact, dump_json, load_json
from workbench.core.bundle.kinds import Kind
from workbench.core.bundle.origin import Origin
from workbench.core.bundle.privacy import without_paths
from workbench.core.bundle.scalars import Text
from workbench.core.bundle.upgrades import refuse_newer, upgrade
from workbench.core.config.foreign import ForeignPath
from workbench.core.errors import BundleError
from workbench.core.text import quoted


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


def record_members(record: object, folder: str, *, private: bool) -> dict[str, bytes]:
    """Return the members of `record`; their names begin with `folder`."""
    columns = ColumnWriter()
    data = encode(record, columns)
    texts: object = columns.texts
    if not private:
        data, texts = without_paths(data), without_paths(texts)
    members = {container.RECORD: dump_json(data), **columns.members()}
    if texts:
        members[container.TEXTS] = dump_compact(texts)
    return {f"{folder}{name}": blob for name, blob in members.items()}


def record_from(
    members: dict[str, bytes], folder: str, kind: Kind, version: int, foreign: list[ForeignPath] | None
) -> object:
    """Return the checked record in `folder`; remove its members from `members`."""
    names = [name for name in members if name.startswith(folder) and (folder or name[:6] != "parts/")]
    own = {name.removeprefix(folder): members.pop(name) for name in names}
    if container.RECORD not in own:
        raise BundleError(f"It has no {folder}{container.RECORD}.", DAMAGED)
    place = f"{folder}{container.RECORD}"
    data = upgrade(kind.name, version, load_json(own.pop(container.RECORD), place))
    texts = _texts(own.pop(container.TEXTS, None), f"{folder}{container.TEXTS}")
    record: object = decode(kind.cls, data, ColumnReader(own, texts, foreign))
    kind.check(record, DAMAGED)
    return record


def check_extents(members: Mapping[str, bytes]) -> None:
    """Check the total size of all JSON before reading any of it."""
    items = sum(check_extent(blob, name) for name, blob in members.items() if name.endswith(".json"))
    if items > limits.JSON_ITEMS_IN_ALL:
        raise BundleError(f"Its records hold more than {limits.JSON_ITEMS_IN_ALL:,} values.", DAMAGED)


def describe(name: str, blob: bytes) -> Member:
    """Return the manifest's entry of a member."""
    return Member(name, len(blob), hashlib.sha256(blob).hexdigest())


def compare(listed: Iterable[Member], present: Iterable[Member]) -> None:
    """Refuse members that differ from the manifest."""
    wrong = set(listed) ^ set(present)
    if wrong:
        names = ", ".join(sorted({quoted(member.name) for member in wrong})[:5])
        raise BundleError(f"These members are not what the manifest lists: {names}.", DAMAGED)


def _texts(blob: bytes | None, name: str) -> list[str]:
    if blob is None:
        return []
    texts = load_json(blob, name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BundleError(f"{name} is not a list of texts.", DAMAGED)
    for text in texts:
        Text().check(text, name, DAMAGED)
    return texts
