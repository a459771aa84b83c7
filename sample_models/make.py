"""Make a skeleton again: `python -m sample_models.make NAME`. Needs the extra `torch`.

The export is a few hundred megabytes and goes to a temporary folder, or stays with `--keep FOLDER`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from sample_models import CARDS
from sample_models import SKELETONS as FOLDER
from sample_models.balance import balance
from sample_models.blueprints import example_inputs, fresh_export
from sample_models.cards import SampleCard, write_card
from sample_models.catalogue import REAL, SKELETONS, meaning
from sample_models.describe import facts
from sample_models.rehydrate import rehydrate
from sample_models.skeleton import save_skeleton, strip

MADE_WITH = ("torch", "transformers", "onnx", "onnxscript")


def make(name: str, exports: Path) -> SampleCard:
    """Export, strip and describe one skeleton; write its two files."""
    path = FOLDER / f"{name}.onnx.xz"
    skeleton = strip(fresh_export(name, exports))
    balance(skeleton, exports / f"{name}.onnx", example_inputs(name))
    save_skeleton(skeleton, path)
    with tempfile.TemporaryDirectory() as folder:
        files = rehydrate(path.read_bytes(), Path(folder) / f"{name}.onnx")
        size = sum(file.stat().st_size for file in files)
    card = _card(name, path, size)
    write_card(card, CARDS / f"{name}.json")
    return card


def _card(name: str, path: Path, size: int) -> SampleCard:
    from sample_models.skeleton import load_skeleton

    entry = SKELETONS[name]
    return SampleCard(
        name=name,
        family=entry.family,
        kind="skeleton",
        what=entry.what,
        teaches=entry.teaches,
        origin=entry.origin,
        licence=entry.licence,
        remake=f"python -m sample_models.make {name}",
        real=REAL,
        exporter=f"torch.onnx.export(dynamo={entry.exporter == 'dynamo'})",
        bytes=size,
        shipped_bytes=path.stat().st_size,
        dims=tuple(entry.dims.items()),
        made_with=tuple((package, version(package)) for package in MADE_WITH),
        **facts(load_skeleton(path.read_bytes()), lambda port: meaning(entry, port)),
    )


def main(arguments: list[str] | None = None) -> int:
    """Make the named skeletons, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m sample_models.make", description=__doc__)
    parser.add_argument(
        "names", nargs="+", choices=[*SKELETONS, "all"], metavar="NAME", help="a name, or all"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the exports with their weights")
    chosen = parser.parse_args(arguments)
    for name in SKELETONS if "all" in chosen.names else chosen.names:
        with tempfile.TemporaryDirectory() as folder:
            card = make(name, (chosen.keep or Path(folder)) / name)
        print(f"{name}: {card.nodes:,} nodes, {card.shipped_bytes:,} bytes for {card.bytes / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
