"""Everything that can be turned, as one frozen value; all defaults mean "what ORT does when told nothing"."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from workbench.config import (
    assignments,
    canonical,
    difference,
    notes,
    rules,
    runtime,
    script,
    script_steps,
    wire,
)
from workbench.config.fusion import TransformerFusion
from workbench.config.knobs import BY_FIELD
from workbench.config.plan import SessionPlan, session_plan
from workbench.config.precision import Precision
from workbench.config.provider import Provider

Level = Literal["disabled", "basic", "extended", "layout", "all"]
ExecutionMode = Literal["sequential", "parallel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a session is told. Hashable, comparable, never illegal: a bad value or combination raises here.

    Wider values are accepted than are held: dicts for pairs, names for providers
    (`Config(providers=["cuda"], free_dimensions={"batch": 1})`). `knobs.KNOBS` says what each field does.

    >>> import workbench as wb
    >>> wb.Config(level="all", intra_op_threads=2).replace(level=None)
    Config(intra_op_threads=2)
    """

    level: Level | None = None
    disabled_passes: tuple[str, ...] = ()
    fusion: TransformerFusion | None = None
    saved_graph: Literal["onnx", "ort"] | None = None
    precision: Precision | None = None
    providers: tuple[Provider, ...] = ()
    intra_op_threads: int | None = None
    inter_op_threads: int | None = None
    execution_mode: ExecutionMode | None = None
    spinning: bool | None = None
    affinity: str | None = None
    memory_pattern: bool | None = None
    memory_reuse: bool | None = None
    cpu_arena: bool | None = None
    free_dimensions: tuple[tuple[str, int], ...] = ()
    io_binding: bool = False
    deterministic: bool | None = None
    session_entries: tuple[tuple[str, str], ...] = ()
    run_entries: tuple[tuple[str, str], ...] = ()
    allow_unknown: bool = False
    runtime: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = canonical.canonical(BY_FIELD[field.name], getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        for name, value in rules.judged(self).items():
            object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> Config:
        """The same with some fields changed; a name that is no field is refused with the nearest one."""
        rules.check_fields(changes)
        return replace(self, **changes)

    def diff(self, other: Config) -> difference.ConfigDifference:
        """What `other` has that this one has not; `str()` of it is a sentence with this one as A."""
        return difference.between(self, other)

    def notes(self, cores: int | None = None) -> tuple[str, ...]:
        """Legal but probably not meant: one sentence each. `cores`: what the process may use."""
        return notes.notes(self, cores or usable_cores())

    def plan(self) -> SessionPlan:
        """What this says to ORT."""
        return session_plan(self)

    @property
    def interpreter(self) -> str:
        """The Python that runs it: of the environment that `runtime` names, else this one."""
        return runtime.interpreter(self.runtime)

    @property
    def without_preparing(self) -> Config:
        """The same for a file that is prepared: what is left to tell ORT."""
        if not self.prepares:
            return self
        return self.replace(fusion=None, precision=None, saved_graph=None, free_dimensions=())

    @property
    def left_over(self) -> Config:
        """What the session of the prepared file is told; a saved graph is not optimized again."""
        plain = self.without_preparing
        return plain if self.saved_graph is None else plain.replace(level="disabled", disabled_passes=())

    @property
    def prepares(self) -> bool:
        """Whether the model file is changed before ORT loads it."""
        return any(part is not None for part in (self.fusion, self.precision, self.saved_graph))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; only what was set."""
        return wire.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Config:
        """The config that `to_dict` wrote; anything else in `data` is refused."""
        return cls(**wire.from_dict(data))

    @classmethod
    def from_assignments(cls, texts: Iterable[str], base: Config | None = None) -> Config:
        """From texts as a command line has them: `level=all`, `providers.cuda.device_id=1`."""
        return assignments.applied(base or cls(), texts)

    def to_python(self, model: str | os.PathLike[str]) -> str:
        """A plain onnxruntime script that prepares the model at a path and makes the same session of it.

        Static int8 reads its calibration examples from `calibration.npz`: an array for each input, all
        examples along the first axis.
        """
        if not self.prepares:
            return script.script(self.plan(), model, self.runtime)
        made = script_steps.steps(self, model)
        return script.script(self.left_over.plan(), made.file, self.runtime, script_steps.lines(made))

    def changed(self) -> dict[str, Any]:
        """The fields that were set, in order."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            field.name: values[field.name] for field in fields(self) if values[field.name] != field.default
        }

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={value!r}' for name, value in self.changed().items())})"

    def _repr_html_(self) -> str:
        return difference.to_html(self)


def usable_cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
