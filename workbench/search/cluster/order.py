"""A study as it travels to a worker: bytes in the form of our bundles, no pickle."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, cast

from workbench.models import Model
from workbench.models.examples import Examples, examples
from workbench.models.inputs import make_inputs
from workbench.preparation.calibration import source_of
from workbench.records import container
from workbench.records.bundle import pack_record, unpack_record
from workbench.records.kinds import Kind, Kinds
from workbench.records.member import record_from, record_members
from workbench.records.space import Space
from workbench.records.study import StudyRecord, about_study, check_study
from workbench.records.upgrades import VERSION
from workbench.search.request import StudyOptions, StudyRequest
from workbench.worker.values import read_values, write_values

MOST_CALIBRATION = 512  # examples that travel; quantizers ask for fewer
T = TypeVar("T")
_STUDIES = Kinds({"study": lambda: Kind("study", StudyRecord, check_study, about_study)})


@dataclass(frozen=True, slots=True)
class SentExamples:
    """Labelled examples; the feeds and the labels are files of `write_values`."""

    items: tuple[int, ...]
    made_by: str
    metric: str | None
    real: bool
    notes: tuple[str, ...]
    feeds: bytes
    labels: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOrder(StudyOptions):
    """A request without its model, which travels as files. No space: the worker makes the default one."""

    model: str  # its name
    sha256: str
    files: tuple[str, ...]  # the model file first, then those of its weights
    made_by: str  # of the inputs
    inputs_seed: int | None
    guesses: tuple[str, ...]
    space: Space | None
    feeds: bytes
    calibration: bytes | None
    data: SentExamples | None
    earlier: bytes | None


def order_of(request: StudyRequest) -> StudyOrder:
    """Return what travels of a request; calibration data and examples are read here."""
    model, inputs = request.model, request.inputs
    return StudyOrder(
        **{**request.options(), "budget_s": float(request.budget_s)},
        model=model.name,
        sha256=model.sha256,
        files=(model.path.name, *(file.name for file in model.external)),
        made_by=inputs.made_by,
        inputs_seed=inputs.seed,
        guesses=inputs.guesses,
        space=request.space if request.space.axes or request.space.starts else None,
        feeds=_packed_values(inputs.feeds),
        calibration=_calibration(model, request.calibration),
        data=None if request.data is None else _sent(examples(model, request.data, seed=request.seed)),
        earlier=None if request.earlier is None else pack_study(request.earlier),
    )


def request_of(order: StudyOrder, model: Model) -> StudyRequest:
    """Return the request again, with the model as the worker has it."""
    return StudyRequest(
        **order.options(),
        model=model,
        inputs=make_inputs(_values(order.feeds), order.made_by, order.inputs_seed, order.guesses),
        space=order.space or Space(),
        calibration=None if order.calibration is None else _values(order.calibration),
        data=None if order.data is None else _examples(order.data),
        earlier=None if order.earlier is None else unpack_study(order.earlier),
    )


def pack(record: object) -> bytes:
    """Return the bytes of a frozen dataclass."""
    return container.pack(record_members(record, "", private=True))


def unpack(cls: type[T], blob: bytes) -> T:
    """Return the dataclass in bytes of `pack`."""
    members = container.unpack(io.BytesIO(blob))
    return cast(T, record_from(members, "", Kind(cls.__name__, cls), VERSION, None))


def pack_study(record: StudyRecord) -> bytes:
    """Return a study as a bundle with its own paths."""
    return pack_record(record, None, private=True, kinds=_STUDIES)


def unpack_study(blob: bytes) -> StudyRecord:
    """Return the study in a bundle of `pack_study`."""
    return cast(StudyRecord, unpack_record(blob, _STUDIES, own=True).record)


def _calibration(model: Model, data: Any) -> bytes | None:
    if data is None:
        return None
    source = source_of(model, data, MOST_CALIBRATION)
    return _packed_values(islice(source.feeds, MOST_CALIBRATION))


def _sent(made: Examples) -> SentExamples:
    return SentExamples(
        **{name: getattr(made, name) for name in ("items", "made_by", "metric", "real", "notes")},
        feeds=_packed_values(made.feeds),
        labels=None if made.labels is None else _packed_values({"labels": part} for part in made.labels),
    )


def _examples(sent: SentExamples) -> Examples:
    labels = None if sent.labels is None else tuple(row["labels"] for row in _values(sent.labels))
    feeds = tuple(_values(sent.feeds))
    return Examples(feeds, sent.items, labels, sent.made_by, sent.metric, sent.real, sent.notes)


def _packed_values(feeds: Iterable[Mapping[str, Any]]) -> bytes:
    target = io.BytesIO()
    write_values(target, list(feeds))
    return target.getvalue()


def _values(blob: bytes) -> list[dict[str, Any]]:
    return read_values(io.BytesIO(blob))
