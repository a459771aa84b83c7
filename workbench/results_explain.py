"""What notebooks call and get to see what ORT did: `explain`, `levels`, `ablate`, and their results."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import Config
from workbench.explain import ablation, explanation
from workbench.explain import levels as by_level
from workbench.explain.ablation import AblationRecord
from workbench.explain.explanation import Explained, Provenance
from workbench.explain.levels import LevelsRecord
from workbench.explain.observe import BUDGET_S, observe
from workbench.explain.passes import Passes
from workbench.explain.placement import Placement, Prediction, predict
from workbench.measure.limits import Progress
from workbench.results import compare

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.models import Inputs, Model

    Source = Model | Any
    Feeds = Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None


class Explanation:
    """What ORT made of a model under a config. Made by `wb.explain`.

    >>> import workbench as wb
    >>> wb.Explanation.__name__
    'Explanation'
    """

    def __init__(self, explained: Explained) -> None:
        self.explained = explained

    @property
    def placement(self) -> Placement:
        """Which optimized node runs on which provider, in which partition."""
        return self.explained.placement

    @property
    def provenance(self) -> Provenance:
        """What became of each source node."""
        return self.explained.provenance

    @property
    def passes(self) -> Passes:
        """Which passes fired, what each changed, and which fusions were missed."""
        return self.explained.passes

    def what_if(self, provider: str) -> Prediction:
        """Where nodes would run on a provider that is not here: a prediction from a table."""
        return predict(self.explained.basic, provider)

    def histogram_figure(self) -> go.Figure:
        """Operators before and after."""
        from workbench.figures.passes import histogram_figure

        return histogram_figure(self.explained)

    def passes_figure(self) -> go.Figure:
        """Nodes left after each pass."""
        from workbench.figures.passes import passes_figure

        return passes_figure(self.explained)

    def flow_figure(self) -> go.Figure:
        """From source operators to optimized operators."""
        from workbench.figures.provenance import flow_figure

        return flow_figure(self.explained)

    def __str__(self) -> str:
        told = self.explained
        account = told.provenance.account
        fates = ", ".join(
            f"{count} {fate}"
            for fate in ("kept", "fused", "folded", "eliminated", "unknown")
            if (count := account.count(fate))
        )
        where = ", ".join(f"{count} on {name or 'unknown'}" for name, count in told.placement.counts())
        doubt = (
            ""
            if told.provenance.exact
            else (
                " The pass snapshots do not end in exactly ORT's own graph"
                + (f" ({told.provenance.problem})." if told.provenance.problem else ".")
            )
        )
        return (
            f"{told.model_name}: {len(told.source.nodes)} source nodes ({fates}) became "
            f"{len(told.optimized.nodes)} ({where}) through {len(told.passes.names)} passes; "
            f"{len(told.passes.missed)} expected fusions did not happen.{doubt}"
        )

    def __repr__(self) -> str:
        return f"<Explanation: {self}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """A figure where it can be drawn, and one sentence of numbers everywhere."""
        figure = self.histogram_figure()
        return {"text/plain": str(self), "application/vnd.plotly.v1+json": figure.to_plotly_json()}

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


class Ablation:
    """What each pass is worth on this machine. Made by `wb.ablate`.

    >>> import workbench as wb
    >>> wb.Ablation.__name__
    'Ablation'
    """

    def __init__(self, record: AblationRecord) -> None:
        self.record = record

    def to_frame(self) -> Any:
        """One row a pass that fired, and the control last."""
        return self.record.to_frame()

    def figure(self) -> go.Figure:
        """The worth of each pass with its interval, and the control's."""
        from workbench.figures.ablation import ablation_figure

        return ablation_figure(self.record)

    def __str__(self) -> str:
        return str(self.record)

    def __repr__(self) -> str:
        return f"<Ablation: {self.record}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": str(self), "application/vnd.plotly.v1+json": self.figure().to_plotly_json()}


class Levels:
    """ORT's five levels side by side. Made by `wb.levels`.

    >>> import workbench as wb
    >>> wb.Levels.__name__
    'Levels'
    """

    def __init__(self, record: LevelsRecord) -> None:
        self.record = record

    def to_frame(self) -> Any:
        """One row a level."""
        return self.record.to_frame()

    def figure(self) -> go.Figure:
        """Nodes and latency of each level."""
        from workbench.figures.levels import levels_figure

        return levels_figure(self.record)

    def __str__(self) -> str:
        return str(self.record)

    def __repr__(self) -> str:
        return f"<Levels: {self.record}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": str(self), "application/vnd.plotly.v1+json": self.figure().to_plotly_json()}


def explain(
    model: Source,
    config: Config | None = None,
    *,
    budget_s: float = BUDGET_S,
    cancel: threading.Event | None = None,
    python: str = sys.executable,
) -> Explanation:
    """What ORT does to a model under a config: passes, provenance, placement. Nothing is timed.

    `budget_s` bounds the pass snapshots; what is missing then is said. Nodes without a name are given one
    first, so that ORT's record, its profile and its saved graph join. `python` may name the interpreter of an
    environment whose ORT has other providers.

    >>> import workbench as wb
    >>> wb.explain.__name__
    'explain'
    """
    from workbench.models import load

    told = explanation.explain(
        load(model), config or Config(), budget_s=budget_s, cancel=cancel, python=python
    )
    return Explanation(told)


def ablate(
    model: Source,
    config: Config | None = None,
    budget_s: float | None = None,
    *,
    inputs: Feeds = None,
    smallest_effect: float = 0.01,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
) -> Ablation:
    """Switch each pass that fired off alone, all in one interleaved comparison with an A/A control.

    >>> import workbench as wb
    >>> wb.ablate.__name__
    'ablate'
    """
    from workbench.models import load

    loaded, chosen = load(model), config or Config()
    passes = explanation.explain(loaded, chosen, cancel=cancel).passes
    told = compare(
        loaded, chosen, *ablation.configs(chosen, passes), inputs=inputs, budget_s=budget_s,
        smallest_effect=smallest_effect, progress=progress, cancel=cancel, keep=False,
    )  # fmt: skip
    return Ablation(ablation.ablation(loaded.name, chosen, passes, told.record))


def levels(
    model: Source,
    config: Config | None = None,
    *,
    inputs: Feeds = None,
    budget_s: float | None = None,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
) -> Levels:
    """The model at each of ORT's levels: its graph, its load time, its latency in one interleaved comparison.

    >>> import workbench as wb
    >>> wb.levels.__name__
    'levels'
    """
    from workbench.models import load

    loaded, chosen = load(model), config or Config()
    seen = observe(loaded, chosen.replace(level="all"), cancel=cancel)
    first, second, *rest = by_level.configs(chosen)
    told = compare(
        loaded,
        first,
        second,
        *rest,
        inputs=inputs,
        budget_s=budget_s,
        progress=progress,
        cancel=cancel,
        keep=False,
    )
    return Levels(by_level.levels(loaded.name, seen, told.record))
