"""Pack speedscope's released build into the served zip: `python repack.py speedscope-1.25.0.tgz`.

The same archive gives the same bytes.
"""

from __future__ import annotations

import json
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

RELEASE = PurePosixPath("package/dist/release")
_EXAMPLE = "perf-vertx-stacks"  # an example profile, a quarter of the archive


def main(archive: str) -> None:
    with tarfile.open(archive) as packed:
        files = {PurePosixPath(item.name): packed.extractfile(item) for item in packed if item.isfile()}
        read = {path: file.read() for path, file in files.items() if file is not None}
    version = json.loads(read[PurePosixPath("package/package.json")])["version"]
    kept = {path.name: data for path, data in read.items() if path.parent == RELEASE}
    kept["LICENSE"] = read[PurePosixPath("package/LICENSE")]
    target = Path(__file__).with_name(f"speedscope-{version}.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name in sorted(kept):
            if not name.startswith(_EXAMPLE):
                made.writestr(zipfile.ZipInfo(name), kept[name], zipfile.ZIP_DEFLATED, compresslevel=9)
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
