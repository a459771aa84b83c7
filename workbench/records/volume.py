"""Detection of network file systems, which other machines write to as well."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORKED = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|orangefs|virtiofs|davfs|fuse\..*"
)


def is_networked(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Return True if files cannot safely share memory; False also if the file system is unknown."""
    place = os.path.realpath(folder)
    if place.startswith("\\\\"):
        return True
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # not Linux: assume a local disk
        return False
    return bool(_NETWORKED.fullmatch(_kind_of_mount(place, lines)))


def _kind_of_mount(place: str, lines: list[str]) -> str:
    """Return the file system type of the deepest mount above `place`; the last listed mount is on top."""
    best, kind = "", ""
    for line in lines:
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), left.split(" ")[4])
        if len(point) >= len(best) and (place == point or place.startswith(point.rstrip("/") + "/")):
            best, kind = point, right.split(" ")[0]
    return kind
