"""Every field of a Config in words: for its differences, its errors, its panel and its tooltips.

A new knob is one field of Config, one entry here and one line in plan.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "choice",
    "count",
    "flag",
    "switch",
    "text",
    "texts",
    "names",
    "number",
    "switches",
    "part",
    "providers",
    "entries",
    "sizes",
]
Group = Literal["graph", "providers", "precision", "threads", "memory", "inputs", "advanced"]


@dataclass(frozen=True, slots=True)
class Knob:
    """How one field is called, what it takes and when to turn it."""

    field: str
    label: str
    group: Group
    kind: Kind
    unset: str  # how "told nothing" reads in a sentence
    help: str  # what it does, and what ORT does when told nothing
    when: str  # when to turn it
    choices: tuple[str, ...] = ()


KNOBS = (
    Knob(
        "level",
        "level",
        "graph",
        "choice",
        "ORT's default",
        "How far ORT rewrites the graph while loading. Its default is all.",
        "Lower it to find out what rewriting is worth, or to see the model as it was exported.",
        ("disabled", "basic", "extended", "layout", "all"),
    ),
    Knob(
        "disabled_passes",
        "disabled passes",
        "graph",
        "names",
        "none",
        "Graph passes and rewrite rules left out, by ORT's names. Its default is none.",
        "A fusion that costs time or accuracy on this model.",
    ),
    Knob(
        "fusion",
        "transformer fusion",
        "graph",
        "part",
        "none",
        "Rewrite the file with ORT's transformer optimizer before loading: attention, embeddings and "
        "normalization become one operator each. Default: the file stays as it is.",
        "A transformer whose attention ORT does not fuse by itself. Fewer nodes are not always faster.",
        ("transformer",),
    ),
    Knob(
        "saved_graph",
        "graph saved ahead",
        "graph",
        "choice",
        "optimized at load",
        "Optimize once, at this config's level, and load the saved result: as .onnx, or in ORT's own format "
        "(.ort). Default: ORT optimizes at every load.",
        "Loading takes long, or the device has a minimal build of ORT. The file fits this processor only.",
        ("onnx", "ort"),
    ),
    Knob(
        "precision",
        "precision",
        "precision",
        "part",
        "as in the file",
        "Change the arithmetic before loading: 8-bit integers, 4-bit weights or 16-bit floats. "
        "Default: as in the file.",
        "Latency, memory or file size matter more than the last digits; look at speed and error together.",
        ("dynamic_int8", "static_int8", "weight_only", "float16", "bfloat16", "given"),
    ),
    Knob(
        "providers",
        "providers",
        "providers",
        "providers",
        "CPU only",
        "Where nodes may run, first choice first; what is left goes to the CPU. Default: the CPU alone.",
        "The machine has an accelerator, or a vendor's library for this processor.",
    ),
    Knob(
        "intra_op_threads",
        "intra-op threads",
        "threads",
        "count",
        "ORT's choice",
        "Threads that share one operator. ORT's choice is one a physical core, pinned.",
        "Almost always worth a try; never more than the cores this process may use.",
    ),
    Knob(
        "inter_op_threads",
        "inter-op threads",
        "threads",
        "count",
        "ORT's choice",
        "Threads that run operators beside each other; used only in parallel mode.",
        "The graph has wide, independent branches.",
    ),
    Knob(
        "execution_mode",
        "execution mode",
        "threads",
        "choice",
        "ORT's default",
        "One operator after another, or independent branches at once. ORT's default is sequential.",
        "Parallel can help graphs with many branches of equal size; most models lose.",
        ("sequential", "parallel"),
    ),
    Knob(
        "spinning",
        "spinning",
        "threads",
        "flag",
        "ORT's default",
        "Idle threads keep a core busy, waiting for work. ORT's default is on.",
        "Off saves CPU time when requests are rare or the machine is shared, at some latency.",
    ),
    Knob(
        "affinity",
        "affinity",
        "threads",
        "text",
        "ORT's choice",
        "Processors of each extra intra-op thread, numbered from 1: '2;3' or '1-4;5-8'.",
        "Several sockets, efficiency cores, or a neighbour to keep away from.",
    ),
    Knob(
        "memory_pattern",
        "memory pattern",
        "memory",
        "flag",
        "ORT's default",
        "After the first run, plan all buffers of a shape as one block. ORT's default is on.",
        "Off where shapes change with every request, or for memory figures of single nodes.",
    ),
    Knob(
        "memory_reuse",
        "memory reuse",
        "memory",
        "flag",
        "ORT's default",
        "Let a node write into a buffer that nobody reads any more. ORT's default is on.",
        "Off only to look for a bug; memory grows.",
    ),
    Knob(
        "cpu_arena",
        "CPU arena",
        "memory",
        "flag",
        "ORT's default",
        "Keep freed CPU memory for the next run. ORT's default is on.",
        "Off where memory matters more than latency.",
    ),
    Knob(
        "free_dimensions",
        "free dimensions",
        "inputs",
        "sizes",
        "free",
        "Fix a symbolic dimension by name, so that ORT can fold shapes. ORT's default is to leave them free.",
        "The deployed batch or sequence length never changes.",
    ),
    Knob(
        "io_binding",
        "IO binding",
        "inputs",
        "switch",
        "off",
        "Bind inputs and outputs to buffers once and reuse them in every run.",
        "Accelerators, where it saves a copy each way; large outputs on the CPU.",
    ),
    Knob(
        "deterministic",
        "deterministic compute",
        "advanced",
        "flag",
        "ORT's default",
        "Prefer kernels that give the same bits every time. ORT's default is off.",
        "Results must not change from run to run, on a GPU above all.",
    ),
    Knob(
        "session_entries",
        "session entry",
        "advanced",
        "entries",
        "unset",
        "Any other session configuration entry of ORT, by its key.",
        "A finding or ORT's documentation asks for it.",
    ),
    Knob(
        "run_entries",
        "run entry",
        "advanced",
        "entries",
        "unset",
        "Configuration entries given with every run, such as giving arena memory back after it.",
        "Memory must shrink between requests, or a provider asks for it.",
    ),
    Knob(
        "allow_unknown",
        "unknown names allowed",
        "advanced",
        "switch",
        "off",
        "Pass on providers, options and entries that the catalogue does not know. ORT ignores most mistakes.",
        "A newer ORT, an own build or a plugin provider has something that the catalogue lacks.",
    ),
    Knob(
        "runtime",
        "runtime",
        "providers",
        "text",
        "this environment's ORT",
        "The Python of another environment, whose ONNX Runtime runs this config. Default: this one's.",
        "A provider is in another build of ORT (onnxruntime-openvino…), or two versions of ORT are compared.",
    ),
)
BY_FIELD = {knob.field: knob for knob in KNOBS}
