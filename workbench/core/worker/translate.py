"""ORT's exceptions in the user's words: the only place that turns them into (problem, fix)."""

from __future__ import annotations

import re

from workbench.core.errors import RunFailed
from workbench.core.text import printable, shorten_middle

MAX_CHARACTERS = 4_000  # characters of ORT's message, whose names can be of any length

_RULES: tuple[tuple[str, str], ...] = (
    (
        r"opset .*is under development|Unsupported model IR version|ir_version",
        "this ORT is older than the model: update onnxruntime, or export with an opset and IR it knows",
    ),
    (
        r"register_custom_ops|RegisterCustomOps|Failed to load library .*custom",
        "the file of custom_ops is no library of operators for this ONNX Runtime: it must export "
        "RegisterCustomOps and be built for this system and version",
    ),
    (
        r"is not a registered function/op|No Op registered for|Fatal error: .* is not a registered",
        "the model uses an operator that this ORT does not have: if it is a custom one, name its library, "
        "Config(custom_ops=['/path/lib.so']); else export without it",
    ),
    (
        r"NOT_IMPLEMENTED|Could not find an implementation",
        "this ORT has no kernel for that operator with these types on the chosen providers: convert the "
        "model to another opset or type, or add a provider that has one",
    ),
    (
        r"Protobuf serialization failed",
        "ORT cannot write the optimized graph: check the disk of TMPDIR; a graph above 2 GiB needs its "
        "weights in a file of their own",
    ),
    (
        r"INVALID_PROTOBUF|Protobuf parsing failed|No graph was found",
        "the file is damaged or no ONNX model: download or export it again",
    ),
    (
        r"External data path|external data|External initializer|data_location",
        "keep the model's external data files beside it, in the same folder, and complete",
    ),
    (
        r"NO_SUCHFILE|File doesn't exist",
        "the file was moved or removed, for example by `workbench clean`: load the model again with wb.load",
    ),
    (
        r"Got invalid dimensions for output|IO binding takes tensors of numbers only",
        "this model's inputs or outputs cannot be bound to buffers: leave io_binding off",
    ),
    (
        r"Got invalid dimensions|Unexpected input data type|Invalid rank for input|Required inputs"
        r"|Invalid input name",
        "give inputs that fit the model: see model.describe() for names, types and shapes",
    ),
    (
        r"is not a graph input, initializer, or output of a previous node",
        "a node reads a value that nothing before it makes (a wrong name, or a cycle): export it again",
    ),
    (
        r"two nodes with same node name",
        "ORT wants a name of its own for each node, or none: export the model again, or set node.name = '' "
        "in all nodes with the onnx package",
    ),
    (
        r"not acyclic|cycle|Nodes in a graph must be topologically sorted",
        "the graph is no valid ONNX graph (it has a cycle): export it again",
    ),
    (
        r"bad_alloc|Failed to allocate memory|BFCArena|out of memory",
        "it needs more memory than there is: use a smaller batch or sequence, or a machine with more",
    ),
    (
        r"indices element out of data bounds|out of bounds|within bounds",
        "an index input is larger than the table it looks up: give your own inputs with "
        "model.inputs(source=…)",
    ),
    (
        r"fallback to CPU EP has been explicitly disabled|Conflicting session configuration",
        "allow the CPU provider for the nodes that the other providers do not take",
    ),
    (
        r"Non-zero status code returned while running",
        "the node that ORT names cannot run on these inputs: give other dims, or inputs of your own, with "
        "inputs=model.inputs(…)",
    ),
)
_UNKNOWN_FIX = (
    "read ORT's message above; model.describe() shows what the model needs, wb.doctor() what ORT has"
)


def translated(kind: str, message: str, stage: str) -> RunFailed:
    """Translate an ORT exception of class `kind`; keep its message, which names nodes and values."""
    if kind == "AttributeError" and "onnxruntime" in message:
        return RunFailed(
            f"this version of ONNX Runtime lacks something during {stage}: {shorten_middle(message, 400)}",
            "update onnxruntime in the environment of this config, or leave out what needs it",
        )
    text = printable(re.sub(r"\[ONNXRuntimeError\] : \d+ : ", "", message).strip(), keep="\n\t")
    fix = next((fix for pattern, fix in _RULES if re.search(pattern, message, re.IGNORECASE)), _UNKNOWN_FIX)
    return RunFailed(f"ORT refused during {stage}: {shorten_middle(text, MAX_CHARACTERS) or kind}", fix)
