"""How the golden bundles were made. A file of a released version is never made again: it must open for ever.

`python -m tests.records.golden.make` writes the one of the version of today.
"""

from __future__ import annotations

from pathlib import Path

from tests.records.examples import comparison
from workbench.records.bundle import pack_record
from workbench.records.upgrades import VERSION

FOLDER = Path(__file__).parent

if __name__ == "__main__":
    (FOLDER / f"comparison-{VERSION}.ortbench").write_bytes(pack_record(comparison(), b"graph", private=True))
