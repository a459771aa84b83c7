"""Calibration data of static quantization, also as inputs: read, check and write the examples for the job."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.background import check_cancel
from workbench.core.bundle.preparation import CalibrationRecord
from workbench.core.config import Config
from workbench.core.config.quantization import RANDOM_SAMPLES
from workbench.core.errors import InputError
from workbench.core.models.examples import as_run, examples, trained_sample
from workbench.core.models.inputs import Inputs, given_inputs, make_inputs, read_npz
from workbench.core.models.model import Model
from workbench.core.prepare.example import all_checked
from workbench.core.prepare.pictures import Pictures, read_folder
from workbench.core.stored_files import expanded
from workbench.core.text import path_text, shorten
from workbench.core.worker.values import write_values

DEFAULT_SAMPLES = 200
FEW = 100  # examples of a real set; a note warns of fewer
REAL_INPUTS = 8
_MOST_BYTES = 4 << 30  # of all examples on disk
STACKED = "one example an entry of the first axis"
RANDOM_NOTE = (
    "calibrated on RANDOM data, which is not representative: the ranges, and with them accuracy and error, "
    "say nothing about real inputs"
)

Feed = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CalibrationSource:
    """Examples, read one at a time, with their origin."""

    name: str
    made_by: str
    feeds: Iterator[Feed]
    seed: int | None = None
    representative: bool = True

    def examples(self, model: Model, samples: int | None) -> Iterator[dict[str, Any]]:
        """Yield the checked examples, at most `samples`."""
        return islice(all_checked(self.feeds, model, self.name), samples or DEFAULT_SAMPLES)


@dataclass(frozen=True, slots=True)
class Spooled:
    """Examples in a folder, one file each."""

    folder: Path
    record: CalibrationRecord


def spool(
    model: Model, data: Any, samples: int | None, folder: Path, cancel: threading.Event | None = None
) -> Spooled:
    """Check the examples against the model and write them, one at a time."""
    source = source_of(model, data, samples)
    folder.mkdir()
    digest = hashlib.sha256()
    total = count = 0
    for example in source.examples(model, samples):
        check_cancel(cancel)
        _hash(digest, example)
        path = folder / f"{count:06}"
        write_values(path, [example])
        count += 1
        total += path.stat().st_size
        if total > _MOST_BYTES:
            raise InputError(
                f"{count} calibration examples take more than {_MOST_BYTES >> 30} GiB",
                "give fewer with StaticInt8(samples=…), or smaller ones",
            )
    if not count:
        raise InputError(f"{source.name}: there are no calibration examples", "give at least one")
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


def few_examples(record: CalibrationRecord, asked: int | None) -> str | None:
    """Return a note on fewer examples than requested, or than usual for real data."""
    if asked is not None and record.count < asked:
        return f"{asked} calibration examples were asked for, and there were {record.count}"
    if asked is None and record.representative and record.count < FEW:
        return (
            f"calibrated on {record.count} examples: real inputs may go beyond the ranges of so few, and 100 "
            "to 500 are usual"
        )
    return None


def real_inputs(model: Model, configs: Sequence[Config], calibration: Any) -> Inputs | None:
    """Return real inputs; None if all configs have the same arithmetic, or if only random data exist.

    Noise differs from the calibration data, so a quantized model looks worse on random inputs than on real
    ones; random inputs suffice for configs of the same arithmetic.
    """
    if all(config.precision is None for config in configs):
        return None
    if trained_sample(model) is not None:
        own = examples(model, most=REAL_INPUTS)
        return make_inputs(own.feeds, f"{len(own.feeds)} examples of {own.made_by}", None, ())
    if calibration is None:
        return None
    source = source_of(model, calibration, REAL_INPUTS)
    if not source.representative:
        return None
    feeds = [dict(feed) for feed in islice(source.feeds, REAL_INPUTS)]
    given = given_inputs(feeds, model.structure)
    made_by = f"{len(feeds)} of the calibration examples: {source.name}"
    return make_inputs(given.feeds, made_by, None, given.guesses)


def source_of(model: Model, data: Any, samples: int | None) -> CalibrationSource:
    """Return the examples of the user's calibration data."""
    if data is None:
        sample = trained_sample(model)
        if sample is not None:
            return _set_named(sample, model)
        if model.fed is None:
            return _random(model, samples)
        data = model.fed
    if isinstance(data, Inputs) and data.seed is not None and len(data.feeds) == 1:
        return _random(model.with_inputs(data), samples)
    if isinstance(data, Inputs):
        return CalibrationSource(
            "inputs (given)", data.made_by, iter(data.feeds), data.seed, representative=data.is_real
        )
    if isinstance(data, Pictures):
        return CalibrationSource(*read_folder(data, model))
    if isinstance(data, (str, Path)):
        return _of_path(model, data, samples)
    if hasattr(data, "column_names"):
        from workbench.core.prepare.datasets import read_dataset

        return CalibrationSource(*read_dataset(data, model))
    if hasattr(data, "get_next"):  # a CalibrationDataReader of ORT's own tools
        return CalibrationSource("reader (given)", "an example for each call", iter(data.get_next, None))
    if isinstance(data, Mapping):
        return CalibrationSource("dict (given)", STACKED, _stacked(data, model, "dict (given)"))
    if isinstance(data, Iterable) and not isinstance(data, (bytes, np.ndarray)):
        return CalibrationSource("iterable (given)", "one example an item", iter(data))
    raise InputError(
        f"A {type(data).__name__} holds no calibration data",
        "Give an .npz file, a folder of images or .npy files, wb.Pictures(folder, …), a dict of stacked "
        "arrays, an iterable of feeds, a Hugging Face dataset, or 'random'",
    )


def _of_path(model: Model, data: str | Path, samples: int | None) -> CalibrationSource:
    if data == "random":
        return _random(model, samples)
    from workbench.core.models.samples import card, sample_names

    if isinstance(data, str) and data in sample_names() and card(data).kind == "trained":
        return _set_named(data, model)
    path = expanded(data)
    if path.is_dir():
        return CalibrationSource(*read_folder(Pictures(path), model))
    if not path.exists():
        raise InputError(
            f"{path_text(path)} is no file or folder, and no sample with a set of its own",
            "give an .npz file, a folder of images or .npy files, or 'random'; a Hugging Face dataset is "
            "given as what datasets.load_dataset(…) returns (pip install datasets)",
        )
    name = f"{shorten(path.name)} (given)"
    return CalibrationSource(name, STACKED, _stacked(read_npz(path), model, name))


def _set_named(name: str, model: Model) -> CalibrationSource:
    """Return the calibration set of a shipped, trained sample."""
    from sample_models.evaluation import read_calibration_set

    own_set = read_calibration_set(name)
    label = f"the calibration set of {name}"
    return CalibrationSource(label, own_set.made_by, _stacked(own_set.feeds, model, label))


def _random(model: Model, samples: int | None) -> CalibrationSource:
    count = samples or RANDOM_SAMPLES
    feeds = (model.draw(seed).feeds[0] for seed in range(count))
    made_by = f"random, seeds 0 to {count - 1}{as_run(model)}"
    return CalibrationSource("random data, not representative", made_by, feeds, 0, representative=False)


def _stacked(arrays: Mapping[str, Any], model: Model, name: str) -> Iterator[Feed]:
    """Yield the examples of arrays stacked along the first axis, without arrays of labels."""
    try:
        return iter(examples(model, arrays).feeds)
    except InputError as error:
        raise InputError(f"{name}: {error.problem}", error.fix) from error


def _hash(digest: Any, feed: Feed) -> None:
    for name in sorted(feed):
        value = feed[name]
        if isinstance(value, np.ndarray) and value.dtype != object:
            digest.update(f"\0{name}\0{value.dtype}\0{value.shape}\0".encode())
            digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
        else:
            digest.update(f"\0{name}\0{value!r}\0".encode())
