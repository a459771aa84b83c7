"""What ORT made of a model under a config."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.kinds import Part
from workbench.core.command import Command
from workbench.core.errors import ProfileError
from workbench.core.feature import Feature
from workbench.core.models import Model, load
from workbench.core.models.graph_walk import read_graph
from workbench.core.text import counted
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import MOST_NODES, attempt, paragraph, plot, table
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.result import Result
from workbench.features.explain.charts import explanation_chart, passes_chart
from workbench.features.explain.explanation import Explained, Provenance, check_explanation, explain
from workbench.features.explain.fusions import Fusions
from workbench.features.explain.passes.fired import Passes
from workbench.features.explain.placement.comparing import PredictionCheck, compare_prediction
from workbench.features.explain.placement.prediction import (
    PlacementPrediction,
    Predictions,
    predict,
    predict_all,
)
from workbench.features.explain.placement.records import Placement, placed_in_words
from workbench.features.explain.placement.resolve import sizes_of
from workbench.features.profile.memory.result import Memory
from workbench.features.profile.result import Profile
from workbench.features.profile.roofline.result import Roofline
from workbench.features.profile.saved import record_of
from workbench.features.profile.session_profile import SessionProfile as Data

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.drawing.chart import Chart
    from workbench.features.explain.graph_view import GraphView
    from workbench.features.explain.graph_view.view import ColorBy


class Explanation(Result):
    """What ORT made of a model under a config. Made by `wb.explain`."""

    record: Explained

    @cached_property
    def profile(self) -> Profile:
        """Where the time of a few executions goes; there is one where `profile=True` was given."""
        record = next((part.record for part in self.parts if part.name == "profile"), None)
        if record is None:
            raise ProfileError(
                f"{self.record.model_name} was explained without being run, so there is no profile",
                "ask for one with wb.explain(model, config, profile=True), or add one with .with_profile(…)",
            )
        return Profile.reopened(record, self._about)

    @cached_property
    def memory(self) -> Memory:
        """Memory of the last profiled run, node by node."""
        return self.profile.memory()

    @cached_property
    def roofline(self) -> Roofline:
        """Each node's time against the least that this machine needs; peaks are measured at first use."""
        return self.profile.roofline()

    def with_profile(self, profile: Data) -> Explanation:
        """Return the same with the times of a profile of this config of this model, as `wb.profile` makes."""
        rest = (part for part in self.parts if part.name != "profile")
        parts = (*rest, Part("profile", record_of(profile), None))
        record = self.record.with_profile(profile)
        return Explanation(record, self._about, structure=self.structure, parts=parts)

    @property
    def explained(self) -> Explained:
        """The graphs, and everything concluded from them."""
        return self.record

    @property
    def placement(self) -> Placement:
        """Which optimized node runs on which provider, in which partition."""
        return self.record.placement

    @property
    def provenance(self) -> Provenance:
        """What happened to each source node."""
        return self.record.provenance

    @property
    def passes(self) -> Passes:
        """Which passes fired, what each changed, and which fusions were missed."""
        return self.record.passes

    @overload
    def what_if(self, provider: str) -> PlacementPrediction: ...

    @overload
    def what_if(self, provider: None = None) -> Predictions: ...

    def what_if(self, provider: str | None = None) -> PlacementPrediction | Predictions:
        """Where nodes would run on a provider that is not here: a prediction from a table, nothing runs.

        Without a name, all providers that there is a table for, side by side.
        """
        explained, profiled = self.record, any(part.name == "profile" for part in self.parts)
        sizes = sizes_of(explained.optimized, self.profile) if profiled else None
        if provider is None:
            return predict_all(explained.basic, sizes)
        return predict(explained.basic, provider, sizes)

    @staticmethod
    def predict(model: Model | Any, provider: str) -> PlacementPrediction:
        """Where the nodes of a model file would run on a provider: as `what_if`, of the graph as it is."""
        return predict(read_graph(load(model).structure), provider)

    def compare_prediction(self) -> PredictionCheck:
        """The prediction for the provider of this explanation beside where its session put each node.

        Predictions say how often such checks found them right.
        """
        return compare_prediction(self.record.placement, self.record.basic)

    def graph(self, what_if: str | None = None, *, color: ColorBy | None = None) -> GraphView:
        """Show source and optimized graph side by side, linked; `what_if` names a provider to predict for.

        `color` is one of provider, time, memory, fate, op.
        """
        from workbench.features.explain.graph_view import graph_view

        prediction = None if what_if is None else self.what_if(what_if)
        return graph_view(self.record, prediction=prediction, color=color)

    def fusions(self) -> Fusions:
        """Return what was fused into what, counted by pattern."""
        return Fusions({"optimized": self.record})

    def to_frame(self) -> DataFrame:
        """Return one row per source node: what happened to it."""
        return self.provenance.to_frame()

    def histogram_figure(self) -> go.Figure:
        """Draw operators before and after."""
        from workbench.drawing.chart_figure import chart_figure

        return chart_figure(explanation_chart(self.record))

    figure = histogram_figure

    def passes_figure(self) -> go.Figure:
        """Draw the nodes left after each pass."""
        from workbench.drawing.chart_figure import chart_figure

        return chart_figure(passes_chart(self.record))

    def flow_figure(self) -> go.Figure:
        """Draw what source operators became."""
        from workbench.features.explain.charts import flow_figure

        return flow_figure(self.record)

    def document(self) -> Document:
        """Return the page: graphs, operators, passes, nodes, and the time where it was profiled."""
        page = Document(f"{self.record.model_name}: what ONNX Runtime did", paragraph(str(self)))
        page.add("graph", "Graph", attempt(lambda: page.view(self.graph())))
        fusions = self.fusions()
        page.add(
            "operators", "Operators",
            plot(self.histogram_figure(), "Operators before and after")
            + table(fusions.ops_frame(), "In numbers")
            + plot(self.flow_figure(), "From source operators to optimized operators"),
        )  # fmt: skip
        page.add(
            "passes", "Passes",
            plot(self.passes_figure(), "Nodes left after each pass")
            + table(self.passes.to_frame(), "Passes that fired")
            + table(fusions.to_frame(), "What was fused into what")
            + table(self.passes.missed_frame(), "Expected fusions that did not happen", most=MOST_NODES),
        )  # fmt: skip
        page.add(
            "nodes", "Nodes",
            table(self.provenance.to_frame(), "What happened to each source node", most=MOST_NODES)
            + table(self.placement.to_frame(), "Where each node runs", most=MOST_NODES)
            + table(self.placement.boundaries_frame(), "Tensors that cross partitions", most=MOST_NODES),
        )  # fmt: skip
        if any(part.name == "profile" for part in self.parts):
            self.profile.add_time(page)
        self._add_origin(page)
        return page

    def chart(self) -> Chart:
        """Return operators before and after."""
        return explanation_chart(self.record, str(self))

    def _in_words(self) -> str:
        record = self.record
        account = record.provenance.account
        fates = ", ".join(
            f"{count:,} {fate}"
            for fate in ("kept", "fused", "folded", "eliminated", "unknown")
            if (count := account.count(fate))
        )
        where = placed_in_words(record.placement.counts())
        passes = counted(len(record.passes.names), "pass", "passes")
        if not record.passes.are_known:
            passes = "passes that are not known"
        missing = len(record.passes.missed)
        missed = f"; {counted(missing, 'expected fusion')} did not happen" if missing else ""
        return (
            f"{record.model_name}: {len(record.source.nodes):,} source nodes{fates and f' ({fates})'} became "
            f"{len(record.optimized.nodes):,}{where and f' ({where})'} through {passes}"
            f"{missed}.{_doubt(record.provenance)}"
        )


def _doubt(provenance: Provenance) -> str:
    """Return what a reader must know before trusting it to the last node, or nothing."""
    if provenance.exact:
        return ""
    if not provenance.followed:
        why = provenance.problem or "wb.explain(…, passes=True) follows them"
        return f" The passes were not followed one by one: {why}."
    why = f" ({provenance.problem})" if provenance.problem else ""
    return f" The pass snapshots do not end in exactly ORT's own graph{why}."


def examine(run: ExaminedRun) -> Explained:
    """Explain the model under the config of the run."""
    run.announce("explanation")
    return explain(run.model, run.config, calibration=run.calibration, cancel=run.cancel)


FEATURE = Feature(
    "explanation",
    Explained,
    check_explanation,
    result=Explanation,
    per="run",
    call="workbench.features.explain.calls:explain",
    takes=("calibration", "keep"),
    examine=examine,
    title="graph",
    cards="workbench.features.explain.cards:cards",
    button="Explain A and B",
    hint="What ORT makes of the graph under each config, pass by pass; nothing is timed",
    effort=(2.0, 12, 2),
    next_question=(4, "any", "What did ORT do?"),
    role="explains",
    tabs=("What ORT did", "Where time goes"),
    key="node",
    command=Command(
        example="bert-base --a level=extended --csv",
        hints={
            "passes": "capture the graph after each pass",
            "profile": "run it, too, and put times to nodes",
        },
    ),
)
