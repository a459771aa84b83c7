"""Job: apply rewrites of the model file that keep its results, in the order given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx

from workbench.rewrites.activations import fuse_gelus
from workbench.rewrites.casts import remove_cast_pairs
from workbench.rewrites.channels import pad_channels
from workbench.rewrites.constants import store_constants
from workbench.rewrites.convolutions import widen_convolutions
from workbench.rewrites.inputs import take_weights_out_of_inputs
from workbench.rewrites.loops import unroll_loops
from workbench.rewrites.norms import fold_batch_norms, fuse_layer_norms
from workbench.rewrites.powers import spell_powers_out
from workbench.rewrites.products import keep_last_logits, spell_einsums_out
from workbench.rewrites.reflections import spell_reflections_out
from workbench.rewrites.weights import remove_unused_weights, set_denormals_to_zero, share_duplicated_weights
from workbench.worker.preparing import files

FUNCTIONS: dict[str, Callable[[onnx.ModelProto], int]] = {
    "weights-out-of-inputs": take_weights_out_of_inputs,
    "constants-to-initializers": store_constants,
    "loop-to-product": unroll_loops,
    "einsum-spelled-out": spell_einsums_out,
    "gelu-to-one-node": fuse_gelus,
    "layer-norm-to-one-node": fuse_layer_norms,
    "batch-norm-folded": fold_batch_norms,
    "power-spelled-out": spell_powers_out,
    "conv1d-to-2d": widen_convolutions,
    "reflect-pad-spelled-out": spell_reflections_out,
    "channels-padded": pad_channels,
    "logits-of-last-position": keep_last_logits,
    "cast-pairs-removed": remove_cast_pairs,
    "denormals-to-zero": set_denormals_to_zero,
    "duplicated-weights-shared": share_duplicated_weights,
    "unused-weights-removed": remove_unused_weights,
}


def run(source: str, target: str, names: list[str]) -> dict[str, Any]:
    """Apply the rewrites; answer how often each rewrite applied."""
    model = files.load(source)
    applied = {name: FUNCTIONS[name](model) for name in names}
    files.save(model, target)
    del model
    _check(source, target)
    return files.answer(source, target, [], applied=applied)


def _check(source: str, target: str) -> None:
    """Refuse an invalid ONNX file made of a valid source."""
    try:
        onnx.checker.check_model(source)
    except (onnx.checker.ValidationError, ValueError, RuntimeError):
        return
    onnx.checker.check_model(target)
