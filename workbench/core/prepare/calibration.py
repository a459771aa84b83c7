"""Calibration data of static quantization, also as inputs: read, check and write the examples for the job."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.background import check_cancel
from workbench.core.bundle.preparation import CalibrationRecord
from workbench.core.config import Config
from workbench.core.config.quantization import RANDOM_SAMPLES
from workbench.core.errors import InputError
from workbench.core.models.inputs import Inputs, given_inputs, make_inputs
from workbench.core.models.model import Model
from workbench.core.models.samples import trained_sample
from workbench.core.prepare.example import checked, with_places
from workbench.core.prepare.examples import examples, examples_of
from workbench.core.prepare.given_examples import Feed, GivenExamples, given_examples
from workbench.core.worker.values import write_values

DEFAULT_SAMPLES = 200
FEW = 100  # examples of a real set; a note warns of fewer
REAL_INPUTS = 8
_MOST_BYTES = 4 << 30  # of all examples on disk
RANDOM_NOTE = (
    "calibrated on RANDOM data, which is not representative: the ranges, and with them accuracy and error, "
    "say nothing about real inputs"
)


@dataclass(frozen=True, slots=True)
class Spooled:
    """Examples in a folder, one file each."""

    folder: Path
    record: CalibrationRecord


def spool(
    model: Model, data: Any, samples: int | None, folder: Path, cancel: threading.Event | None = None
) -> Spooled:
    """Check the examples against the model and write them, one at a time."""
    source = calibration_source(model, data, samples)
    folder.mkdir()
    digest = hashlib.sha256()
    total = count = 0
    for example in calibration_examples(source, model, samples):
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
        raise InputError(f"{source.name}: there are no examples", "give at least one")
    return Spooled(
        folder,
        CalibrationRecord(
            source=source.name,
            made_by=source.made_by,
            count=count,
            seed=source.seed,
            sha256=digest.hexdigest(),
            representative=source.is_real,
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
    source = calibration_source(model, calibration, REAL_INPUTS)
    if not source.is_real:
        return None
    feeds = [feed for _, feed in islice(with_places(source.feeds, source.name), REAL_INPUTS)]
    given = given_inputs(feeds, model.structure)
    made_by = f"{len(feeds)} of the calibration examples: {source.name}"
    return make_inputs(given.feeds, made_by, None, given.guesses)


def calibration_source(model: Model, data: Any, samples: int | None) -> GivenExamples:
    """Return the examples of the user's calibration data, without labels."""
    source = given_examples(model, data, range(samples or RANDOM_SAMPLES), _calibration_set)
    if isinstance(source.feeds, Mapping):
        return replace(source, feeds=examples_of(model, source).feeds)
    return source


def calibration_examples(
    source: GivenExamples, model: Model, samples: int | None
) -> Iterator[dict[str, Any]]:
    """Yield the checked examples, at most `samples`."""
    places = islice(with_places(source.feeds, source.name), samples or DEFAULT_SAMPLES)
    return (checked(feed, model, place) for place, feed in places)


def _calibration_set(name: str) -> GivenExamples:
    from sample_models.evaluation import read_calibration_set

    own_set = read_calibration_set(name)
    return GivenExamples(f"the calibration set of {name}", own_set.made_by, own_set.feeds)


def _hash(digest: Any, feed: Feed) -> None:
    for name in sorted(feed):
        value = feed[name]
        if isinstance(value, np.ndarray) and value.dtype != object:
            digest.update(f"\0{name}\0{value.dtype}\0{value.shape}\0".encode())
            digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
        else:
            digest.update(f"\0{name}\0{value!r}\0".encode())
