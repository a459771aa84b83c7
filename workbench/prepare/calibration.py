"""The data that static quantization measures its ranges on: where they come from, written out for the job."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.models.checking import check_feed
from workbench.models.display import shorten
from workbench.models.examples import examples, trained_sample
from workbench.models.inputs import Inputs
from workbench.models.model import Model
from workbench.prepare.pictures import Pictures, read_folder
from workbench.records.preparation import CalibrationRecord
from workbench.worker.values import write_values

DEFAULT_SAMPLES = 200
RANDOM_SAMPLES = 32
MOST_BYTES = 4 << 30  # of all examples together, on disk
RANDOM_NOTE = (
    "calibrated on RANDOM data, which is not representative: the ranges, and with them accuracy and error, "
    "say nothing about real inputs"
)

Feed = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """Examples on their way, and how they are made."""

    name: str
    made_by: str
    feeds: Iterator[Feed]
    seed: int | None = None
    representative: bool = True


@dataclass(frozen=True, slots=True)
class Spooled:
    """Examples in a folder, one file each."""

    folder: Path
    record: CalibrationRecord


def spool(model: Model, data: Any, samples: int | None, folder: Path) -> Spooled:
    """Write the examples out, checked against the model; no more than one is held at a time."""
    source = source_of(model, data, samples)
    folder.mkdir()
    digest = hashlib.sha256()
    total = count = 0
    for feed in islice(source.feeds, samples or DEFAULT_SAMPLES):
        checked = check_feed(feed, model.structure, [])
        _hash(digest, checked)
        path = folder / f"{count:06}"
        write_values(path, [checked])
        count += 1
        total += path.stat().st_size
        if total > MOST_BYTES:
            raise InputError(
                f"{count} calibration examples take more than {MOST_BYTES >> 30} GiB",
                "give fewer with StaticInt8(samples=…), or smaller ones",
            )
    if not count:
        raise InputError("there are no calibration examples", "give at least one feed")
    return Spooled(
        folder,
        CalibrationRecord(
            source=source.name,
            made_by=source.made_by,
            count=count,
            seed=source.seed,
            sha256=digest.hexdigest(),
            representative=source.representative,
        ),
    )


def source_of(model: Model, data: Any, samples: int | None) -> Source:
    """From what stands for calibration data."""
    if data is None:
        own = _own_set(model)
        return own or _random(model, 0, samples)
    if isinstance(data, Inputs):
        return Source(
            "inputs (given)", data.made_by, iter(data.feeds), data.seed, representative=data.seed is None
        )
    if isinstance(data, Pictures):
        return Source(*read_folder(data, model))
    if isinstance(data, (str, Path)):
        return _of_path(model, data)
    if hasattr(data, "column_names") and hasattr(data, "__getitem__"):
        from workbench.prepare.datasets import read_dataset

        return Source(*read_dataset(data, model))
    if isinstance(data, Mapping):
        return Source("dict (given)", "one example an entry of the first axis", _stacked(data, model))
    if isinstance(data, Iterable) and not isinstance(data, (bytes, np.ndarray)):
        return Source("iterable (given)", "one example an item", iter(data))
    raise InputError(
        f"A {type(data).__name__} holds no calibration data",
        "Give an .npz file, a folder of images or .npy files, wb.Pictures(folder, …), a dict of stacked "
        "arrays, an iterable of feeds, a Hugging Face dataset, or 'random'",
    )


def _of_path(model: Model, data: str | Path) -> Source:
    if data == "random":
        return _random(model, 0, None)
    from workbench.models.npz import read_npz
    from workbench.models.samples import card, sample_names

    if isinstance(data, str) and data in sample_names() and card(data).kind == "trained":
        return _set_named(data, model)
    path = Path(data).expanduser()
    if path.is_dir():
        return Source(*read_folder(Pictures(path), model))
    return Source(
        f"{shorten(path.name)} (given)",
        "one example an entry of the first axis",
        _stacked(read_npz(path), model),
    )


def _own_set(model: Model) -> Source | None:
    """Of a shipped, trained sample."""
    name = trained_sample(model)
    return None if name is None else _set_named(name, model)


def _set_named(name: str, model: Model) -> Source:
    from sample_models.evaluation import read_calibration_set

    found = read_calibration_set(name)
    return Source(f"the calibration set of {name}", found.made_by, _stacked(found.feeds, model))


def _random(model: Model, seed: int, samples: int | None) -> Source:
    count = samples or RANDOM_SAMPLES
    feeds = (model.inputs(seed=seed + turn).feeds[0] for turn in range(count))
    told = f"random, seeds {seed} to {seed + count - 1}"
    return Source("random data, not representative", told, feeds, seed, representative=False)


def _stacked(arrays: Mapping[str, Any], model: Model) -> Iterator[Feed]:
    """Each array holds all examples along its first axis; labels, where there are any, are no input."""
    return iter(examples(model, arrays).feeds)


def _hash(digest: Any, feed: Feed) -> None:
    for name in sorted(feed):
        value = feed[name]
        if isinstance(value, np.ndarray) and value.dtype != object:
            digest.update(f"\0{name}\0{value.dtype}\0{value.shape}\0".encode())
            digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
        else:
            digest.update(f"\0{name}\0{value!r}\0".encode())
