"""Have ORT optimize a model in a worker and read back everything that it says and saves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.core.background import in_background
from workbench.core.config import Config, shipped_passes
from workbench.core.errors import ConfigError
from workbench.core.models import Model
from workbench.core.models.graph import Graph
from workbench.core.models.graph_walk import read_graph
from workbench.core.models.naming import named_copy, unnamed
from workbench.core.prepare.preparing import Prepared, prepare
from workbench.core.text import nearest
from workbench.core.worker import log
from workbench.core.worker.launch import Worker, WorkerFolder, call_job
from workbench.features.explain.provenance.account import same_graph
from workbench.features.explain.saved_graph import informed, read_saved
from workbench.features.explain.weightless import with_shapes, write_weightless

if TYPE_CHECKING:
    from onnx import ModelProto

SNAPSHOTS_S = 120.0  # for all snapshots; what is missing then is said
TIMEOUT_S = 900.0
REQUIRED, TOGETHER = "required", "together"
PREPARED = -1  # the level of what was done to the file before ORT saw it
LARGE_NODES = 10_000  # beyond, the first answer comes within 3 times of ORT's own load, the passes do not

# Providers that have a kernel for each node; the others compile what they take.
KERNELS = frozenset(
    f"{name}ExecutionProvider" for name in ("CPU", "CUDA", "ROCM", "Dml", "Js", "WebGpu", "Cann", "Xnnpack")
)

Follow = bool | Literal["auto"]


@dataclass(frozen=True, slots=True)
class Application:
    """One application of a graph transformer, as ORT logged it, with its messages meanwhile."""

    name: str
    level: int
    step: int
    fired: bool
    messages: tuple[str, ...]


class Snapshot(NamedTuple):
    """The graph after a pass. `required`: done at every level; `together`: what no single pass explains.

    Steps of preparation stand first, at the level PREPARED.
    """

    name: str
    level: int
    graph: Graph


@dataclass(frozen=True, eq=False)
class Observation:
    """What ORT did to a model under a config, before any conclusion."""

    source: Graph
    chain: tuple[Snapshot, ...]  # the last is ORT's own final graph, unless `final_saved` is False
    final_saved: bool  # False: a provider compiles its parts; the chain ends after the basic level
    followed: bool  # False: the passes were not looked at one by one, the chain is one large step
    exact: bool  # the single passes end in exactly ORT's own final graph
    problem: str | None  # why there are fewer snapshots than passes
    applied: tuple[Application, ...]
    providers: tuple[str, ...]  # in effect
    assignment: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]  # provider → (name, domain, op type)
    left: tuple[str, ...]  # what was said of nodes that a provider did not take, in ORT's words
    warnings: tuple[str, ...]  # ORT's errors and warnings while it made the session
    load_s: float
    level: int
    disabled_passes: tuple[str, ...] = ()  # as the config says

    @property
    def passes_known(self) -> bool:  # since ORT 1.25
        return bool(self.applied) or self.level == 0

    @property
    def prepared(self) -> Graph:
        """The graph that ORT loaded: the source, unless the config quantizes or fuses it before."""
        shots = [shot.graph for shot in self.chain if shot.level == PREPARED]
        return shots[-1] if shots else self.source

    @property
    def basic(self) -> Graph:
        """The graph after the basic level, which ORT divides among providers."""
        shots = [shot.graph for shot in self.chain if shot.level <= 1]
        return shots[-1] if shots else self.source

    @property
    def final(self) -> Graph:
        return self.chain[-1].graph if self.chain else self.source


def observe(
    model: Model,
    config: Config,
    *,
    passes: Follow = "auto",
    budget_s: float = SNAPSHOTS_S,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_first: Callable[[Observation], None] | None = None,
) -> Observation:
    """Make the config's session, and one for each pass that changes this model; none of them is run.

    What the config does to the file comes before ORT's passes. `passes`: whether to follow them one by one;
    "auto" does it up to LARGE_NODES. `on_first` is told what the first session alone shows, while there is
    more to come.
    """
    if config.changes_model:
        made = prepare(model, config, calibration=calibration, cancel=cancel)
        behind = partial(_behind, source_graph(named_structure(model), cancel), made)

        def early(observation: Observation) -> None:
            if on_first is not None:
                on_first(behind(observation))

        return behind(
            observe(made.model, made.config, passes=passes, budget_s=budget_s, cancel=cancel, on_first=early)
        )
    structure = named_structure(model)
    with (
        WorkerFolder() as place,
        WorkerFolder() as folder,
        Worker(place, name="snapshots", python=config.interpreter) as worker,
        in_background(partial(source_graph, structure), "source graph", cancel) as reading,
    ):
        worker.hello(timeout_s=TIMEOUT_S, cancel=cancel)

        def ask(**arguments: Any) -> dict[str, Any]:
            body = {"job": "snapshots", "arguments": arguments}
            return worker.request("call", body, stage="load", timeout_s=TIMEOUT_S, cancel=cancel).body

        first = ask(**first_question(model, config, folder, cancel))
        observation = read_first(first, reading.result(), config.disabled_passes)
        _check_names(config, observation, first["registered"])
        # To look at each pass costs a load of the model a pass.
        wanted = len(observation.source.nodes) <= LARGE_NODES if passes == "auto" else passes
        if not (wanted and observation.passes_known):
            return observation
        if on_first is not None:
            on_first(observation)
        return read_chain(
            observation, ask(**chain_question(model, structure, config, folder, first, budget_s))
        )


def _behind(source: Graph, made: Prepared, observation: Observation) -> Observation:
    """Return the observation with the steps of preparation before the passes."""
    graphs = [informed(read_graph(named_structure(stage)), source) for stage in made.stages[:-1]]
    shots = [
        Snapshot(step.name, PREPARED, graph)
        for step, graph in zip(made.steps, (*graphs, observation.source), strict=True)
    ]
    return replace(observation, source=source, chain=(*shots, *observation.chain))


def named_structure(model: Model) -> ModelProto:
    """Return the model without its weights, every node named."""
    return named_copy(model.structure) if unnamed(model.structure) else model.structure


def source_graph(structure: ModelProto, cancel: threading.Event | None = None) -> Graph:
    """Return the graph with what shape inference adds to it."""
    return read_graph(with_shapes(structure, cancel=cancel))


def first_question(
    model: Model, config: Config, folder: Path, cancel: threading.Event | None = None
) -> dict[str, Any]:
    """Return the arguments of the first job; files that it needs and makes are in `folder`."""
    path, renamed = model.path.absolute(), unnamed(model.structure)
    if renamed:  # in a worker process: the copy takes the model's size in memory
        arguments = {"source": str(path), "target": str(folder / "named.onnx")}
        call_job("preparing.naming", arguments, timeout_s=TIMEOUT_S, cancel=cancel)
        path = folder / "named.onnx"
    return {
        "model": str(path),
        "plan": config.plan().to_dict(),
        "folder": str(folder),
        "weights_folder": str(model.path.parent.resolve()) if renamed and model.external else None,
    }


def chain_question(
    model: Model,
    structure: ModelProto,
    config: Config,
    folder: Path,
    first: Mapping[str, Any],
    budget_s: float,
) -> dict[str, Any]:
    """Return the arguments of the second job: the snapshots, of the model without its weights."""
    fired = [
        {key: application[key] for key in ("name", "level", "fired")} for application in first["applied"]
    ]
    return {
        "weightless": str(write_weightless(structure, model.path, folder)),
        "plan": config.plan().to_dict(),
        "folder": str(folder),
        "first": {"file": first["file"], "applied": fired},
        "passes": [
            [application.name, application.level, application.part_of]
            for application in shipped_passes().passes
            if application.part_of
        ],
        "budget_s": budget_s,
    }


def read_first(answer: Mapping[str, Any], source: Graph, disabled: tuple[str, ...] = ()) -> Observation:
    """Make the observation of the first answer, and read the files that it names."""
    chain = []
    if answer["basic"]:
        chain.append(Snapshot(TOGETHER, min(answer["level"], 1), read_saved(answer["basic"], source)))
    if answer["file"]:
        chain.append(Snapshot(TOGETHER, answer["level"], read_saved(answer["file"], source)))
    return Observation(
        source=source,
        chain=tuple(chain),
        final_saved=bool(answer["file"]),
        followed=False,
        exact=False,
        problem=answer["problem"],
        applied=tuple(
            Application(row["name"], row["level"], row["step"], row["fired"], tuple(row["said"]))
            for row in answer["applied"]
        ),
        providers=tuple(answer["providers"]),
        assignment=tuple(
            (name, tuple((a, b, c) for a, b, c in nodes)) for name, nodes in answer["assignment"]
        ),
        left=tuple(answer["partitioning"]),
        warnings=tuple(line.message for line in log.parse("\n".join(answer["errors"]))),
        load_s=answer["load_s"],
        level=answer["level"],
        disabled_passes=disabled,
    )


def read_chain(first: Observation, answer: Mapping[str, Any]) -> Observation:
    """Return the first observation with the passes one by one in place of one large step."""
    chain = [
        Snapshot(
            (row["level"] and row["name"]) or REQUIRED, row["level"], read_saved(row["file"], first.source)
        )
        for row in answer["snapshots"]
    ]
    exact = not answer["problem"]
    if first.final_saved:
        final = first.final
        exact = bool(chain) and same_graph(chain[-1].graph, final)
        if exact:
            chain[-1] = chain[-1]._replace(graph=final)
        else:
            chain.append(Snapshot(TOGETHER, first.level, final))
    return replace(first, chain=tuple(chain), followed=True, exact=exact, problem=answer["problem"])


def _check_names(config: Config, observation: Observation, registered: Collection[str]) -> None:
    """Refuse names of passes that this ORT does not have, since ORT ignores them without a word.

    Transformers are those that this ORT names, if it names any; of its rules the log says nothing.
    """
    if not registered:
        return
    rules = {graph_pass.name for graph_pass in shipped_passes().passes if graph_pass.part_of}
    known = {*rules, *registered, *(application.name for application in observation.applied)}
    for name in config.disabled_passes:
        if name not in known:
            hint = "".join(f"write {guess!r}; " for guess in nearest(name, known, 1))
            raise ConfigError(
                f"this ORT has no pass called {name!r}, and would ignore it without a word",
                f"{hint}the passes are: {', '.join(sorted(known))}",
            )
