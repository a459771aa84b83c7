"""Record a comparison of a sample on this machine: `python -m sample_models.record NAME -o FILE.ortbench`.

The bundle opens on any machine, with or without the original hardware. Configs are written as on the command
line of `workbench compare`: `--a level=all --b level=all --b providers=CUDAExecutionProvider`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Compare two configs of a sample and save the bundle."""
    parser = argparse.ArgumentParser(prog="python -m sample_models.record", description=__doc__)
    parser.add_argument("name", metavar="NAME", help="a sample's name")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the bundle to write"
    )
    parser.add_argument("--a", action="append", default=[], metavar="KEY=VALUE", help="of the baseline")
    parser.add_argument("--b", action="append", default=[], metavar="KEY=VALUE", help="of the candidate")
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS")
    chosen = parser.parse_args(arguments)

    import workbench as wb

    try:
        comparison = wb.compare(
            wb.load(chosen.name),
            wb.Config.from_assignments(chosen.a or ["level=disabled"]),
            wb.Config.from_assignments(chosen.b),
            budget_s=chosen.budget,
            keep=False,
        )
        saved = comparison.save(chosen.output)
    except wb.WorkbenchError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{comparison}\n{saved} ({saved.stat().st_size:,} bytes)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
