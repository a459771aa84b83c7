"""The bundle: one record in one file, safe to hand on and safe to open. docs/bundle.md is its description."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from workbench import __version__
from workbench.errors import BundleError
from workbench.records import container
from workbench.records.atomic import reason_of, write_atomically
from workbench.records.codec import decode, encode
from workbench.records.columns import ColumnReader, ColumnWriter
from workbench.records.jsontext import DAMAGED, OURS, dump_json, load_json, shorten
from workbench.records.kinds import KINDS, Record, check, kind_of
from workbench.records.manifest import Manifest, Member
from workbench.records.privacy import without_paths
from workbench.records.upgrades import VERSION, upgrade


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle holds. `version` is that of the file; the record is in the form of today."""

    record: Record
    structure: bytes | None  # an ONNX model without its weights; None: none was saved
    kind: str
    version: int
    workbench: str  # the version that wrote it


def write_bundle(record: Record, path: str | os.PathLike[str], *, structure: bytes | None = None) -> Path:
    """Save `record` at `path`, without absolute paths; the file that stood there is replaced at once or kept.

    `structure` is the model's graph without the data of its initializers.
    """
    return write_atomically(path, pack_record(record, structure, private=False))


def read_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Open a bundle of this version or an earlier one. Nothing in it is run, whoever made it."""
    try:
        with _open(path) as file:
            return unpack_record(file)
    except BundleError as error:
        raise BundleError(f"{os.fspath(path)!r} cannot be opened: {error.problem}", error.fix) from error
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: a null byte; RuntimeError: no home
        missing = isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR)
        fix = "Correct the path." if missing else "Give the path of a bundle that you may read."
        raise BundleError(f"{os.fspath(path)!r} cannot be opened: {reason_of(error)}.", fix) from error


def pack_record(record: Record, structure: bytes | None, *, private: bool) -> bytes:
    """The bytes of a bundle; the same record gives the same bytes. `private` keeps absolute paths."""
    kind = kind_of(record, "Save what wb.compare returned.")
    check(record, OURS)
    columns = ColumnWriter()
    data = encode(record, columns)
    members = {container.RECORD: dump_json(data if private else without_paths(data)), **columns.members()}
    if structure is not None:
        members[container.STRUCTURE] = structure
    listed = tuple(_describe(name, blob) for name, blob in members.items())
    manifest = Manifest("ortbench", VERSION, kind, record.created_utc, __version__, listed)
    return container.pack({container.MANIFEST: manifest.dump(), **members})


def unpack_record(source: BinaryIO | bytes) -> Bundle:
    """The bundle in `source`, every part of it checked."""
    members = container.unpack(io.BytesIO(source) if isinstance(source, bytes) else source)
    if container.MANIFEST not in members or container.RECORD not in members:
        raise BundleError(f"It has no {container.MANIFEST} or no {container.RECORD}.", DAMAGED)
    manifest = Manifest.load(members.pop(container.MANIFEST))
    _compare(manifest.members, (_describe(name, blob) for name, blob in members.items()))
    if manifest.kind not in KINDS:
        raise BundleError(f"It holds a {shorten(manifest.kind)}; known: {', '.join(KINDS)}.", DAMAGED)
    structure = members.pop(container.STRUCTURE, None)
    data = upgrade(
        manifest.kind, manifest.version, load_json(members.pop(container.RECORD), container.RECORD)
    )
    record = decode(KINDS[manifest.kind], data, ColumnReader(members))
    check(record, DAMAGED)
    return Bundle(record, structure, manifest.kind, manifest.version, manifest.workbench)


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    """A pipe or a device could deliver for ever, so only a regular file is opened."""
    place = Path(path).expanduser()
    if not stat.S_ISREG(place.stat().st_mode):
        raise BundleError("It is not a file.", "Give the path of an .ortbench file.")
    return place.open("rb")


def _describe(name: str, blob: bytes) -> Member:
    return Member(name, len(blob), hashlib.sha256(blob).hexdigest())


def _compare(listed: Iterable[Member], found: Iterable[Member]) -> None:
    wrong = set(listed) ^ set(found)
    if wrong:
        names = ", ".join(sorted({shorten(member.name) for member in wrong})[:5])
        raise BundleError(f"These members are not what the manifest lists: {names}.", DAMAGED)
