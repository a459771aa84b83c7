"""Bundles as nobody's software writes them: any member, any flag, any lie."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from tests.factories.records import comparison
from workbench.core.bundle.bundle import pack_record

Members = dict[str, bytes]


def good_members() -> Members:
    """What an honest bundle holds, manifest first."""
    return dict(_good_members())


@cache
def _good_members() -> Members:
    with zipfile.ZipFile(io.BytesIO(pack_record(comparison(), b"graph", private=True))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Mapping[str, bytes] | Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    """A zip of any members, honest about their sizes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, blob in members.items() if isinstance(members, Mapping) else members:
            archive.writestr(name, blob)
    return target.getvalue()


def signed(members: Members, **changes: Any) -> Members:
    """`members`, with other facts in the manifest."""
    manifest = {**json.loads(members["manifest.json"]), **changes}
    return {**members, "manifest.json": json.dumps(manifest).encode()}


def with_record(edit: Any) -> bytes:
    """An honest bundle whose record.json went through `edit`, which changes it or returns another."""
    members = good_members()
    data = json.loads(members["record.json"])
    changed = edit(data)
    members["record.json"] = json.dumps(data if changed is None else changed).encode()
    return zipped(members)


def patched(blob: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    """`blob` with bytes of its first header of a kind overwritten."""
    at = blob.index(signature) + offset
    return blob[:at] + value + blob[at + len(value) :]
