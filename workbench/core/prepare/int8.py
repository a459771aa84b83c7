"""The steps that quantize weights and activations to integers, and the form that suits a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from workbench.core.config import DynamicInt8, StaticInt8, WeightOnly, defaults
from workbench.core.config.defaults import family
from workbench.core.config.quantization import ACCURACY_LEVELS
from workbench.core.errors import PrepareError
from workbench.core.models.model import Model
from workbench.core.prepare.calibration import RANDOM_NOTE, Spooled
from workbench.core.prepare.nodes import appeared, in_words, nodes_before_and_after, resolve
from workbench.core.prepare.step import RANGES, Answer, Step, Summary
from workbench.core.text import listed

CONVOLUTIONS = ("Conv", "ConvTranspose")
PRODUCTS = ("MatMul", "Gemm", "Attention", "MultiHeadAttention", "LSTM", "GRU", "RNN")
# Dynamic int8 makes a ConvInteger of each Conv, which is many times slower than float32. The patch embedding
# of a vision transformer and the first layers of a speech model are below this share, a ConvNeXt is above.
LEAST_CONVOLUTIONS = 0.1
PER_CHANNEL_OPSET = 13  # the first one whose DequantizeLinear takes a scale for each channel
_BODIES = "leave precision out, or export the model without If, Loop and Scan: only the branch that is used"


def suited_int8(model: Model) -> StaticInt8 | DynamicInt8:
    """Return static int8 for convolutional nets, dynamic int8 with Convs in float for transformers."""
    counts = dict(model.describe().operators)
    convolutions = sum(counts.get(name, 0) for name in CONVOLUTIONS)
    products = sum(counts.get(name, 0) for name in PRODUCTS)
    if convolutions > LEAST_CONVOLUTIONS * (convolutions + products):
        return StaticInt8()
    return DynamicInt8(op_types=("Gemm", "LSTM", "MatMul")) if convolutions else DynamicInt8()


def preprocessing() -> Step:
    """Return the step that must precede every quantizer of ORT."""
    return _simplifying("pre-processing", "preparing.preprocess", "inferred shapes and folded constants")


def folding() -> Step:
    """Return the step that folds constants and keeps MatMul, for weight-only quantization."""
    return _simplifying("folding", "preparing.folding", "folded constants")


def _simplifying(name: str, job: str, did: str) -> Step:
    def summarize(answer: Answer) -> Summary:
        return f"{did}: {nodes_before_and_after(answer)}", ()

    return Step(name, job, lambda _: {}, summarize, generation=5)


def dynamic_int8(asked: DynamicInt8, original: Model) -> Step:
    """Return the step that quantizes weights of matrix products and convolutions."""
    settled, reason = defaults.dynamic_int8(asked, family())
    gone: list[str] = []

    def arguments(model: Model) -> dict[str, Any]:
        fields = ("weight", "per_channel", "reduce_range", "op_types")
        return _arguments(settled, fields, model, original, gone)

    def summarize(answer: Answer) -> Summary:
        made = _made(answer, "there is no MatMul, Gemm, Conv, LSTM or Gather with constant weights left")
        notes: tuple[str, ...] = ()
        if "ConvInteger" in made:
            count = made["ConvInteger"]
            notes = (
                f"{count} convolution{'s' * (count > 1)} became ConvInteger, which is slower than float32 on "
                "most processors: StaticInt8 is for convolutions",
            )
        return f"{in_words(made)}; {_weights(settled)}{_since(reason)}", (
            *notes, *_in_float(answer), *_folded(gone),
        )  # fmt: skip

    return Step("dynamic int8", "preparing.dynamic", arguments, summarize, generation=4)


def per_channel_opset(examples: Spooled) -> Step:
    """Return the step that converts a file to the first opset with a scale for each channel."""

    def summarize(answer: Answer) -> Summary:
        if answer["problem"]:
            return f"opset {answer['opset']} stays", (f"it cannot be converted: {answer['problem']}",)
        why = "which has a scale for each channel; the same outputs on an example"
        return f"opset {answer['opset']} became {PER_CHANNEL_OPSET}, {why}", ()

    return Step(
        "opset",
        "preparing.opset",
        lambda _: {},
        summarize,
        data={"examples": str(examples.folder)},
        depends_on=(examples.record.sha256,),
    )


def needs_opset(asked: StaticInt8, original: Model) -> bool:
    """Return whether the file's opset lacks a scale for each channel, which this quantization writes."""
    from workbench.core.rewrites.scopes import opset_of

    settled = defaults.static_int8(asked, family())[0]
    old = opset_of(original.structure) < PER_CHANNEL_OPSET
    return bool(old and settled.per_channel and settled.format == "qdq")


def calibration(asked: StaticInt8, examples: Spooled) -> Step:
    """Return the step that measures the ranges of all activations, shared by variants of static int8."""
    record = examples.record

    def summarize(answer: Answer) -> Summary:
        sentence = f"measured the ranges of {answer['tensors']} tensors on {record.count} examples"
        return f"{sentence} ({record.source})", () if record.representative else (RANDOM_NOTE,)

    return Step(
        "calibration",
        "preparing.calibrate",
        lambda _: {"calibrator": asked.calibrator, "percentile": asked.percentile},
        summarize,
        product=RANGES,
        data={"examples": str(examples.folder)},
        depends_on=(record.sha256, str(record.count)),
        generation=3,
    )


def static_int8(asked: StaticInt8, original: Model) -> Step:
    """Return the step that quantizes weights and activations."""
    settled, reason = defaults.static_int8(asked, family())
    gone: list[str] = []
    notes: tuple[str, ...] = ()
    if settled.calibrator == "distribution":
        notes = ("ORT's distribution calibrator is made for 8-bit floats: its ranges cut integers short",)

    def arguments(model: Model) -> dict[str, Any]:
        fields = ("format", "activation", "weight", "per_channel", "reduce_range", "calibrator", "op_types")
        return _arguments(settled, fields, model, original, gone)

    def summarize(answer: Answer) -> Summary:
        made = _made(answer, "there is no operator left that ORT quantizes")
        used = replace(settled, per_channel=answer["settled"].get("per_channel", settled.per_channel))
        chosen = f"{settled.activation} activations, {_weights(used)}{_since(reason)}"
        changes = "".join(f"; {change}" for change in answer["changes"])
        return f"{in_words(made)}; {chosen}{changes}", (
            *notes, *answer["changes"], *_in_float(answer), *_folded(gone),
        )  # fmt: skip

    return Step("static int8", "preparing.static", arguments, summarize, needs=(RANGES,), generation=6)


def weight_only(asked: WeightOnly, original: Model) -> Step:
    """Return the step that quantizes the constant weights of matrix products in blocks."""
    gone: list[str] = []

    def arguments(model: Model) -> dict[str, Any]:
        level = ACCURACY_LEVELS[asked.accuracy_level]
        settings = {"accuracy_level": level, "is_symmetric": asked.symmetric}
        return {**_arguments(asked, ("bits", "block", "algorithm"), model, original, gone), **settings}

    def summarize(answer: Answer) -> Summary:
        why = "there is no MatMul or Gemm with constant weights: weight-only quantization takes no other"
        made = _made(answer, why)
        how = "" if asked.algorithm == "rounding" else f" by {asked.algorithm}"
        return f"{in_words(made)}; {asked.bits} bits{how}, blocks of {asked.block}", _folded(gone)

    return Step("weight-only", "preparing.weights", arguments, summarize, generation=3)


def _arguments(
    asked: DynamicInt8 | StaticInt8 | WeightOnly,
    fields: tuple[str, ...],
    model: Model,
    original: Model,
    gone: list[str],
) -> dict[str, Any]:
    """Return these fields of a precision for a job, and the names of the excluded nodes in its file.

    `gone` gets the excluded nodes that are no longer there.
    """
    values = {name: getattr(asked, name) for name in fields}
    arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    excluded = resolve(asked.exclude, model, original)
    gone[:] = [name for name, nodes in excluded.items() if not nodes]
    return {**arguments, "exclude": sorted({node for nodes in excluded.values() for node in nodes})}


def _folded(gone: list[str]) -> tuple[str, ...]:
    """Return a note on excluded nodes that pre-processing folded away."""
    if not gone:
        return ()
    return (f"not left in float by name: pre-processing folded {listed(gone, 3)} into others or away",)


def _made(answer: Answer, why: str) -> dict[str, int]:
    """Return the number of integer operators by type; refuse a result without any, for this reason."""
    made = appeared(answer)
    if not made and answer.get("bodies"):
        raise PrepareError(
            f"no node became integer: {_bodies(answer)}, which ORT's quantizer leaves in float", _BODIES
        )
    if not made:
        raise PrepareError(
            f"no node became integer: {why}", "leave precision out for this model, or choose another one"
        )
    return made


def _in_float(answer: Answer) -> tuple[str, ...]:
    """Return a note on the costly operators that stay in float in bodies, if any do."""
    return (f"in float: {_bodies(answer)}",) if answer["bodies"] else ()


def _bodies(answer: Answer) -> str:
    inside = Counter[str]()
    for counts in answer["bodies"].values():
        inside.update(counts)
    return f"{in_words(inside)} in the bodies of {listed(answer['bodies'], 3)}"


def _weights(settled: DynamicInt8 | StaticInt8) -> str:
    bits = " of 7 bits" if settled.reduce_range else ""
    scale = "a scale for each channel" if settled.per_channel else "one scale for each tensor"
    return f"{settled.weight} weights{bits} with {scale}"


def _since(reason: str) -> str:
    return f", since {reason}" if reason else ""
