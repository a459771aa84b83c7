"""The rewrites by name, in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewrite: its function takes a model, changes it in place and returns how often it applied."""

    name: str
    function: str  # in this package
    help: str
    package: str = ""  # that does it, and has to be installed

    def load(self) -> Callable[[onnx.ModelProto], int]:
        """Import the function; the catalogue itself needs no onnx."""
        module, _, name = f"{__package__}.{self.function}".rpartition(".")
        function: Callable[[onnx.ModelProto], int] = getattr(import_module(module), name)
        return function


REWRITES = (
    Rewrite(
        "functions-inlined",
        "functions.inline_functions",
        "calls of functions that the file holds become the nodes of the functions",
    ),
    Rewrite(
        "weights-out-of-inputs",
        "constants.take_weights_out_of_inputs",
        "weights that are inputs of the graph become constants, which ORT folds and fuses",
    ),
    Rewrite(
        "constants-to-initializers",
        "constants.store_constants",
        "values of Constant nodes become initializers, which load faster and can be shared",
    ),
    Rewrite(
        "loop-to-product",
        "loops.unroll_loops",
        "a Loop whose steps take one row each and carry nothing becomes its body on all rows at once",
    ),
    Rewrite(
        "einsum-spelled-out",
        "products.spell_einsums_out",
        "Einsum of two tensors that is one product becomes MatMul with the transposes that it needs",
    ),
    Rewrite(
        "gelu-to-one-node",
        "activations.fuse_gelus",
        "the nodes of a GELU, with erf or tanh and in any order, become one Gelu or FastGelu",
    ),
    Rewrite(
        "layer-norm-to-one-node",
        "norms.fuse_layer_norms",
        "the nodes of a LayerNormalization over the last axis become one, from opset 17 on",
    ),
    Rewrite(
        "batch-norm-folded",
        "norms.fold_batch_norms",
        "batch normalization becomes part of the convolution before it, or of an unpadded one behind it",
    ),
    Rewrite(
        "power-spelled-out",
        "powers.spell_powers_out",
        "Pow with the constant exponent 0.5, -0.5, 1, -1 or 4 becomes Sqrt, Reciprocal, Identity or Mul",
    ),
    Rewrite(
        "conv1d-to-2d",
        "convolutions.widen_convolutions",
        "one-dimensional convolutions become two-dimensional ones of height 1, with a blocked layout",
    ),
    Rewrite(
        "reflect-pad-spelled-out",
        "reflections.spell_reflections_out",
        "a reflecting Pad becomes slices and a Concat, which providers that compile their parts take",
    ),
    Rewrite(
        "channels-padded",
        "channels.pad_channels",
        "channels between convolutions get zeros up to a multiple of 4, which the blocked layout needs",
    ),
    Rewrite(
        "logits-of-last-position",
        "products.keep_last_logits",
        "the last product is computed for the last position alone: the output gets one position",
    ),
    Rewrite(
        "cast-pairs-removed",
        "casts.remove_cast_pairs",
        "casts of floats to a wider float type and straight back, which change no value, are left out",
    ),
    Rewrite(
        "denormals-to-zero",
        "weights.set_denormals_to_zero",
        "denormal elements of float32 and float64 weights become 0",
    ),
    Rewrite(
        "duplicated-weights-shared",
        "weights.share_duplicated_weights",
        "weights of 1 KiB or more with the same bytes become one",
    ),
    Rewrite(
        "unused-weights-removed",
        "weights.remove_unused_weights",
        "weights that no node reads leave the file",
    ),
    Rewrite(
        "onnxslim",
        "optimizers.run_onnxslim",
        "the package onnxslim, if installed: folding, shape inference, fusions",
        "onnxslim",
    ),
    Rewrite(
        "onnxsim",
        "optimizers.run_onnxsim",
        "the package onnxsim, if installed: constants folded by running them, and fusions",
        "onnxsim",
    ),
    Rewrite(
        "onnxscript",
        "optimizers.run_onnxscript",
        "the package onnxscript, if installed: folding, inlining, rewrite rules",
        "onnxscript",
    ),
    Rewrite(
        "onnxoptimizer",
        "optimizers.run_onnxoptimizer",
        "the package onnxoptimizer, if installed: fusions and eliminations",
        "onnxoptimizer",
    ),
)
BY_NAME = {rewrite.name: rewrite for rewrite in REWRITES}


def rewrites_of(asked: tuple[str, ...], model: Any) -> tuple[str, ...]:
    """Return the rewrites asked for, after that of functions where an opened model has any.

    ORT saves functions that a body calls as an invalid file, and other tools leave them as they are.
    """
    calls = getattr(getattr(model, "structure", None), "functions", ())
    inlining = (REWRITES[0].name,) if calls else ()
    return tuple(dict.fromkeys((*inlining, *asked)))
