"""The rewrites by name, in the order in which they are applied, and their source for a script."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

SHARED = ("graphs", "scopes", "wiring")  # the modules that the others import from
_OF_TYPES = ("from __future__ import annotations", "from typing import TYPE_CHECKING")  # no script needs them


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewrite: its function takes a model, changes it in place and returns how often it applied."""

    name: str
    module: str
    function: str
    help: str
    package: str = ""  # that does it, and has to be installed

    def load(self) -> Callable[[onnx.ModelProto], int]:
        """Import the function; the catalogue itself needs no onnx."""
        function: Callable[[onnx.ModelProto], int]
        function = getattr(import_module(f"workbench.core.rewrites.{self.module}"), self.function)
        return function


REWRITES = (
    Rewrite(
        "weights-out-of-inputs",
        "constants",
        "take_weights_out_of_inputs",
        "weights that are inputs of the graph become constants, which ORT folds and fuses",
    ),
    Rewrite(
        "constants-to-initializers",
        "constants",
        "store_constants",
        "values of Constant nodes become initializers, which load faster and can be shared",
    ),
    Rewrite(
        "loop-to-product",
        "loops",
        "unroll_loops",
        "a Loop whose steps take one row each and carry nothing becomes its body on all rows at once",
    ),
    Rewrite(
        "einsum-spelled-out",
        "products",
        "spell_einsums_out",
        "Einsum of two tensors that is one product becomes MatMul with the transposes that it needs",
    ),
    Rewrite(
        "gelu-to-one-node",
        "activations",
        "fuse_gelus",
        "the nodes of a GELU, with erf or tanh and in any order, become one Gelu or FastGelu",
    ),
    Rewrite(
        "layer-norm-to-one-node",
        "norms",
        "fuse_layer_norms",
        "the nodes of a LayerNormalization over the last axis become one, from opset 17 on",
    ),
    Rewrite(
        "batch-norm-folded",
        "norms",
        "fold_batch_norms",
        "batch normalization becomes part of the convolution before it, or of an unpadded one behind it",
    ),
    Rewrite(
        "power-spelled-out",
        "powers",
        "spell_powers_out",
        "Pow with the constant exponent 0.5, -0.5, 1, -1 or 4 becomes Sqrt, Reciprocal, Identity or Mul",
    ),
    Rewrite(
        "conv1d-to-2d",
        "convolutions",
        "widen_convolutions",
        "one-dimensional convolutions become two-dimensional ones of height 1, with a blocked layout",
    ),
    Rewrite(
        "reflect-pad-spelled-out",
        "reflections",
        "spell_reflections_out",
        "a reflecting Pad becomes slices and a Concat, which providers that compile their parts take",
    ),
    Rewrite(
        "channels-padded",
        "channels",
        "pad_channels",
        "channels between convolutions get zeros up to a multiple of 4, which the blocked layout needs",
    ),
    Rewrite(
        "logits-of-last-position",
        "products",
        "keep_last_logits",
        "the last product is computed for the last position alone: the output gets one position",
    ),
    Rewrite(
        "cast-pairs-removed",
        "casts",
        "remove_cast_pairs",
        "casts of floats to a wider float type and straight back, which change no value, are left out",
    ),
    Rewrite(
        "denormals-to-zero",
        "weights",
        "set_denormals_to_zero",
        "denormal elements of float32 and float64 weights become 0",
    ),
    Rewrite(
        "duplicated-weights-shared",
        "weights",
        "share_duplicated_weights",
        "weights of 1 KiB or more with the same bytes become one",
    ),
    Rewrite(
        "unused-weights-removed",
        "weights",
        "remove_unused_weights",
        "weights that no node reads leave the file",
    ),
    Rewrite(
        "onnxslim",
        "optimizers",
        "run_onnxslim",
        "the package onnxslim, if installed: folding, shape inference, fusions",
        "onnxslim",
    ),
    Rewrite(
        "onnxsim",
        "optimizers",
        "run_onnxsim",
        "the package onnxsim, if installed: constants folded by running them, and fusions",
        "onnxsim",
    ),
    Rewrite(
        "onnxscript",
        "optimizers",
        "run_onnxscript",
        "the package onnxscript, if installed: folding, inlining, rewrite rules",
        "onnxscript",
    ),
    Rewrite(
        "onnxoptimizer",
        "optimizers",
        "run_onnxoptimizer",
        "the package onnxoptimizer, if installed: fusions and eliminations",
        "onnxoptimizer",
    ),
)
BY_NAME = {rewrite.name: rewrite for rewrite in REWRITES}


def script_of(names: tuple[str, ...], path: str) -> tuple[str, str]:
    """Return the imports and the code that loads the model at a path and rewrites it, for a script."""
    imported, code = source_of(names)
    functions = "".join(f"\n    {BY_NAME[name].function}," for name in names)
    loop = f"for rewrite in ({functions}\n):\n"
    loop += '    print(rewrite.__name__, "applied", rewrite(model), "times")\n'
    return imported, f"{code}\n\n\nmodel = onnx.load({path!r})\n{loop}"


def source_of(names: Iterable[str]) -> tuple[str, str]:
    """Return the imports and the code that defines the functions of some rewrites."""
    modules = dict.fromkeys([*SHARED, *(BY_NAME[name].module for name in names)])
    imports, blocks = dict[str, None](), []
    for module in modules:
        text = Path(__file__).with_name(f"{module}.py").read_text("utf-8")
        imported, block = _split(text)
        imports |= dict.fromkeys(imported)
        blocks.append(block)
    return "\n".join(imports), "\n\n\n".join(blocks)


def _split(text: str) -> tuple[list[str], str]:
    """Return the imports of a module, but those of this package and of types, and what follows them."""
    heads = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom | ast.If)]
    last = max((node.end_lineno or 0 for node in heads), default=0)
    imports = [node for node in heads if not isinstance(node, ast.If)]
    foreign = [node for node in imports if not (isinstance(node, ast.ImportFrom) and _is_ours(node.module))]
    texts = [line for node in foreign if (line := ast.unparse(node)) not in _OF_TYPES]
    return texts, "\n".join(text.splitlines()[last:]).strip()


def _is_ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] == __name__.partition(".")[0]
