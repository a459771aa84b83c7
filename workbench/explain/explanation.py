"""What ORT did to a model under a config, concluded: placement, provenance, passes."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.config import Config
from workbench.explain.graph import Graph
from workbench.explain.observe import BUDGET_S, Observation, observe
from workbench.explain.passes import Passes, passes_of
from workbench.explain.placement import Placement, place
from workbench.explain.provenance import Account, account
from workbench.models import Model

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Provenance:
    """Every source node with its fate, every optimized node with its sources."""

    account: Account
    exact: bool  # the pass snapshots end in exactly ORT's own final graph
    problem: str | None

    @property
    def unknown(self) -> int:
        """Source nodes whose fate could not be explained."""
        return self.account.count("unknown")

    @property
    def untraced(self) -> int:
        """Optimized nodes that could not be traced to source nodes."""
        return sum(not one.is_traced for one in self.account.optimized)

    def to_frame(self) -> pd.DataFrame:
        """One row a source node: node, op_type, fate, into, passes."""
        import pandas as pd

        rows = [
            (one.node, one.op_type, one.fate, "; ".join(one.into), "; ".join(one.passes))
            for one in self.account.sources
        ]
        return pd.DataFrame(rows, columns=["node", "op_type", "fate", "into", "passes"])

    def optimized_frame(self) -> pd.DataFrame:
        """One row an optimized node: node, op_type, sources, inserted, passes."""
        import pandas as pd

        rows = [
            (one.node, one.op_type, "; ".join(one.sources), one.inserted, "; ".join(one.passes))
            for one in self.account.optimized
        ]
        return pd.DataFrame(rows, columns=["node", "op_type", "sources", "inserted", "passes"])


@dataclass(frozen=True, eq=False)
class Explained:
    """All of it, with the graphs that it speaks of."""

    model_name: str
    config: Config
    source: Graph
    basic: Graph  # what ORT divides among providers
    optimized: Graph
    placement: Placement
    provenance: Provenance
    passes: Passes
    load_s: float


def explain(
    model: Model,
    config: Config,
    *,
    budget_s: float = BUDGET_S,
    cancel: threading.Event | None = None,
    python: str = sys.executable,
) -> Explained:
    """Observe in a worker, then conclude here."""
    seen = observe(model, config, budget_s=budget_s, cancel=cancel, python=python)
    return conclude(model.name, config, seen)


def conclude(model_name: str, config: Config, observation: Observation) -> Explained:
    """No process, no clock: the same observation always gives the same conclusion."""
    chain = [(shot.name, shot.level, shot.graph) for shot in observation.chain]
    whole = account(observation.source, chain)
    inserted = frozenset(one.node for one in whole.optimized if one.inserted or not one.sources)
    requested = tuple(provider.name for provider in config.providers)
    return Explained(
        model_name=model_name,
        config=config,
        source=observation.source,
        basic=observation.basic,
        optimized=observation.final,
        placement=place(observation, requested, inserted),
        provenance=Provenance(whole, observation.exact, observation.problem),
        passes=passes_of(observation, whole),
        load_s=observation.load_s,
    )
