"""The CPU time and memory that a Linux control group (v1 or v2) allows this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

PROC = Path("/proc/self")
UNIFIED = ""  # the controller name that /proc/self/cgroup gives to the v2 hierarchy
NO_LIMIT = float(1 << 60)  # bytes: a limit from here on is none


@dataclass(frozen=True, slots=True)
class Mount:
    """One mounted hierarchy: its controllers, its part of the tree, and its path."""

    controllers: tuple[str, ...]  # (UNIFIED,) for v2
    root: str
    point: Path


@dataclass(frozen=True, slots=True)
class CgroupLimits:
    """The limits of the tightest group from this process up to the root; None: no limit."""

    cores: float | None
    memory_bytes: int | None


def own_texts() -> tuple[str, str]:
    """Return this process's membership and its mounts; empty texts where the system has no such files."""
    return _text(PROC / "cgroup"), _text(PROC / "mountinfo")


def own_groups(controller: str) -> tuple[Path, ...]:
    """Return the folders of this process's group and its ancestors, of a v1 controller and then of v2."""
    return _mounted_groups(controller, _text(PROC / "cgroup"), PROC / "mountinfo")


@cache  # memory is asked for ten times a second, and mounts hardly ever change
def _mounted_groups(controller: str, membership: str, mountinfo: Path) -> tuple[Path, ...]:
    paths, mounts = parse_membership(membership), parse_mounts(_text(mountinfo))
    return tuple(folder for name in (controller, UNIFIED) for folder in _folders(name, paths, mounts))


def memory_left() -> int | None:
    """Return the bytes that the tightest group leaves; None without a limit.

    File pages count as used, but the system reclaims them.
    """
    return min(
        (
            int(limit) - used + _reclaimable(folder)
            for folder in own_groups("memory")
            if (limit := _memory(folder)) is not None
            and (used := _number(folder, "memory.current", "memory.usage_in_bytes")) is not None
        ),
        default=None,
    )


def throttle_count() -> int | None:
    """Return how often a quota of this process's group or of an ancestor stopped it; None if not counted."""
    counts = [
        int(fields[at + 1])
        for folder in own_groups("cpu")
        if "nr_throttled" in (fields := _words(folder / "cpu.stat"))
        for at in [fields.index("nr_throttled")]
    ]
    return sum(counts) if counts else None


def parse_membership(text: str) -> dict[str, str]:
    """Return this process's group path by controller, from the text of /proc/self/cgroup."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        fields = line.split(":", 2)
        if len(fields) == 3:
            for controller in fields[1].split(","):
                paths[controller] = fields[2]
    return paths


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """Return the cgroup hierarchies in the text of /proc/self/mountinfo."""
    mounts = []
    for line in text.splitlines():
        before, separator, after = line.partition(" - ")
        place, kind = before.split(), after.split()
        if not separator or len(place) < 5 or len(kind) < 3:
            continue
        if kind[0] == "cgroup2":
            mounts.append(Mount((UNIFIED,), place[3], Path(_unescaped(place[4]))))
        elif kind[0] == "cgroup":
            mounts.append(Mount(tuple(kind[2].split(",")), place[3], Path(_unescaped(place[4]))))
    return tuple(mounts)


def read_limits(membership: str, mountinfo: str) -> CgroupLimits:
    """Return the limits in force: the tightest of all ancestors."""
    paths, mounts = parse_membership(membership), parse_mounts(mountinfo)

    def over(controller: str, read: Callable[[Path], float | None]) -> list[float]:
        limits = (read(folder) for folder in _folders(controller, paths, mounts))
        return [value for value in limits if value is not None]

    cores = over("cpu", _quota_v1) + over(UNIFIED, _quota_v2)
    memory = over("memory", _memory) + over(UNIFIED, _memory)
    return CgroupLimits(min(cores, default=None), int(min(memory)) if memory else None)


def _folders(controller: str, paths: dict[str, str], mounts: tuple[Mount, ...]) -> Iterator[Path]:
    """Yield this process's group folder and its ancestors, as far as mounted here."""
    path = paths.get(controller)
    mount = next((m for m in mounts if controller in m.controllers), None)
    if path is None or mount is None:
        return
    try:
        inside = PurePosixPath(path).relative_to(mount.root)
    except ValueError:  # a group outside the container's mount: only the mount itself is visible
        inside = PurePosixPath()
    if ".." in inside.parts:
        inside = PurePosixPath()
    yield mount.point / inside
    yield from ((mount.point / parent) for parent in inside.parents)


def _quota_v2(folder: Path) -> float | None:
    fields = _words(folder / "cpu.max")
    return _cores(fields[0], fields[1]) if len(fields) == 2 else None


def _quota_v1(folder: Path) -> float | None:
    quota, period = _words(folder / "cpu.cfs_quota_us"), _words(folder / "cpu.cfs_period_us")
    return _cores(quota[0], period[0]) if quota and period else None


def _cores(quota: str, period: str) -> float | None:
    """Return the quota in cores; `max` (v2) and -1 (v1) mean no limit."""
    if not quota.isdigit() or not period.isdigit() or int(quota) == 0 or int(period) == 0:
        return None
    return int(quota) / int(period)


def _memory(folder: Path) -> float | None:
    """Return the limit in bytes; v2 writes "no limit" as `max`, v1 as a huge number."""
    fields = _words(folder / "memory.max") or _words(folder / "memory.limit_in_bytes")
    limit = float(fields[0]) if fields and fields[0].isdigit() else NO_LIMIT
    return limit if limit < NO_LIMIT else None


def _number(folder: Path, *names: str) -> int | None:
    """Return the number in the first of these files that exists."""
    words = next(filter(None, (_words(folder / name) for name in names)), [""])
    return int(words[0]) if words[0].isdigit() else None


def _reclaimable(folder: Path) -> int:
    words = _words(folder / "memory.stat")
    pairs = zip(words[::2], words[1::2], strict=False)
    return sum(int(count) for name, count in pairs if name in ("active_file", "inactive_file"))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:  # only Linux has /proc, and it may hide it
        return ""


def _words(file: Path) -> list[str]:
    """Return the words of a file, or none if it does not exist: the root group has no limits."""
    try:
        return file.read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return []


def _unescaped(field: str) -> str:
    """Return a field of mountinfo, which writes blanks in octal."""
    return field.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
