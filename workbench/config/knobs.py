"""Every field of a Config in words: for its differences, its errors, its panel and its tooltips.

A new knob is one field of Config, one entry here and one line in plan.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.config.kinds import Choice, Count, Flag, Switch, Text
from workbench.config.knob import Knob, check_known
from workbench.config.name_kinds import Choices, Entries, Libraries, Names, Sizes
from workbench.config.parts import PartKnob
from workbench.config.provider_knob import Providers
from workbench.config.runtime import Interpreter
from workbench.rewrites.catalogue import REWRITES

KNOBS: tuple[Knob, ...] = (
    Choice(
        "level",
        "ORT's default",
        "How far ORT rewrites the graph while loading. Its default is all.",
        "Lower it to find out what rewriting is worth, or to see the model as it was exported.",
        ("disabled", "basic", "extended", "layout", "all"),
        group="graph",
    ),
    Names(
        "disabled_passes",
        "none",
        "Graph passes and rewrite rules left out, by ORT's names. Its default is none.",
        "A fusion that costs time or accuracy on this model.",
        group="graph",
    ),
    Choices(
        "rewrites",
        "none",
        "Rewrite the file before loading so that it computes the same faster or smaller: "
        + "; ".join(f"{rewrite.name}: {rewrite.help}" for rewrite in REWRITES)
        + ". Default: the file stays as it is.",
        "A finding asks for it, or the model cannot be exported again.",
        tuple(rewrite.name for rewrite in REWRITES),
        group="graph",
        label="model rewrites",
    ),
    PartKnob(
        "fusion",
        "none",
        "Rewrite the file with ORT's transformer optimizer before loading: attention, embeddings and "
        "normalization become one operator each. Default: the file stays as it is.",
        "A transformer whose attention ORT does not fuse by itself. Fewer nodes are not always faster.",
        group="graph",
        label="transformer fusion",
    ),
    Choice(
        "saved_graph",
        "optimized at load",
        "Optimize once, at this config's level, and load the saved result: as .onnx, or in ORT's own format "
        "(.ort). Default: ORT optimizes at every load.",
        "Loading takes long, or the device has a minimal build of ORT. The file fits this processor only.",
        ("onnx", "ort"),
        group="graph",
        label="pre-optimized graph",
    ),
    PartKnob(
        "precision",
        "as in the file",
        "Change the arithmetic before loading: 8-bit integers, 4-bit weights or 16-bit floats. "
        "Default: as in the file.",
        "Latency, memory or file size matter more than the last digits; look at speed and error together.",
        group="precision",
    ),
    Providers(
        "providers",
        "CPU only",
        "Where nodes may run, first choice first; what is left goes to the CPU. Default: the CPU alone.",
        "The machine has an accelerator, or a vendor's library for this processor.",
        group="providers",
    ),
    Count(
        "intra_op_threads",
        "ORT's choice",
        "Threads that share one operator. ORT's choice is one a physical core, pinned.",
        "Almost always worth a try; never more than the cores this process may use.",
        group="threads",
        label="intra-op threads",
    ),
    Count(
        "inter_op_threads",
        "ORT's choice",
        "Threads that run operators beside each other; used only in parallel mode.",
        "The graph has wide, independent branches.",
        group="threads",
        label="inter-op threads",
    ),
    Choice(
        "execution_mode",
        "ORT's default",
        "One operator after another, or independent branches at once. ORT's default is sequential.",
        "Parallel can help graphs with many branches of equal size; most models lose.",
        ("sequential", "parallel"),
        group="threads",
    ),
    Flag(
        "spinning",
        "ORT's default",
        "Idle threads keep a core busy, waiting for work. ORT's default is on.",
        "Off saves CPU time when requests are rare or the machine is shared, at some latency.",
        group="threads",
    ),
    Text(
        "affinity",
        "ORT's choice",
        "Processors of each extra intra-op thread, numbered from 1: '2;3' or '1-4;5-8'.",
        "Several sockets, efficiency cores, or a neighbour to keep away from.",
        group="threads",
    ),
    Flag(
        "memory_pattern",
        "ORT's default",
        "After the first run, plan all buffers of a shape as one block. ORT's default is on.",
        "Off where shapes change with every request, or for memory figures of single nodes.",
        group="memory",
    ),
    Flag(
        "memory_reuse",
        "ORT's default",
        "Let a node write into a buffer that nobody reads any more. ORT's default is on.",
        "Off only to look for a bug; memory grows.",
        group="memory",
    ),
    Flag(
        "cpu_arena",
        "ORT's default",
        "Keep freed CPU memory for the next run. ORT's default is on.",
        "Off where memory matters more than latency.",
        group="memory",
        label="CPU arena",
    ),
    Sizes(
        "free_dimensions",
        "free",
        "Fix a symbolic dimension by name, so that ORT can fold shapes. ORT's default is to leave them free.",
        "The deployed batch or sequence length never changes.",
        group="inputs",
    ),
    Switch(
        "io_binding",
        "off",
        "Bind inputs and outputs to buffers once and reuse them in every run.",
        "Accelerators, where it saves a copy each way; large outputs on the CPU.",
        group="inputs",
        label="IO binding",
    ),
    Flag(
        "deterministic",
        "ORT's default",
        "Prefer kernels that give the same bits every time. ORT's default is off.",
        "Results must not change from run to run, on a GPU above all.",
        label="deterministic compute",
    ),
    Libraries(
        "custom_ops",
        "none",
        "Libraries of custom operators, by path; ONNX Runtime loads and registers them. Default: none.",
        "The model uses operators that ONNX Runtime does not have. A library is a program: know its author.",
        label="custom operators",
    ),
    Entries(
        "session_entries",
        "unset",
        "Any other session configuration entry of ORT, by its key.",
        "A finding or ORT's documentation asks for it.",
        label="session entry",
    ),
    Entries(
        "run_entries",
        "unset",
        "Configuration entries given with every run, such as giving arena memory back after it.",
        "Memory must shrink between requests, or a provider asks for it.",
        label="run entry",
    ),
    Switch(
        "allow_unknown",
        "off",
        "Pass on providers, options and entries that the catalogue does not know. ORT ignores most mistakes.",
        "A newer ORT, an own build or a plugin provider has something that the catalogue lacks.",
        label="unknown names allowed",
    ),
    Interpreter(
        "runtime",
        "this environment's ORT",
        "The Python of another environment, whose ONNX Runtime runs this config. Default: this one's.",
        "A provider is in another build of ORT (onnxruntime-openvino…), or two versions of ORT are compared.",
        group="providers",
    ),
    PartKnob(
        "engine",
        "ONNX Runtime",
        "What runs the model: ONNX Runtime, or PyTorch, OpenVINO or TensorRT in its place, for a comparison.",
        "You want to know what ONNX Runtime gains or loses against another engine.",
        group="providers",
    ),
)
BY_FIELD = {knob.field: knob for knob in KNOBS}


def check_fields(names: Iterable[str]) -> None:
    """Refuse a name that is no field of Config."""
    check_known("Config", names, BY_FIELD)
