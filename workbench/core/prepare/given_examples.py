"""Examples in every form that a user may give, for calibration and for accuracy, read one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from workbench.core.errors import InputError
from workbench.core.models.inputs import Inputs, read_npz
from workbench.core.models.model import Model
from workbench.core.models.samples import is_trained, trained_sample
from workbench.core.prepare.pictures import Pictures, read_folder
from workbench.core.stored_files import expanded
from workbench.core.text import path_text, shorten

Feed: TypeAlias = Mapping[str, Any]
STACKED = "one example an entry of the first axis"
_LABELLED = "feeds and labels (given)"
_RANDOM = "random"


@dataclass(frozen=True, slots=True)
class GivenExamples:
    """Examples and labels, neither checked yet, with their origin."""

    name: str
    made_by: str
    feeds: Iterable[Feed] | Mapping[str, Any]  # a mapping: arrays of all examples along the first axis
    labels: Any = None
    metric: str | None = None
    seed: int | None = None
    is_real: bool = True
    origin: str = ""  # where the name does not say it

    def __str__(self) -> str:
        return self.origin or self.name


def given_examples(
    model: Model, data: Any, drawn: range, own_set: Callable[[str], GivenExamples]
) -> GivenExamples:
    """Return the examples of the user's data; `drawn` are the seeds of random ones.

    None stands for a trained sample's `own_set`, else for what is run, else for random data.
    """
    if data is None:
        data = trained_sample(model) or model.fed or _RANDOM
    if isinstance(data, Inputs) and data.seed is not None and len(data.feeds) == 1:
        model, data = model.with_inputs(data), _RANDOM
    if isinstance(data, Inputs):
        is_real, words = data.is_real, data.made_by
        return GivenExamples(
            "inputs (given)", words, data.feeds, seed=data.seed, is_real=is_real, origin=words
        )
    if isinstance(data, Pictures):
        return GivenExamples(*read_folder(data, model))
    if isinstance(data, (str, Path)):
        return _named(model, data, drawn, own_set)
    if hasattr(data, "column_names"):
        from workbench.core.prepare.datasets import read_dataset

        return GivenExamples(*read_dataset(data, model))
    if hasattr(data, "get_next"):  # a CalibrationDataReader of ORT's own tools
        return GivenExamples("reader (given)", "an example for each call", iter(data.get_next, None))
    if isinstance(data, Mapping):
        return GivenExamples("dict (given)", STACKED, data)
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[1], Mapping):
        return GivenExamples(_LABELLED, "one example an item", *data)
    if hasattr(data, "feeds") and hasattr(data, "labels"):  # an EvaluationSet
        return GivenExamples(_LABELLED, STACKED, data.feeds, data.labels, getattr(data, "metric", None))
    if isinstance(data, Iterable) and not isinstance(data, (bytes, np.ndarray)):
        return GivenExamples("iterable (given)", "one example an item", data)
    raise InputError(
        f"A {type(data).__name__} holds no examples",
        "Give an .npz file or a dict of stacked arrays, with one called 'labels' where there are labels, a "
        "folder of images or .npy files, wb.Pictures(folder, …), an iterable of feeds, (feeds, labels), a "
        "Hugging Face dataset, or 'random'",
    )


def _named(
    model: Model, data: str | Path, drawn: range, own_set: Callable[[str], GivenExamples]
) -> GivenExamples:
    if data == _RANDOM:
        feeds = (model.draw(seed).feeds[0] for seed in drawn)
        made_by = f"random, seeds {drawn.start} to {drawn.stop - 1}{_as_run(model)}"
        name = "random data, not representative"
        return GivenExamples(name, made_by, feeds, seed=drawn.start, is_real=False, origin=made_by)
    if is_trained(str(data)):
        return own_set(str(data))
    path = expanded(data)
    if path.is_dir():
        return GivenExamples(*read_folder(Pictures(path), model))
    if not path.exists():
        raise InputError(
            f"{path_text(path)} is no file or folder, and no sample with a set of its own",
            "give an .npz file, a folder of images or .npy files, or 'random'; a Hugging Face dataset is "
            "given as what datasets.load_dataset(…) returns (pip install datasets)",
        )
    return GivenExamples(f"{shorten(path.name)} (given)", STACKED, read_npz(path))


def _as_run(model: Model) -> str:
    """Return the words that name the sizes of random data where they are those of inputs that are run."""
    if model.fed is None:
        return ""
    return ", sized as what is run: " + "; ".join(
        f"{shorten(name)} {kind}" for name, kind in model.fed.shapes[:4]
    )
