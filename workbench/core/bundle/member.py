"""The members of a bundle: a manifest, and each record as JSON with its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from workbench.core.bundle import container, limits
from workbench.core.bundle.codec import check_extent, decode, encode
from workbench.core.bundle.columns import FILES, NANOSECONDS, Columns
from workbench.core.bundle.kinds import Kind
from workbench.core.bundle.limits import DAMAGED
from workbench.core.bundle.origin import Origin
from workbench.core.bundle.privacy import without_paths
from workbench.core.config.foreign import ForeignPath
from workbench.core.errors import BundleError
from workbench.core.text import quoted

T = TypeVar("T")
VERSION = 2


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
    notes: tuple[tuple[str, str], ...] = ()  # texts by name of the one who saved it, such as a hand-in

    def dump(self, *, private: bool = True, secrets: set[str] | None = None) -> bytes:
        """Return the manifest as JSON; without absolute paths unless `private`."""
        return encode(self, Columns(secrets=secrets), None if private else without_paths)

    @classmethod
    def load(cls, blob: bytes, foreign: list[ForeignPath] | None = None) -> Manifest:
        """Read the manifest from JSON of this version of the format."""
        _check_version(blob)
        return _named(container.MANIFEST, cls, blob, Columns(foreign=foreign))


def _check_version(blob: bytes) -> None:
    """Refuse another format, or another version of this one, whatever else the manifest says."""
    import msgspec

    try:
        data = msgspec.json.decode(blob)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BundleError(f"{container.MANIFEST} is not valid JSON: {error}.", DAMAGED) from error
    if not isinstance(data, dict) or data.get("format") != "ortbench":
        raise BundleError(f"{container.MANIFEST} does not say that this is a bundle.", DAMAGED)
    version = data.get("version")
    if isinstance(version, int) and version != VERSION:
        raise BundleError(
            f"The bundle has version {quoted(version)}; this workbench reads version {VERSION}.",
            "Update ort-workbench to the version that wrote it or a later one."
            if version > VERSION
            else "Measure again and save that, or open it with the workbench that wrote it.",
        )


def _named(name: str, cls: type[T], blob: bytes, columns: Columns) -> T:
    try:
        return decode(cls, blob, columns)
    except BundleError as error:
        raise BundleError(f"{name}: {error.problem}", error.fix) from error


def record_members(
    record: object, folder: str, *, private: bool, secrets: set[str] | None = None
) -> dict[str, bytes]:
    """Return the members of `record`; their names begin with `folder`.

    The `secrets` of other members are cut out of it as well, and those of its configs are added to them.
    """
    columns = Columns(secrets=secrets)
    blob = encode(record, columns, None if private else without_paths)
    members = {container.RECORD: blob, **columns.members()}
    return {f"{folder}{name}": blob for name, blob in members.items()}


def record_from(
    members: dict[str, bytes], folder: str, kind: Kind, foreign: list[ForeignPath] | None
) -> object:
    """Return the checked record in `folder`; remove its members from `members`."""
    text = f"{folder}{container.RECORD}"
    if text not in members:
        raise BundleError(f"It has no {text}.", DAMAGED)
    blob = members.pop(text)
    names = [name for name in (*FILES.values(), NANOSECONDS) if folder + name in members]
    files = {name: members.pop(folder + name) for name in names}
    record: object = _named(text, kind.cls, blob, Columns.of(files, foreign))
    kind.check(record, DAMAGED)
    return record


def check_extents(members: Mapping[str, bytes]) -> None:
    """Check the total size of all JSON before reading any of it."""
    items = sum(check_extent(blob, name) for name, blob in members.items() if name.endswith(".json"))
    if items > limits.JSON_ITEMS_IN_ALL:
        raise BundleError(f"Its records hold more than {limits.JSON_ITEMS_IN_ALL:,} values.", DAMAGED)
