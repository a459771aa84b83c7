"""The preparation of a model for a config: each step from the cache or in a process of its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.preparation import CalibrationRecord, Preparation, StepRecord
from workbench.core.config import Config, DynamicInt8, Precision, PreparedModel, StaticInt8, WeightOnly
from workbench.core.config.foreign import check_trusted
from workbench.core.errors import Cancelled, PrepareError, StorageError, WorkbenchError
from workbench.core.models.fingerprint import file_sha256
from workbench.core.models.loading import load
from workbench.core.models.model import Model
from workbench.core.prepare import cache
from workbench.core.prepare.calibration import Spooled, few_examples, spool
from workbench.core.prepare.exporting import stacked_examples, write_folder
from workbench.core.prepare.external_file import check_precision, prepared_file
from workbench.core.prepare.nodes import appeared, check_written_names
from workbench.core.prepare.step import MODEL, RANGES, Answer, Step, key_of
from workbench.core.prepare.steps import steps_of
from workbench.core.stored_files import expanded
from workbench.core.worker.launch import WorkerFolder, call_job

_TIMEOUT_S = 3600.0
OnStep = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Prepared:
    """The model file prepared for a config, as returned by `wb.prepare`.

    >>> import workbench as wb
    >>> wb.prepare("digits-conv", wb.Config()).steps
    ()
    """

    model: Model  # the model that ORT loads; the same object if no step was needed
    config: Config  # of the session
    record: Preparation
    asked: Config  # the user's config, with open choices filled in
    original: Model  # the source model
    calibration_data: Any = None  # as the user gave it
    stages: tuple[Model, ...] = ()  # the file after each step

    @property
    def source(self) -> Path:
        """The source file."""
        return self.original.path

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        """The records of the steps, in order."""
        return self.record.steps

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings to read before trusting the file."""
        return tuple(dict.fromkeys([*self.record.notes, *(n for step in self.steps for n in step.notes)]))

    @property
    def calibration(self) -> CalibrationRecord | None:
        """The data on which the ranges were measured."""
        return self.record.calibration

    def to_frame(self) -> DataFrame:
        """Return a table with one row per step."""
        return self.record.to_frame()

    def to_python(self, folder: str | os.PathLike[str] | None = None) -> str:
        """Return an equivalent onnxruntime script, with the values that were read from the graph.

        It writes into `folder`, as that of `Config.to_python`.
        """
        asked = self.asked
        if isinstance(asked.precision, PreparedModel):  # which may name a sample, and no file
            precision = replace(asked.precision, model=str(self.stages[0].path))
            asked = asked.replace(precision=precision)
        return asked.to_python(self.original, folder)

    def export(self, folder: str | os.PathLike[str]) -> Path:
        """Write a new folder, and return it: the model file with its weights, and `script.py`.

        The script makes the file anew where it runs, and times a call. For static int8, the folder holds the
        calibration examples, too, as the script reads them.
        """
        examples = stacked_examples(self.original, self.asked.arithmetic, self.calibration_data)
        return write_folder(expanded(folder), self.model, self.to_python(), examples)

    def __str__(self) -> str:
        return str(self.record)

    def __repr__(self) -> str:
        return f"<Prepared {self.model.name}: {len(self.steps)} steps>"

    def _repr_html_(self) -> str:
        return self.record._repr_html_()


def prepare(
    model: Model | Any,
    config: Config,
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: OnStep | None = None,
) -> Prepared:
    """Make the file that ORT loads for this config: quantized, fused, pre-optimized; kept in the cache.

    `calibration` is the data on which static int8 measures its ranges: an .npz file, a folder of images or
    .npy files, `wb.Pictures(folder, …)`, a dict of stacked arrays, an iterable of feeds, a Hugging Face
    dataset, or "random". The default is a trained sample's own set, or else random data with a note.
    `on_step` is called with the name of each step before the step runs.
    """
    began = time.perf_counter()
    source = load(model)
    check_trusted(config)
    precision, file, fed = config.arithmetic, source, source
    with ExitStack() as stack:
        examples = None
        progress = _Progress(source, cancel, on_step, config.custom_ops)
        if isinstance(config.precision, PreparedModel):
            progress.put(*prepared_file(source, config.precision))
            file = progress.model
            fed = source if config.precision.compare_outputs else file  # another net has inputs of its own
        check_precision(file, precision)
        if isinstance(precision, StaticInt8):
            folder = stack.enter_context(WorkerFolder())
            if on_step is not None:
                on_step("calibration data")
            examples = spool(fed, calibration, precision.samples, folder / "examples", cancel)
        for step in steps_of(config, file, examples):
            progress.take(step)
    check_written_names(progress.model.structure, config)
    return Prepared(
        model=progress.model,
        config=config.session_config,
        asked=_filled(config, progress.arguments, progress.settled),
        original=source,
        calibration_data=calibration,
        record=Preparation(
            steps=tuple(progress.records),
            calibration=None if examples is None else examples.record,
            elapsed_s=time.perf_counter() - began,
            file_bytes=progress.model.file_bytes,
            sha256=progress.model.fingerprint(cancel) if progress.records else None,
            notes=_notes(calibration, examples, precision),
        ),
        stages=tuple(progress.stages),
    )


def _filled(config: Config, arguments: dict[str, dict[str, Any]], settled: dict[str, Any]) -> Config:
    """Fill in values from the graph: a fusion's kind, heads and width, the names of excluded nodes as
    the quantizer sees them, and what its retries settled."""
    precision, applied, fusion = config.precision, config.arithmetic, config.fusion
    if isinstance(applied, StaticInt8 | DynamicInt8 | WeightOnly):
        exclude = tuple(arguments[applied.LABEL]["exclude"])
        filled = replace(applied, **{**settled, "exclude": exclude})
        precision = replace(precision, precision=filled) if isinstance(precision, PreparedModel) else filled
    if fusion is not None:
        used = arguments[fusion.LABEL]
        fusion = replace(
            fusion,
            model_type=used["model_type"],
            num_heads=used["num_heads"] or None,
            hidden_size=used["hidden_size"] or None,
            options=tuple(used["options"].items()),
        )
    return config.replace(precision=precision, fusion=fusion)


def _notes(calibration: Any, examples: Spooled | None, precision: Precision | None) -> tuple[str, ...]:
    if examples is None or not isinstance(precision, StaticInt8):
        unused = "calibration data were given, and this config measures nothing on them"
        return () if calibration is None else (unused,)
    few = few_examples(examples.record, precision.samples)
    return () if few is None else (few,)


class _Progress:
    """The state between the steps: the file so far and the records of the steps."""

    def __init__(
        self,
        model: Model,
        cancel: threading.Event | None,
        on_step: OnStep | None,
        custom_ops: tuple[str, ...],
    ) -> None:
        self.model = model
        self.records: list[StepRecord] = []
        self.stages: list[Model] = []
        self.arguments: dict[str, dict[str, Any]] = {}  # of each step's job
        self.settled: dict[str, Any] = {}  # settings that a job changed, so that it could do its work
        self._cancel = cancel
        self._on_step = on_step
        self._custom_ops = custom_ops
        self._products: dict[str, Path] = {}  # of steps without a model as product

    def take(self, step: Step) -> None:
        """Take a step from the cache or run its job; name the step in an error."""
        if self._on_step is not None:
            self._on_step(step.name)
        try:
            arguments = self.arguments[step.name] = step.arguments(self.model)
            entry = self._entry(step, arguments)
            answer = entry.answer
            self.settled |= answer.get("settled", {})
            arguments |= self.settled
            did, notes, statistics = _record_parts(step, answer)
            before = self.model.file_bytes
            if step.product == RANGES:
                self._products[step.product] = entry.model
            else:
                self.model = self._opened(entry.model, step)
        except (Cancelled, StorageError):
            raise
        except WorkbenchError as error:
            problem, fix = step.explain(error.problem) or (error.problem, error.fix)
            raise PrepareError(f"{step.name}: {problem}", fix) from error
        record = StepRecord(
            name=step.name,
            did=did,
            parameters=tuple((name, _text(value)) for name, value in arguments.items() if name != "plan"),
            statistics=statistics,
            duration_s=entry.duration_s,
            cached=not entry.fresh,
            before_bytes=before,
            after_bytes=self.model.file_bytes,
            notes=notes,
        )
        self.put(self.model, record)

    def put(self, model: Model, record: StepRecord) -> None:
        """Add a step with its model."""
        self.model = model
        self.records.append(record)
        self.stages.append(model)

    def _entry(self, step: Step, arguments: dict[str, Any]) -> cache.CachedModel:
        needed = {name: self._products[name] for name in step.needs}
        hashes = {name: file_sha256(path, self._cancel) for name, path in needed.items()}
        key = key_of(step, self.model.fingerprint(self._cancel), arguments, hashes)

        def make(folder: Path) -> tuple[dict[str, Any], float]:
            began = time.perf_counter()
            files = {
                "source": str(self.model.path),
                "target": str(folder / step.product),
                **{Path(name).stem: str(path) for name, path in needed.items()},
                **(step.data or {}),
            }
            answer = call_job(
                step.job,
                {**arguments, **files},
                timeout_s=_TIMEOUT_S,
                cancel=self._cancel,
                python=step.python,
                custom_ops=self._custom_ops,
            )
            step.summarize(answer)  # a refused or unreadable product is not kept
            if step.product == MODEL:
                self._opened(folder / MODEL, step)
            return answer, time.perf_counter() - began

        return cache.entry(key, make, check=lambda answer: _record_parts(step, answer), cancel=self._cancel)

    def _opened(self, path: Path, step: Step) -> Model:
        """Return the product as a model; a file in ORT's own format keeps the structure of its ONNX file."""
        known = None if step.product == MODEL else self.model.structure
        return Model(path, self.model.name, usual_dims=self.model.usual_dims, structure=known)


def _record_parts(step: Step, answer: Answer) -> tuple[str, tuple[str, ...], tuple[tuple[str, int], ...]]:
    """Return the record of a step's answer: a sentence, notes and counts of operators."""
    sentence, notes = step.summarize(answer)
    fused = {name: count for name, count in answer.get("fused", {}).items() if count}
    return sentence, (*answer["notes"], *notes), tuple(sorted({**appeared(answer), **fused}.items()))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={part}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
