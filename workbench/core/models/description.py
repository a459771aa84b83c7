"""The description of a model before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.html_table import facts_table
from workbench.core.models.declared import Declared, declared_inputs, declared_outputs
from workbench.core.models.external import ExternalFile
from workbench.core.models.family import Family, guess_family
from workbench.core.models.operators import CONTROL_FLOW, count_operators, count_parameters, quantization
from workbench.core.text import aligned, bytes_text, count_text, counted, shorten

if TYPE_CHECKING:
    from onnx import ModelProto

MAX_IR = 13  # onnxruntime 1.31
MAX_OPSET = 26
MAX_FILE_BYTES = 2**31 - 1  # the protobuf limit of one message
_SHOWN_OPERATORS = 12
_SHOWN_VALUES = 24


@dataclass(frozen=True, slots=True)
class Description:
    """A model in numbers and words. Every name is untrusted text, unshortened."""

    name: str
    parameters: int
    elements: tuple[tuple[str, int], ...]  # parameters by element type
    graph_bytes: int  # the .onnx file with its embedded weights
    external: tuple[ExternalFile, ...]
    ir_version: int
    opsets: tuple[tuple[str, int], ...]  # ("", 17) is ONNX's own domain
    producer: str
    graph_name: str
    inputs: tuple[Declared, ...]
    outputs: tuple[Declared, ...]
    nodes: int  # in the main graph
    inner_nodes: int  # in subgraphs and functions
    operators: tuple[tuple[str, int], ...]
    functions: tuple[str, ...]
    control_flow: tuple[str, ...]
    quantized: str | None  # the detected form of quantization, in words
    family: Family
    family_reason: str
    problems: tuple[str, ...]  # reasons why ORT may refuse the model, with the fix

    @property
    def external_bytes(self) -> int:
        """Return the size of the external weight files."""
        return sum(file.size_bytes for file in self.external)

    @property
    def size_bytes(self) -> int:
        """Return the size of all files on disk."""
        return self.graph_bytes + self.external_bytes

    @property
    def headline(self) -> str:
        """Return one line: 110 M parameters · 438 MB · opset 17 · 1,096 nodes · 2 inputs."""
        opset = next(
            (str(version) for domain, version in self.opsets if domain in ("", "ai.onnx")), "not said"
        )
        return (
            f"{count_text(self.parameters)} parameters · {bytes_text(self.size_bytes)} · opset {opset} · "
            f"{self.nodes + self.inner_nodes:,} nodes · {counted(len(self.inputs), 'input')}"
        )

    def rows(self) -> tuple[tuple[str, str], ...]:
        """Return the rows of the table: (field, text), names shortened."""
        inner = f", and {self.inner_nodes:,} in subgraphs and functions" if self.inner_nodes else ""
        files = [
            f"{shorten(f.name)} ({bytes_text(f.size_bytes)}, {f.tensors:,} tensors)" for f in self.external
        ]
        kinds = [f"{count_text(count)} {name}" for name, count in self.elements]
        return (
            ("parameters", f"{self.parameters:,}" + (f" ({_few(kinds, 6)})" if kinds else "")),
            ("bytes on disk", f"{self.size_bytes:,}"),
            ("external data", _few(files, 6) or "none"),
            ("IR version", str(self.ir_version)),
            (
                "opsets",
                _few([f"{shorten(domain) or 'ai.onnx'} {version}" for domain, version in self.opsets], 12),
            ),
            ("producer", shorten(self.producer) or "not said"),
            ("graph", shorten(self.graph_name) or "not named"),
            *_values("input", self.inputs),
            *_values("output", self.outputs),
            ("nodes", f"{self.nodes:,}{inner}"),
            ("operators", _few([f"{shorten(name)} × {n:,}" for name, n in self.operators], _SHOWN_OPERATORS)),
            ("functions", _few([shorten(name) for name in self.functions], 6) or "none"),
            ("control flow", ", ".join(self.control_flow) or "none"),
            ("quantized", self.quantized or "no"),
            ("family", f"{self.family}: {self.family_reason}"),
            *(("problem", problem) for problem in self.problems),
        )

    def to_frame(self) -> DataFrame:
        """Return one row per fact; columns field, value. `.operators` holds all operators."""
        return data_frame(self.rows(), columns=["field", "value"])

    def __str__(self) -> str:
        return f"{shorten(self.name)}: {self.headline}\n{aligned(self.rows(), 14)}"

    def __repr__(self) -> str:
        return str(self)  # the text that a plain console shows

    def _repr_html_(self) -> str:
        return f"<b>{escape(shorten(self.name))}</b> {escape(self.headline)}{facts_table(self.rows())}"


def describe(
    structure: ModelProto, name: str, graph_bytes: int, external: tuple[ExternalFile, ...]
) -> Description:
    """Describe a model from its structure; no weight is read."""
    counts = count_operators(structure)
    operators = tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))  # the most frequent first
    elements, stored_problems = count_parameters(structure)
    inputs, outputs = declared_inputs(structure), declared_outputs(structure)
    family, reason = guess_family(inputs, outputs, counts)
    problems = [*check_supported(structure), *stored_problems]
    if graph_bytes > MAX_FILE_BYTES:
        problems.append(
            "Its file is larger than 2 GiB, which ORT cannot parse. Save its weights as external data."
        )
    return Description(
        name=name,
        parameters=elements.total(),
        elements=tuple(elements.most_common()),
        graph_bytes=graph_bytes,
        external=external,
        ir_version=structure.ir_version,
        opsets=tuple((opset.domain, opset.version) for opset in structure.opset_import),
        producer=f"{structure.producer_name} {structure.producer_version}".strip(),
        graph_name=structure.graph.name,
        inputs=inputs,
        outputs=outputs,
        nodes=len(structure.graph.node),
        inner_nodes=counts.total() - len(structure.graph.node),
        operators=operators,
        functions=tuple(f"{function.domain}.{function.name}" for function in structure.functions),
        control_flow=tuple(f"{name} × {count}" for name, count in operators if name in CONTROL_FLOW),
        quantized=quantization(counts),
        family=family,
        family_reason=reason,
        problems=tuple(problems),
    )


def check_supported(model: ModelProto) -> tuple[str, ...]:
    """Return the reasons, with fixes, why this ORT refuses the model."""
    reasons: list[str] = []
    if model.ir_version > MAX_IR:
        reasons.append(
            f"Its IR version is {model.ir_version}; this ORT reads up to {MAX_IR}. "
            f"Save it with `model.ir_version = {MAX_IR}`, which is usually enough."
        )
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version > MAX_OPSET:
            reasons.append(
                f"It uses opset {opset.version}; this ORT knows up to {MAX_OPSET}. Export it with "
                f"opset_version={MAX_OPSET}, or convert it with onnx.version_converter."
            )
    if not model.opset_import and model.ir_version >= 3 and not model.functions:
        reasons.append("It names no opset, which IR version 3 and later must. Export it again.")
    return tuple(reasons)


def _few(texts: list[str], limit: int) -> str:
    more = len(texts) - limit
    return ", ".join(texts[:limit]) + (f" and {more:,} more" if more > 0 else "")


def _values(field: str, values: tuple[Declared, ...]) -> list[tuple[str, str]]:
    more = len(values) - _SHOWN_VALUES
    texts = [*map(str, values[:_SHOWN_VALUES]), *([f"and {more:,} more"] if more > 0 else [])]
    return [(field, text) for text in texts]
