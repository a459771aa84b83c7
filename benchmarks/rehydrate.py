"""What drawing a skeleton's weights costs, against writing as many bytes: `python -m benchmarks.rehydrate`.

Both write to the same folder in turns, without waiting for the disk; each round is a ratio, and the table
shows the median of the rounds. Rehydrating counts from the packed skeleton to the finished model.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from sample_models import SKELETONS
from sample_models.rehydrate import rehydrate

ALLOWED = 3.0  # how many times the plain writing BERT-base may take


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rehydrate", description=__doc__)
    parser.add_argument("names", nargs="*", default=["bert-base"], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, help="write the numbers there as JSON")
    options = parser.parse_args(arguments)
    found = [measure(name, options.rounds) for name in options.names]
    print(f"{'sample':24}{'MB':>8}{'write s':>10}{'rehydrate s':>13}{'ratio':>8}")
    for row in found:
        print(
            f"{row['name']:24}{row['bytes'] / 1e6:8.0f}{row['write_s']:10.3f}{row['rehydrate_s']:13.3f}"
            f"{row['ratio']:8.2f}"
        )
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return int(any(row["ratio"] > ALLOWED for row in found))


def measure(name: str, rounds: int) -> dict[str, float | str]:
    """Medians over the rounds; a first round, which imports and fills caches, is thrown away."""
    packed = (SKELETONS / f"{name}.onnx.xz").read_bytes()
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            start = time.perf_counter()
            files = rehydrate(packed, Path(folder) / "model.onnx")
            drawn_s = time.perf_counter() - start
            contents = [path.read_bytes() for path in files]
            for path in files:
                path.unlink()
            pairs.append((drawn_s, plain_write_s(files, contents)))
    kept = pairs[1:]
    return {
        "name": name,
        "bytes": sum(map(len, contents)),
        "write_s": median(write for _, write in kept),
        "rehydrate_s": median(drawn for drawn, _ in kept),
        "ratio": median(drawn / write for drawn, write in kept),
    }


def plain_write_s(paths: tuple[Path, ...], contents: list[bytes]) -> float:
    """Writing the very same bytes, from memory."""
    start = time.perf_counter()
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    taken_s = time.perf_counter() - start
    for path in paths:
        path.unlink()
    return taken_s


if __name__ == "__main__":
    sys.exit(main())
