"""Skeletons: exported ONNX graphs with recipes in place of large float weights.

Everything else stays: nodes, names, attributes, types, shapes, integers, scalars, masks. A recipe replaces
the location of external data, so a skeleton is still a readable ONNX file.
"""

from __future__ import annotations

import lzma
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from sample_models.recipe import DTYPES, Recipe, recipe_for

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from numpy.typing import NDArray

_KEEP_BYTES = 1024  # smaller tensors stay unchanged: shapes, scalars, small tables
FEW_VALUES = 16  # a large float tensor with so few distinct values is a mask, not a weight
RECIPE_LOCATION = "recipe"  # in place of a file name in external_data
KEPT_METADATA = ("namespace", "pkg.torch.onnx.class_hierarchy", "pkg.torch.onnx.name_scopes")


def strip(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the skeleton of a model with loaded weights; the model is modified in place.

    Documentation strings and stack traces are dropped, since they contain paths of the exporting machine.
    """
    from onnx import numpy_helper

    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if not _is_weight(array):
            continue
        # The seed is derived from the content, so that equal tensors stay equal.
        recipe = recipe_for(array, seed=zlib.crc32(array.tobytes()))
        for field in ("raw_data", "float_data", "double_data", "int32_data"):
            tensor.ClearField(field)
        write_recipe(tensor, recipe)
    _drop_traces(model)
    return model


def recipe_of(tensor: onnx.TensorProto) -> Recipe | None:
    """Return the recipe in a skeleton's initializer, or None for a kept tensor."""
    import onnx

    entries = {entry.key: entry.value for entry in tensor.external_data}
    if tensor.data_location != onnx.TensorProto.EXTERNAL or entries.get("location") != RECIPE_LOCATION:
        return None
    kind = entries["kind"]
    if kind not in ("normal", "uniform", "constant"):
        raise ValueError(f"{tensor.name}: no recipe of kind {kind!r}; normal, uniform and constant exist")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).name
    centre, scale = float(entries["centre"]), float(entries["scale"])
    return Recipe(kind, dtype, tuple(tensor.dims), centre, scale, int(entries["seed"]))


def write_recipe(tensor: onnx.TensorProto, recipe: Recipe) -> None:
    """Replace a tensor's values by a recipe."""
    import onnx

    tensor.ClearField("external_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entries = {
        "location": RECIPE_LOCATION,
        "kind": recipe.kind,
        "centre": repr(recipe.centre),
        "scale": repr(recipe.scale),
        "seed": str(recipe.seed),
    }
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


def save_skeleton(model: onnx.ModelProto, path: Path) -> None:
    """Write a stripped model, compressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        lzma.compress(model.SerializeToString(deterministic=True), preset=9 | lzma.PRESET_EXTREME)
    )


def load_skeleton(packed: bytes) -> onnx.ModelProto:
    """Read a skeleton from a file of `save_skeleton`."""
    import onnx

    model = onnx.ModelProto()
    model.ParseFromString(lzma.decompress(packed))
    return model


def _is_weight(array: NDArray[np.generic]) -> bool:
    import numpy as np

    if array.dtype.name not in DTYPES or array.nbytes <= _KEEP_BYTES:
        return False
    if not np.isfinite(array).all():
        return False
    distinct = len(np.unique(array))
    return distinct == 1 or distinct > FEW_VALUES


def _drop_traces(model: onnx.ModelProto) -> None:
    from onnx import AttributeProto

    model.ClearField("doc_string")
    graphs = [model.graph]
    while graphs:
        graph = graphs.pop()
        graph.ClearField("doc_string")
        _keep_scopes(graph)
        for item in (*graph.initializer, *graph.value_info, *graph.input, *graph.output):
            item.ClearField("doc_string")
            _keep_scopes(item)
        for node in graph.node:
            node.ClearField("doc_string")
            _keep_scopes(node)
            for attribute in node.attribute:
                attribute.ClearField("doc_string")
                if attribute.type == AttributeProto.GRAPH:
                    graphs.append(attribute.g)


def _keep_scopes(item: onnx.GraphProto | onnx.NodeProto | onnx.ValueInfoProto | onnx.TensorProto) -> None:
    """Keep only the exporter's notes that name modules."""
    kept = [(entry.key, entry.value) for entry in item.metadata_props if entry.key in KEPT_METADATA]
    item.ClearField("metadata_props")
    for key, value in kept:
        item.metadata_props.add(key=key, value=value)
