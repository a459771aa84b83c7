"""`wb.explain`: what ORT does to a model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from workbench.core.config import Config
from workbench.core.models import Model, load
from workbench.core.prepare.real_data import inputs_from
from workbench.core.prepare.runnable import make_runnable
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs, kept
from workbench.features.explain import explanation
from workbench.features.explain.explanation import Explained
from workbench.features.explain.observe import SNAPSHOTS_S, Follow
from workbench.features.explain.result import Explanation
from workbench.features.profile.running import Execution, profile_execution


@finding_inputs
def explain(
    model: Model | Any,
    config: Config | None = None,
    *,
    profile: bool = False,
    inputs: Feeds = None,
    passes: Follow = "auto",
    budget_s: float = SNAPSHOTS_S,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_first: Callable[[Explanation], None] | None = None,
    keep: bool = True,
) -> Explanation:
    """Explain what ORT does to a model under a config: passes, provenance, placement.

    Nothing is run unless `profile` asks for it: a few runs with ORT's profiler on, on `inputs`, whose times
    are then put to nodes, partitions and providers.

    `passes` says whether to capture the graph after each pass, which costs about ORT's time to load the
    model once per pass: "auto" does it up to 10,000 nodes, and the result says when it did not. `on_first`
    gets a first explanation without single passes while they are captured. `budget_s` bounds the pass
    snapshots; the result lists missing ones. Nodes without a name are named first, so that ORT's record, its
    profile and its saved graph join. `Config(runtime=…)` may name the
    interpreter of an environment whose ORT has other providers. `calibration` is what static int8 measures
    its ranges on (see `wb.prepare`). `keep` adds the result to the history.
    """

    def early(first: Explained) -> None:
        if on_first is not None:
            on_first(Explanation(first))

    loaded, chosen = load(model), config or Config()
    fed = inputs_from(loaded, inputs) if profile or inputs is not None else None
    loaded = loaded if fed is None else loaded.with_inputs(fed)
    record = explanation.explain(
        loaded, chosen, passes=passes, budget_s=budget_s, calibration=calibration, cancel=cancel,
        on_first=None if on_first is None else early,
    )  # fmt: skip
    feeds = fed if profile else None
    about, structure = origin_of(loaded, chosen, feeds, cancel=cancel), loaded.structure.SerializeToString()
    result = Explanation(record, about, structure=structure)
    if feeds is not None:
        runnable = make_runnable(loaded, chosen, feeds.feeds, calibration=calibration, cancel=cancel)
        result = result.with_profile(profile_execution(Execution.of(runnable), cancel=cancel))
    return kept(result, keep)
