"""The fields of a config, which everything that reads a config takes; each is declared with its knob."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

from workbench.core.config.engines import EnginePart
from workbench.core.config.fusion import TransformerFusion
from workbench.core.config.kinds import Choice, Count, Flag, Switch, Text
from workbench.core.config.knob import Settings, check_known, knobs_of
from workbench.core.config.name_kinds import Choices, Entries, FreeSizes, Libraries, Names
from workbench.core.config.parts import PartKnob
from workbench.core.config.precision import Precision, PreparedModel
from workbench.core.config.provider import Provider
from workbench.core.config.provider_knob import Providers
from workbench.core.config.runtime import Interpreter
from workbench.core.rewrites.catalogue import REWRITES

Level = Literal["disabled", "basic", "extended", "layout", "all"]
ExecutionMode = Literal["sequential", "parallel"]
DevicePolicy = Literal[
    "default",
    "prefer_cpu",
    "prefer_gpu",
    "prefer_npu",
    "max_performance",
    "max_efficiency",
    "min_overall_power",
]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConfigFields(Settings):
    """Every field with its default, which leaves it to ORT. `Config` checks the values."""

    level: Level | None = Choice.declare(
        "ORT's default",
        "How far ORT rewrites the graph while loading. Its default is all.",
        "Lower it to find out what rewriting is worth, or to see the model as it was exported.",
        group="graph",
    )
    disabled_passes: tuple[str, ...] = Names.declare(
        "none",
        "Graph passes and rewrite rules left out, by ORT's names. Its default is none.",
        "A fusion that costs time or accuracy on this model.",
        group="graph",
    )
    rewrites: tuple[str, ...] = Choices.declare(
        "none",
        "Rewrite the file before loading so that it computes the same faster or smaller: "
        + "; ".join(f"{rewrite.name}: {rewrite.help}" for rewrite in REWRITES)
        + ". Default: the file stays as it is.",
        "A finding asks for it, or the model cannot be exported again.",
        tuple(rewrite.name for rewrite in REWRITES),
        group="graph",
        label="model rewrites",
    )
    fusion: TransformerFusion | None = PartKnob.declare(
        "none",
        "Rewrite the file with ORT's transformer optimizer before loading: attention, embeddings and "
        "normalization become one operator each. Default: the file stays as it is.",
        "A transformer whose attention ORT does not fuse by itself. Fewer nodes are not always faster.",
        group="graph",
        label="transformer fusion",
    )
    saved_graph: Literal["onnx", "ort", "compiled"] | None = Choice.declare(
        "optimized at load",
        "Optimize once, at this config's level, and load the saved result: as .onnx, or in ORT's own format "
        "(.ort). compiled: the file keeps what the provider compiles (EPContext). Default: ORT optimizes at "
        "every load.",
        "Loading takes long, or the device has a minimal build of ORT. The file fits this processor only.",
        group="graph",
        label="pre-optimized graph",
    )
    precision: Precision | None = PartKnob.declare(
        "as in the file",
        "Change the arithmetic before loading: 8-bit integers, 4-bit weights or 16-bit floats. "
        "Default: as in the file.",
        "Latency, memory or file size matter more than the last digits; look at speed and error together.",
        group="precision",
    )
    providers: tuple[Provider, ...] = Providers.declare(
        "CPU only",
        "Where nodes may run, first choice first; what is left goes to the CPU. Default: the CPU alone.",
        "The machine has an accelerator, or a vendor's library for this processor.",
        group="providers",
    )
    device_policy: DevicePolicy | None = Choice.declare(
        "off",
        "Let ONNX Runtime choose among the CPU and the devices of listed plugins, by this preference. "
        "Default: off, the providers are taken in their order.",
        "The same config shall run on machines with different accelerators.",
        group="providers",
    )
    intra_op_threads: int | None = Count.declare(
        "ORT's choice",
        "Threads that share one operator. ORT's choice is one a physical core, pinned.",
        "Almost always worth a try; never more than the cores this process may use.",
        group="threads",
        label="intra-op threads",
    )
    inter_op_threads: int | None = Count.declare(
        "ORT's choice",
        "Threads that run operators beside each other; used only in parallel mode.",
        "The graph has wide, independent branches.",
        group="threads",
        label="inter-op threads",
    )
    execution_mode: ExecutionMode | None = Choice.declare(
        "ORT's default",
        "One operator after another, or independent branches at once. ORT's default is sequential.",
        "Parallel can help graphs with many branches of equal size; most models lose.",
        group="threads",
    )
    spinning: bool | None = Flag.declare(
        "ORT's default",
        "Idle threads keep a core busy, waiting for work. ORT's default is on.",
        "Off saves CPU time when requests are rare or the machine is shared, at some latency.",
        group="threads",
    )
    affinity: str | None = Text.declare(
        "ORT's choice",
        "Processors of each extra intra-op thread, numbered from 1: '2;3' or '1-4;5-8'.",
        "Several sockets, efficiency cores, or a neighbour to keep away from.",
        group="threads",
    )
    memory_pattern: bool | None = Flag.declare(
        "ORT's default",
        "After the first run, plan all buffers of a shape as one block. ORT's default is on.",
        "Off where shapes change with every request, or for memory figures of single nodes.",
        group="memory",
    )
    memory_reuse: bool | None = Flag.declare(
        "ORT's default",
        "Let a node write into a buffer that nobody reads any more. ORT's default is on.",
        "Off only to look for a bug; memory grows.",
        group="memory",
    )
    cpu_arena: bool | None = Flag.declare(
        "ORT's default",
        "Keep freed CPU memory for the next run. ORT's default is on.",
        "Off where memory matters more than latency.",
        group="memory",
        label="CPU arena",
    )
    free_dimensions: tuple[tuple[str, int], ...] = FreeSizes.declare(
        "free",
        "Fix a symbolic dimension by name, so that ORT can fold shapes. ORT's default is to leave them free.",
        "The deployed batch or sequence length never changes.",
        group="inputs",
    )
    io_binding: bool = Switch.declare(
        "off",
        "Bind inputs and outputs to buffers once and reuse them in every run.",
        "Accelerators, where it saves a copy each way; large outputs on the CPU.",
        group="inputs",
        label="IO binding",
    )
    deterministic: bool | None = Flag.declare(
        "ORT's default",
        "Prefer kernels that give the same bits every time. ORT's default is off.",
        "Results must not change from run to run, on a GPU above all.",
        label="deterministic compute",
    )
    custom_ops: tuple[str, ...] = Libraries.declare(
        "none",
        "Libraries of custom operators, by path; ONNX Runtime loads and registers them. Default: none.",
        "The model uses operators that ONNX Runtime does not have. A library is a program: know its author.",
        label="custom operators",
    )
    session_entries: tuple[tuple[str, str], ...] = Entries.declare(
        "unset",
        "Any other session configuration entry of ORT, by its key.",
        "A finding or ORT's documentation asks for it.",
        label="session entry",
    )
    run_entries: tuple[tuple[str, str], ...] = Entries.declare(
        "unset",
        "Configuration entries given with every run, such as giving arena memory back after it.",
        "Memory must shrink between requests, or a provider asks for it.",
        label="run entry",
    )
    allow_unknown: bool = Switch.declare(
        "off",
        "Pass on providers, options and entries that the catalogue does not know. ORT ignores most mistakes.",
        "A newer ORT, an own build or a plugin provider has something that the catalogue lacks.",
        label="unknown names allowed",
    )
    runtime: str | None = Interpreter.declare(
        "this environment's ORT",
        "The Python of another environment, whose ONNX Runtime runs this config. Default: this one's.",
        "A provider is in another build of ORT (onnxruntime-openvino…), or two versions of ORT are compared.",
        group="providers",
    )
    engine: EnginePart | None = PartKnob.declare(
        "ONNX Runtime",
        "What runs the model: ONNX Runtime, or in its place PyTorch, OpenVINO, TensorRT or GenAI.",
        "You want to know what ONNX Runtime gains or loses against another engine.",
        group="providers",
    )

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


KNOBS = knobs_of(ConfigFields)
BY_FIELD = {knob.field: knob for knob in KNOBS}
SHORT_NAMES = {"threads": "intra_op_threads"}
# What an axis of a grid may be called: the knobs whose values are short texts.
SWEPT = (*SHORT_NAMES, *(knob.field for knob in KNOBS if isinstance(knob, Choice | Count | Flag | Switch)))


def check_fields(names: Iterable[str]) -> None:
    """Refuse a name that is no field of Config."""
    check_known("Config", names, BY_FIELD)


def values_like(name: str) -> str:
    """Return values that the knob of an axis may have, as a text; empty for a name that is none."""
    if name not in SWEPT:
        return ""
    knob = BY_FIELD[SHORT_NAMES.get(name, name)]
    return "1, 2, 4" if isinstance(knob, Count) else ", ".join(knob.choices) or "true, false"
