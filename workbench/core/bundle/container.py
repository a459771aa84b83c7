"""The zip file of a bundle, read as untrusted input.

Every size is known and bounded before a byte is unpacked, and only names that bundles use are read.
Nothing is ever extracted to disk.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import BinaryIO

from workbench.core.bundle import limits
from workbench.core.bundle.columns import BYTES, FILES, NANOSECONDS, REAL, WHOLE
from workbench.core.bundle.limits import DAMAGED
from workbench.core.errors import BundleError
from workbench.core.text import quoted

MANIFEST, RECORD, STRUCTURE = "manifest.json", "record.json", "graph/source.onnx"

_FOLDER = r"(?:parts/[0-9]{1,2}/)?"
SMALLER = "Save without the structure of the graph, or measure with a smaller budget_s."
_COLUMN_BYTES = 8 * limits.SAMPLES + limits.MEMBERS * 128  # 128: the header of an .npy file
_COLUMN = re.compile(rf"{_FOLDER}({FILES[REAL]}|{FILES[WHOLE]}|{NANOSECONDS})", re.ASCII)
_TEXT = re.compile(rf"{_FOLDER}{RECORD}", re.ASCII)
_BLOB = re.compile(rf"{_FOLDER}{FILES[BYTES]}|{STRUCTURE}", re.ASCII)
_SHARING = {  # names of members that share a bound: the most bytes of each, and of all together
    "columns": (_COLUMN, _COLUMN_BYTES, _COLUMN_BYTES),
    "records": (_TEXT, limits.RECORD_BYTES, limits.JSON_BYTES_IN_ALL),
    "graphs": (_BLOB, limits.BLOB_BYTES, 2 * limits.BLOB_BYTES),
}
_END = struct.Struct("<4s4H2LH")  # the record that ends every zip
_LOCATOR_BYTES = 20  # the locator of its 64-bit form, which bundles never use
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed time in the file: the same record gives the same bytes
_FLAG_ENCRYPTED, _FLAG_PATCHED, _FLAG_MASKED = 0x1, 0x20, 0x2000
_ZIP_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


def pack(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of `members`, in their order."""
    target = io.BytesIO()
    _check_together({name: len(blob) for name, blob in members.items()}, SMALLER)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, allowZip64=False) as archive:
        for name, blob in members.items():
            if len(blob) > _bound(name):
                raise BundleError(
                    f"{name} is {len(blob):,} bytes; a bundle holds at most {_bound(name):,} there.",
                    SMALLER,
                )
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, blob)
    return target.getvalue()


def unpack(source: BinaryIO) -> dict[str, bytes]:
    """Return all members of the zip in `source`; raise BundleError before reading anything large."""
    try:
        _check_end(source)
        with zipfile.ZipFile(source) as archive:
            infos = archive.infolist()
            _check_members(infos)
            return {info.filename: _read(archive, info) for info in infos}
    except _ZIP_FAULTS as error:
        raise BundleError(f"The zip is damaged: {error}.", DAMAGED) from error


def _check_end(source: BinaryIO) -> None:
    """Check that the zip directory is small and ends the file, since zipfile would read one of any size."""
    size = source.seek(0, io.SEEK_END)
    if size == 0:
        raise BundleError("The file is empty.", DAMAGED)
    if size > limits.FILE_BYTES:
        raise BundleError(f"The file is {size:,} bytes; a bundle has at most {limits.FILE_BYTES:,}.", DAMAGED)
    source.seek(max(0, size - _END.size - _LOCATOR_BYTES))
    tail = source.read()
    if len(tail) < _END.size or tail[-_END.size :][:4] != b"PK\x05\x06":
        raise BundleError("The file is not a bundle: it does not end as a zip does.", DAMAGED)
    _, disk, first_disk, here, members, length, start, _ = _END.unpack(tail[-_END.size :])
    plain = disk == first_disk == 0 and here == members and start + length + _END.size == size
    if not plain or tail[: -_END.size].startswith(b"PK\x06\x07"):
        raise BundleError("The zip is cut, extended, split or of the 64-bit form.", DAMAGED)
    if members > limits.MEMBERS or length > limits.DIRECTORY_BYTES:
        raise BundleError(f"The zip has {members} members; a bundle has at most {limits.MEMBERS}.", DAMAGED)


def _check_members(infos: list[zipfile.ZipInfo]) -> None:
    names: set[str] = set()
    for info in infos:
        name, mode = info.filename, info.external_attr >> 16
        if name != info.orig_filename or not _bound(name):
            raise BundleError(f"The zip has a member {quoted(info.orig_filename)}.", DAMAGED)
        if name in names:
            raise BundleError(f"The zip has {name} twice.", DAMAGED)
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise BundleError(f"{name} is a link or a special file.", DAMAGED)
        if info.flag_bits & (_FLAG_ENCRYPTED | _FLAG_PATCHED | _FLAG_MASKED):
            raise BundleError(f"{name} is encrypted or patched.", DAMAGED)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BundleError(f"{name} is compressed by method {info.compress_type}.", DAMAGED)
        if info.file_size > _bound(name):
            raise BundleError(f"{name} claims {info.file_size:,} bytes, over {_bound(name):,}.", DAMAGED)
        names.add(name)
    _check_together({info.filename: info.file_size for info in infos}, DAMAGED)


def _check_together(sizes: Mapping[str, int], fix: str) -> None:
    for kind, (pattern, _, most) in _SHARING.items():
        together = sum(size for name, size in sizes.items() if pattern.fullmatch(name))
        if together > most:
            raise BundleError(f"The {kind} have {together:,} bytes together, over {most:,}.", fix)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Read at most the claimed size; zipfile then checks the CRC, so a false claim fails."""
    with archive.open(info) as member:
        blob = member.read(info.file_size)
        if len(blob) != info.file_size or member.read(1):
            raise BundleError(f"{info.filename} is not {info.file_size:,} bytes as claimed.", DAMAGED)
    return blob


def _bound(name: str) -> int:
    """Return the maximum size of member `name` in bytes; 0 for a name that no bundle has."""
    if name == MANIFEST:
        return limits.MANIFEST_BYTES
    return next((most for pattern, most, _ in _SHARING.values() if pattern.fullmatch(name)), 0)
