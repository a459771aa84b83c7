"""How the golden bundles were made. A file of a released version is never made again: it must open for ever.

`python -m tests.core.bundle.golden.make` writes those of today: a comparison, a comparison with all that can
be examined of it, and one of every other kind of result.
"""

from __future__ import annotations

from pathlib import Path

from tests.factories.comparisons import ordinary
from tests.factories.records import comparison
from tests.factories.results import every_kind, parts
from workbench.core.bundle.bundle import pack_record
from workbench.core.bundle.member import VERSION
from workbench.features.base.registry import KINDS

FOLDER = Path(__file__).parent


def main() -> None:
    """Those of earlier versions are left alone."""
    plain = pack_record(comparison(), b"graph", private=True)
    (FOLDER / f"comparison-{VERSION}.ortbench").write_bytes(plain)
    whole = pack_record(ordinary(), b"graph", private=True, parts=parts(), kinds=KINDS)
    (FOLDER / f"examined-{VERSION}.ortbench").write_bytes(whole)
    for kind, result in every_kind().items():
        if kind != "comparison":
            result.save(FOLDER / f"{kind.replace(' ', '-')}-{VERSION}.ortbench")


if __name__ == "__main__":
    main()
