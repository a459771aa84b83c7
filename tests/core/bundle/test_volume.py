"""Which folders lie on a disk that other machines share."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.bundle.database import is_networked

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home rw - nfs4 server:/home rw,vers=4.2
31 30 0:41 / /home/me/local rw - xfs /dev/vdb rw
32 22 0:42 / /mnt/with\\040space rw shared:5 master:2 - fuse.sshfs me@there:/ rw
33 22 0:43 / /over rw - nfs server:/over rw
34 22 0:44 / /over rw - tmpfs tmpfs rw
35 22 0:45 / /data rw - overlay overlay rw
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTS)
    return path


@pytest.mark.parametrize(
    ("folder", "networked"),
    [
        ("/", False),
        ("/var/lib", False),
        ("/home", True),
        ("/home/me", True),
        ("/home/me/local/deep", False),
        ("/homes", False),
        ("/mnt/with space/x", True),
        ("/over/x", False),
        ("/data", False),
    ],
)
def test_the_deepest_mount_decides(folder: str, networked: bool, mounts: Path) -> None:
    assert is_networked(Path(folder), mounts) is networked


def test_where_nobody_tells_it_is_local(tmp_path: Path) -> None:
    assert is_networked(tmp_path, tmp_path / "no such file") is False


def test_this_machine_can_be_asked(tmp_path: Path) -> None:
    assert is_networked(tmp_path) in (True, False)
