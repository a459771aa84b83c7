"""Is a folder on a disk of this machine, or on one that other machines write to as well?"""

from __future__ import annotations

import os
import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORKED = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|orangefs|virtiofs|davfs|fuse\..*"
)


def is_networked(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """True where memory cannot safely be shared through a file; False as well where nobody says."""
    place = os.path.realpath(folder)
    if place.startswith("\\\\"):
        return True
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # not Linux: its local disks are the rule
        return False
    return bool(_NETWORKED.fullmatch(_kind_of_mount(place, lines)))


def _kind_of_mount(place: str, lines: list[str]) -> str:
    """The file system type of the deepest mount above `place`; the last one listed lies on top."""
    best, kind = "", ""
    for line in lines:
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), left.split(" ")[4])
        if len(point) >= len(best) and (place == point or place.startswith(point.rstrip("/") + "/")):
            best, kind = point, right.split(" ")[0]
    return kind
