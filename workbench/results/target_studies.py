"""The best config for each of several kinds of machine: a study on every target of a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from typing import TYPE_CHECKING

from workbench.errors import ConfigError, WorkbenchError
from workbench.measurement.bar import bar
from workbench.measurement.limits import Progress
from workbench.records.display import config_in_words
from workbench.results.study import Study
from workbench.search.request import StudyRequest

if TYPE_CHECKING:
    import pandas as pd

    from workbench.search.cluster.workers import Cluster


class TargetStudies(Mapping[str, Study]):
    """The studies by target. `errors` has the reason of each target that has none. Made by `wb.tune_targets`.

    >>> import workbench as wb
    >>> wb.TargetStudies({}).errors
    {}
    """

    def __init__(
        self, studies: Mapping[str, Study], errors: Mapping[str, WorkbenchError] | None = None
    ) -> None:
        self._studies = dict(studies)
        self.errors = dict(errors or {})

    def __getitem__(self, target: str) -> Study:
        return self._studies[target]

    def __iter__(self) -> Iterator[str]:
        return iter(self._studies)

    def __len__(self) -> int:
        return len(self._studies)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per target: its machine, the best config there, and the proof.

        Times of two machines are not compared: each ratio is to the defaults on the same machine.
        """
        import pandas as pd

        rows: list[dict[str, object]] = []
        for target, study in self.items():
            machine, verdict = study.record.selection.machine, study.record.verdict
            is_better = verdict is not None and study.record.best != study.record.candidates[0].label
            rows.append(
                {
                    "target": target,
                    "cpu": machine.cpu,
                    "cores": machine.usable_cores,
                    "gpus": ", ".join(gpu.name for gpu in machine.gpus),
                    "best": config_in_words(study.best),
                    "ratio": verdict.ratio if verdict is not None and is_better else 1.0,
                    "low": verdict.low if verdict is not None and is_better else None,
                    "high": verdict.high if verdict is not None and is_better else None,
                    "study": study.record.id,
                    "ended": study.record.ended,
                }
            )
        for target, error in self.errors.items():
            rows.append({"target": target, "ended": error.problem})
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        lines = [f"{target}: {study.record.headline}" for target, study in self.items()]
        failed = [f"{target}: {error.problem}" for target, error in self.errors.items()]
        return "\n".join([*lines, *failed])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        return f"{frame.to_html(escape=True, index=False)}<pre>{escape(str(self))}</pre>"


def search_targets(
    request: StudyRequest,
    cluster: Cluster,
    targets: Sequence[str],
    *,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    keep: bool = True,
) -> TargetStudies:
    """Run a study on every target at once; raise the first error if none has an answer."""
    names = list(dict.fromkeys(targets))
    if isinstance(targets, str) or not names:
        raise ConfigError(f"targets={targets!r} is no list of tags", 'give several: targets=["AVX2", "GPU"]')
    for name in names:
        cluster.check_target(name)
    studies: dict[str, Study] = {}
    errors: dict[str, WorkbenchError] = {}
    with bar(progress) as on_progress, ThreadPoolExecutor(len(names)) as pool:
        futures = {
            name: pool.submit(
                Study.searched,
                request,
                progress=on_progress,
                cancel=cancel,
                keep=keep,
                cluster=cluster,
                target=name,
            )
            for name in names
        }
        for name, future in futures.items():
            try:
                studies[name] = future.result()
            except WorkbenchError as error:
                errors[name] = error
    if not studies:
        raise next(iter(errors.values()))
    return TargetStudies(studies, errors)
