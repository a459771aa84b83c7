"""The bundle: records in one file, safe to share and safe to open. docs/bundle.md describes the format."""

from __future__ import annotations

import errno
import io
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from workbench._version import __version__
from workbench.core.bundle import container, limits
from workbench.core.bundle.atomic import reason_of
from workbench.core.bundle.kinds import COMPARISONS, Kinds, Part, check_parts
from workbench.core.bundle.limits import DAMAGED, OURS
from workbench.core.bundle.member import (
    VERSION,
    Listed,
    Manifest,
    check_extents,
    record_from,
    record_members,
)
from workbench.core.bundle.origin import Origin, check_id
from workbench.core.config.foreign import ForeignPath
from workbench.core.errors import BundleError


@dataclass(frozen=True, slots=True)
class Bundle:
    """The content of a bundle. `version` is the version of the file; the records are in the current form."""

    record: Any
    about: Origin  # when, of which model and with what the record was made
    structure: bytes | None  # an ONNX model without its weights; None: no structure was saved
    parts: tuple[Part, ...]
    kind: str
    version: int
    workbench: str  # the workbench version that wrote the file
    foreign: tuple[ForeignPath, ...] = ()  # paths in its configs; the configs mark them, and no run uses them
    notes: tuple[tuple[str, str], ...] = ()  # untrusted texts by name


def read_bundle(path: str | os.PathLike[str], kinds: Kinds = COMPARISONS) -> Bundle:
    """Open a bundle of this or an earlier version. Reading never executes anything from the file."""
    try:
        place = Path(path).expanduser()
        if not stat.S_ISREG(place.stat().st_mode):  # a pipe or a device could deliver data for ever
            raise BundleError("It is not a file.", "Give the path of an .ortbench file.")
        with place.open("rb") as file:
            if _is_model(file.read(8)):
                raise BundleError(
                    "It is a model, not a saved result.",
                    "wb.load(path) opens models; wb.open(path) opens what result.save(path) wrote.",
                )
            return unpack_record(file, kinds)
    except BundleError as error:
        raise BundleError(f"{os.fspath(path)!r} cannot be opened: {error.problem}", error.fix) from error
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: a null byte; RuntimeError: no home
        missing = isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR)
        fix = "Correct the path." if missing else "Give the path of a bundle that you may read."
        raise BundleError(f"{os.fspath(path)!r} cannot be opened: {reason_of(error)}.", fix) from error


def _is_model(head: bytes) -> bool:
    """Return whether a file begins as an ONNX file, with its version, or as one in ORT format."""
    return head.startswith(b"\x08") or head[4:8] == b"ORTM"


def pack_record(
    record: object,
    structure: bytes | None,
    *,
    private: bool,
    about: Origin | None = None,
    parts: tuple[Part, ...] = (),
    kinds: Kinds = COMPARISONS,
    notes: tuple[tuple[str, str], ...] = (),
) -> bytes:
    """Return the bytes of a bundle, the same bytes for the same records. `private` keeps absolute paths.

    `structure` is the model's graph without the data of its initializers.
    """
    kind = kinds.of(record, "Save what the workbench returned.")
    kind.check(record, OURS)
    whose = kinds.about(record, about)
    check_id(whose.id, OURS)
    check_parts(record, parts, OURS)
    if len(parts) > limits.PARTS:
        raise BundleError(f"A bundle holds at most {limits.PARTS} parts, not {len(parts)}.", OURS)
    secrets: set[str] = set()  # of every member, cut out of all of them
    manifest = Manifest(
        format="ortbench",
        version=VERSION,
        kind=kind.name,
        created_utc=whose.created_utc,
        workbench=__version__,
        about=None if kind.about is not None else whose,
        parts=tuple(Listed(part.name, part.about) for part in parts),
        notes=notes,
    )
    members = {container.MANIFEST: manifest.dump(private=private, secrets=secrets)}
    members |= record_members(record, "", private=private, secrets=secrets)
    if structure is not None:
        members[container.STRUCTURE] = structure
    for number, part in enumerate(parts):
        kinds.named(part.kind).check(part.record, OURS)
        members |= record_members(part.record, f"parts/{number}/", private=private, secrets=secrets)
    return container.pack(members)


def unpack_record(source: BinaryIO | bytes, kinds: Kinds = COMPARISONS, *, own: bool = False) -> Bundle:
    """Return the checked bundle in `source`. `own`: the paths in its configs are the user's."""
    foreign: list[ForeignPath] | None = None if own else []
    members = container.unpack(io.BytesIO(source) if isinstance(source, bytes) else source)
    if container.MANIFEST not in members or container.RECORD not in members:
        raise BundleError(f"It has no {container.MANIFEST} or no {container.RECORD}.", DAMAGED)
    manifest = Manifest.load(members.pop(container.MANIFEST), foreign)
    check_extents(members)
    kind = kinds.named(manifest.kind)
    structure = members.pop(container.STRUCTURE, None)
    record = record_from(members, "", kind, foreign)
    if len(manifest.parts) > limits.PARTS:
        raise BundleError(
            f"It has {len(manifest.parts)} parts; a bundle has at most {limits.PARTS}.", DAMAGED
        )
    parts = []
    for number, listed in enumerate(manifest.parts):
        part = Part(listed.name, None, listed.about)
        part_kind = kinds.named(part.kind)
        parts.append(replace(part, record=record_from(members, f"parts/{number}/", part_kind, foreign)))
    if members:
        raise BundleError(f"It has a member {min(members)} that belongs to no record.", DAMAGED)
    check_parts(record, tuple(parts), DAMAGED)
    if (manifest.about is None) is (kind.about is None):
        raise BundleError("manifest.json: about does not fit the kind of record.", DAMAGED)
    about = kinds.about(record, manifest.about)
    check_id(about.id, DAMAGED)
    return Bundle(
        record,
        about,
        structure,
        tuple(parts),
        manifest.kind,
        manifest.version,
        manifest.workbench,
        tuple(dict.fromkeys(foreign or ())),
        manifest.notes,
    )
