"""The built-in sample models: their names, cards, files and evaluation sets."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sample_models import CARDS, SKELETONS
from sample_models.cards import SampleCard, read_card
from workbench.core import home
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.errors import ModelError
from workbench.core.installed import need
from workbench.core.text import did_you_mean, quoted

if TYPE_CHECKING:
    from sample_models.evaluation import EvaluationSet
    from sample_models.rehydrate import Progress
    from workbench.core.models.model import Model


@cache
def sample_names() -> tuple[str, ...]:
    """Return the names of all samples, sorted."""
    return tuple(sorted(path.stem for path in CARDS.glob("*.json")))


@cache
def card(name: str) -> SampleCard:
    """Return the card of a sample."""
    if name not in sample_names():
        raise ModelError(
            f"There is no sample named {quoted(name)}.",
            f"{did_you_mean(name, sample_names())}The samples are: {', '.join(sample_names())}.",
        )
    return read_card(CARDS / f"{name}.json")


def is_trained(name: str) -> bool:
    """Return whether a trained sample has this name."""
    return name in sample_names() and card(name).kind == "trained"


def trained_sample(model: Model) -> str | None:
    """Return the name of the trained sample equal to this model, or None."""
    if not is_trained(model.name):
        return None
    own = sample_path(model.name)  # its folder is named after its content, in whichever cache
    return model.name if model.path.parts[-2:] == own.parts[-2:] else None


def samples() -> DataFrame:
    """Return one row per sample: name, family, kind, parameters, bytes, teaches.

    >>> import workbench as wb
    >>> "bert-base" in set(wb.samples()["name"])
    True
    """
    columns = ("name", "family", "kind", "parameters", "bytes", "teaches")
    cards = [card(name) for name in sample_names()]
    return data_frame({column: [getattr(sample, column) for sample in cards] for column in columns})


def sample_path(name: str, *, progress: Progress | None = None) -> Path:
    """Return the sample's ONNX file. The first use makes it in the cache folder.

    A trained sample is unpacked there; a skeleton gets weights, and `progress` receives the bytes written and
    the total. The function is safe for concurrent processes, and makes the file again if the cached one is
    damaged or the package has another one.
    """
    from sample_models.packed_weights import packed_path, write_trained
    from sample_models.rehydrate import rehydrate
    from sample_models.store import stored

    need("onnx")  # which makes the file
    folder = home.cache_folder() / "samples"
    trained = card(name).kind == "trained"
    packed = packed_path(name) if trained else SKELETONS / f"{name}.onnx.xz"
    write = write_trained if trained else rehydrate
    try:
        return stored(name, packed.read_bytes(), folder, progress=progress, write=write)
    except OSError as error:
        room = f"{card(name).bytes / 1e6:.0f} MB"
        raise ModelError(
            f"The sample {name!r} could not be made in {folder}: {error}",
            f"Make {room} of room there and check that you may write to it, or set WORKBENCH_HOME to a "
            "folder with room, or load a smaller sample (wb.samples() lists their bytes).",
        ) from error


def sample_dims(name: str) -> dict[str, int]:
    """Return the sizes of symbolic dims that the sample is meant to run at, as {"sequence": 128}."""
    return dict(card(name).dims)


def evaluation_set(name: str) -> EvaluationSet:
    """Return the held-out inputs and labels of a trained sample."""
    if card(name).kind != "trained":  # which refuses an unknown name
        trained = ", ".join(filter(is_trained, sample_names()))
        raise ModelError(
            f"{name!r} is a skeleton: its weights are random, so it has no accuracy and no evaluation set.",
            f"Use one of the trained samples: {trained}.",
        )
    from sample_models.evaluation import read_evaluation_set

    return read_evaluation_set(name)
