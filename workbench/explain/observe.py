"""Have ORT optimize a model in a worker and read back everything that it says and saves."""

from __future__ import annotations

import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onnx import ModelProto

from workbench.config import Config, nearest_pass, shipped_passes
from workbench.errors import ConfigError, ModelError
from workbench.explain.ghost import write_ghost
from workbench.explain.graph import Graph, name_nodes, read_graph, unnamed
from workbench.explain.provenance import same_graph
from workbench.explain.shapes import with_shapes
from workbench.models import Model
from workbench.models.structure import read_structure
from workbench.worker import log
from workbench.worker.launch import call_job

BUDGET_S = 120.0  # for all snapshots; what is missing then is said
TIMEOUT_S = 900.0
REQUIRED, TOGETHER = "required", "together"


@dataclass(frozen=True, slots=True)
class Application:
    """One application of a graph transformer, as ORT logged it; `said`: its own words meanwhile."""

    name: str
    level: int
    step: int
    fired: bool
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The graph after a pass. `required`: done at every level; `together`: what no single pass explains."""

    name: str
    level: int
    graph: Graph


@dataclass(frozen=True, eq=False)
class Observation:
    """What ORT did to a model under a config, before any conclusion."""

    source: Graph
    chain: tuple[Snapshot, ...]  # the last is ORT's own final graph, unless `final_saved` is False
    final_saved: bool  # False: a provider compiles its parts; the chain ends after the basic level
    exact: bool  # the single passes end in exactly ORT's own final graph
    problem: str | None  # why there are fewer snapshots than passes
    applied: tuple[Application, ...]
    providers: tuple[str, ...]  # in effect
    assignment: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]  # provider → (name, domain, op type)
    warnings: tuple[str, ...]  # ORT's errors and warnings while it made the session
    load_s: float
    level: int

    @property
    def basic(self) -> Graph:
        """After the basic level: what ORT divides among providers."""
        shots = [shot.graph for shot in self.chain if shot.level <= 1]
        return shots[-1] if shots else self.source

    @property
    def final(self) -> Graph:
        return self.chain[-1].graph if self.chain else self.source


def observe(
    model: Model,
    config: Config,
    *,
    budget_s: float = BUDGET_S,
    cancel: threading.Event | None = None,
    python: str = sys.executable,
) -> Observation:
    """Make the config's session, and one for each pass that changes this model; none of them is run.

    `python`: the interpreter of another environment, whose ORT has other providers.
    """
    with tempfile.TemporaryDirectory(prefix="ort-workbench-explain-") as folder:
        structure = named_structure(model)
        job = job_of(model, structure, config, Path(folder), budget_s)
        answer = call_job("snapshots", job, timeout_s=TIMEOUT_S, cancel=cancel, python=python)
        observation = read_answer(answer, structure)
    _check_names(config, observation)
    return observation


def named_structure(model: Model) -> ModelProto:
    """The model without its weights, every node named."""
    structure = ModelProto()
    structure.CopyFrom(model.structure)
    name_nodes(structure)
    return structure


def job_of(
    model: Model, structure: ModelProto, config: Config, folder: Path, budget_s: float
) -> dict[str, Any]:
    """What the worker's job is told; files that it needs and makes are in `folder`."""
    renamed = unnamed(model.structure)
    return {
        "model": str(_named(model, folder) if renamed else model.path),
        "ghost": str(write_ghost(structure, model.path, folder)),
        "plan": config.plan().to_dict(),
        "folder": str(folder),
        "passes": [[one.name, one.level, one.part_of] for one in shipped_passes().passes if one.part_of],
        "budget_s": budget_s,
        "weights_folder": str(model.path.parent.resolve()) if renamed and model.external else None,
    }


def _named(model: Model, folder: Path) -> Path:
    """The whole model with every node named: only a model that lacks names is copied."""
    proto = ModelProto()
    try:
        proto.ParseFromString(model.path.read_bytes())
    except OSError as error:
        raise ModelError(
            f"{model.name} cannot be read: {error.strerror}", "check the disk and the path"
        ) from error
    name_nodes(proto)
    path = folder / "named.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def read_answer(answer: dict[str, Any], structure: ModelProto) -> Observation:
    """From the job's answer; the files that it names are read now."""
    chain = [
        Snapshot(row["name"] or REQUIRED if row["level"] else REQUIRED, row["level"], _graph(row["file"]))
        for row in answer["snapshots"]
    ]
    saved, exact = bool(answer["file"]), not answer["problem"]
    if saved:
        final = _graph(answer["file"])
        exact = bool(chain) and same_graph(chain[-1].graph, final)
        if exact:
            chain[-1] = Snapshot(chain[-1].name, chain[-1].level, final)
        else:
            chain.append(Snapshot(TOGETHER, answer["level"], final))
    return Observation(
        source=read_graph(with_shapes(structure)),
        chain=tuple(chain),
        final_saved=saved,
        exact=exact,
        problem=answer["problem"],
        applied=tuple(
            Application(one["name"], one["level"], one["step"], one["fired"], tuple(one["said"]))
            for one in answer["applied"]
        ),
        providers=tuple(answer["providers"]),
        assignment=tuple(
            (name, tuple((a, b, c) for a, b, c in nodes)) for name, nodes in answer["assignment"]
        ),
        warnings=tuple(line.message for line in log.parse("\n".join(answer["errors"]))),
        load_s=answer["load_s"],
        level=answer["level"],
    )


def _graph(file: str) -> Graph:
    return read_graph(read_structure(Path(file)))


def _check_names(config: Config, observation: Observation) -> None:
    """ORT ignores a name that it does not know; whoever gave one believes that the pass is off."""
    known = {*shipped_passes().names, *(one.name for one in observation.applied)}
    for name in config.disabled_passes:
        if name not in known:
            guess = nearest_pass(name, known)
            hint = f"write {guess!r}; " if guess else ""
            raise ConfigError(
                f"this ORT has no pass called {name!r}, and would ignore it without a word",
                f"{hint}the passes are: {', '.join(sorted(known))}",
            )
