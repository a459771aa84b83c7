"""Every published file of a model (fp32, fp16, q8, q4f16, …), judged against the float32 one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from workbench.core.bundle.goal import Goal
from workbench.core.bundle.kinds import about_comparison
from workbench.core.command import Command
from workbench.core.config import Config, PreparedModel
from workbench.core.errors import ConfigError, InputError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field
from workbench.core.measure.gates import of_comparison
from workbench.core.measure.limits import Limits, Progress
from workbench.core.models import load
from workbench.core.text import one_line
from workbench.features.base.measured import Judged
from workbench.features.base.running import Feeds, kept
from workbench.features.compare.best import ConfigChoice, Contender, contenders_of
from workbench.features.compare.call import compare
from workbench.features.compare.result import Comparison
from workbench.features.published.files import baseline_of, files_of, place
from workbench.features.published.record import PublishedRecord, files_seen, published_chart
from workbench.features.variants.variant import check_compared


class Published(ConfigChoice, Judged):
    """Every published file of a model. Made by `wb.published`; `.best(…)` says which keeps which limits."""

    record: PublishedRecord
    title = "published files beside the float32 one"
    _made: Comparison | None = None  # with its model, until it is saved

    @property
    def comparison(self) -> Comparison:
        """All files in one comparison: every sample, percentiles, `accuracy(data)`, `measure_more()`."""
        return self._made or Comparison(self.record.comparison)

    def _in_words(self) -> str:
        doubts = (
            f"doubt about {doubt.label or 'all'} ({doubt.kind}): {doubt.evidence}. {doubt.fix}"
            for doubt in self.measured.doubts
        )
        return "\n".join([super()._in_words(), *doubts])

    def _contenders(self, limits: Goal) -> Iterable[Contender]:
        if limits.max_accuracy_drop is not None:
            raise ConfigError(
                "published files were judged without labelled examples",
                "ask their comparison: result.comparison.accuracy(data), then result.comparison.best(…)",
            )
        files = {row.label: row.name for row in self.record.rows}
        for contender in contenders_of(self.record.comparison, limits):
            yield replace(contender, config=one_line(files[contender.label]))


def published(
    source: str | os.PathLike[str],
    *,
    only: str | None = None,
    baseline: str | None = None,
    inputs: Feeds = None,
    budget_s: float | None = None,
    progress: bool | Callable[[Progress], None] = True,
    seed: int = 0,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Published:
    """Compare every .onnx file of a folder, or of a repository of the hub, with the float32 one.

    `source` is a folder or `hf://org/repo`; `only="encoder*"` names the files of one model where it holds
    several. The baseline is the file whose name speaks of no other arithmetic, or the file called `baseline`.
    A file that does not load is a row with its reason, and one that returns noise is named before any speed.
    `result.best(max_memory_bytes=…)` says which file to take under limits.
    """
    files = files_of(source, only)
    first = baseline_of(files, baseline)
    others = [name for name in files if name != first]
    configs = [Config(precision=PreparedModel(place(files[name]))) for name in others]
    made = compare(
        load(files[first]), Config(), *configs, inputs=inputs, budget_s=budget_s, progress=progress,
        seed=seed, cancel=cancel, worker_limits=worker_limits, keep=False,
    )  # fmt: skip
    result = Published(files_seen([first, *others], made.record))
    result._made = made
    return kept(result, keep)


def published_sized(
    source: str | os.PathLike[str],
    dim: Mapping[str, int] | None = None,
    only: str | None = None,
    baseline: str | None = None,
    inputs: Feeds = None,
    seed: int = 0,
    **options: Any,
) -> Published:
    """Compare the files on inputs of these sizes, which are those of the float32 file."""
    if dim and inputs is not None:
        raise InputError(
            "--npz and --dim were both given", "sizes follow from the arrays in the file: leave out --dim"
        )
    if dim:
        files = files_of(source, only)
        inputs = load(files[baseline_of(files, baseline)]).inputs(seed=seed, dims=dim)
    return published(source, only=only, baseline=baseline, inputs=inputs, seed=seed, **options)


def call_arguments(_model: Any, _configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `wb.published`: the folder of the form, which has all files of the model."""
    return (options.pop("source"),), options


FEATURE = Feature(
    "published files", PublishedRecord, check_compared, lambda record: about_comparison(record.comparison),
    result=Published, chart=published_chart, per="runs",
    call="workbench.features.published:published",
    takes=("budget_s", "progress", "keep"),
    form=(
        Field("source", "folder", "A folder of .onnx files, or hf://org/repo", str,
              example="models/bert, or hf://org/repo", required=True, before="Judge the files of"),
        Field("only", "only", "A pattern of names, where the folder has several models", str,
              example="encoder*", before="with a name like"),
        Field("baseline", "float32 file", "The file to compare with; empty: known by its name", str,
              example="model.onnx", before="against the float32 file"),
    ),
    arguments=call_arguments,
    gates=lambda record, fail_if: of_comparison(record.comparison, fail_if),
    command=Command(
        example="models/bert --fail-if differs",
        call="workbench.features.published:published_sized",
        hints={
            "source": "a folder of .onnx files, or hf://org/repo",
            "only": "the files of one model: 'encoder*'",
            "baseline": "the float32 file, if its name does not say so",
        },
    ),
    says_stopped=True, heading="Published files side by side", button="Published files",
    hint="Every file of a model: does it load, its outputs, size, memory, latency, and which one to take",
    step="one file after another", tabs=("Explore",),
)  # fmt: skip
