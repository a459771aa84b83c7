"""The fields of a config, which everything that reads a config takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from workbench.config.engines import EnginePart
from workbench.config.fusion import TransformerFusion
from workbench.config.knob import changed_fields
from workbench.config.knobs import BY_FIELD
from workbench.config.precision import Precision, PreparedModel
from workbench.config.provider import Provider

Level = Literal["disabled", "basic", "extended", "layout", "all"]
ExecutionMode = Literal["sequential", "parallel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFields:
    """Every field with its default, which leaves it to ORT. `Config` checks the values."""

    level: Level | None = None
    disabled_passes: tuple[str, ...] = ()
    rewrites: tuple[str, ...] = ()
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
    custom_ops: tuple[str, ...] = ()
    session_entries: tuple[tuple[str, str], ...] = ()
    run_entries: tuple[tuple[str, str], ...] = ()
    allow_unknown: bool = False
    runtime: str | None = None
    engine: EnginePart | None = None

    def changed(self) -> dict[str, Any]:
        """Return the fields that were set, in order."""
        return changed_fields(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what was set, as JSON holds it; {} leaves everything to ORT."""
        return {name: BY_FIELD[name].to_json(value) for name, value in self.changed().items()}

    @property
    def arithmetic(self) -> Precision | None:
        """The precision that is applied to the file; of another file in the model's place, the one inside."""
        if isinstance(self.precision, PreparedModel):
            return cast(Precision | None, self.precision.precision)
        return self.precision

    @property
    def changes_model(self) -> bool:
        """Whether the model file is changed before ORT loads it."""
        parts = (self.fusion, self.precision, self.saved_graph)
        return bool(self.rewrites) or any(part is not None for part in parts)
