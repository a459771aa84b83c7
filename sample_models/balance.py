"""Balance of the signal's size through a deep chain of convolutions.

Redrawn weights make a layer's output a little larger or smaller than the original weights did. Without a
norm in between (exporters fold batch norms) the differences multiply: EfficientNet-B4's signal grew ten
thousandfold. One pass over the nodes therefore sets each convolution's scale so that the output is as large
as in the original.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sample_models.skeleton import recipe_of, write_recipe

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from numpy.typing import NDArray

    Values = dict[str, NDArray[np.generic]]

_TRIES = 4  # the bias does not scale, so the first correction is not exact


def balance(skeleton: onnx.ModelProto, original: Path, feeds: Mapping[str, Any]) -> None:
    """Correct the recipes of `skeleton`, so that convolution outputs are as large as in `original`."""
    weights = {tensor.name: tensor for tensor in skeleton.graph.initializer if recipe_of(tensor) is not None}
    layers = {
        node.output[0]: weights[node.input[1]]
        for node in skeleton.graph.node
        if node.op_type == "Conv" and node.input[1] in weights
    }
    if not layers:
        return
    wanted = _sizes(original, sorted(layers), feeds)
    values = _initial(skeleton, feeds)
    left = Counter(name for node in skeleton.graph.node for name in node.input)
    left.update(output.name for output in skeleton.graph.output)
    for node in skeleton.graph.node:
        outputs = _run(node, values, skeleton)
        target = wanted.get(node.output[0])
        for _ in range(_TRIES if target is not None else 0):
            assert target is not None
            factor = target / _size(outputs[node.output[0]])
            values[node.input[1]] = _scale(layers[node.output[0]], factor)
            outputs = _run(node, values, skeleton)
        values.update(outputs)
        for name in node.input:
            left[name] -= 1
            if left[name] == 0:
                values.pop(name, None)


def _scale(tensor: onnx.TensorProto, factor: float) -> NDArray[np.generic]:
    """Multiply a recipe's scale; return the new weights."""
    recipe = recipe_of(tensor)
    assert recipe is not None
    recipe = replace(recipe, scale=float(f"{recipe.scale * factor:.6g}"))
    write_recipe(tensor, recipe)
    return recipe.array()


def _initial(skeleton: onnx.ModelProto, feeds: Mapping[str, Any]) -> Values:
    from onnx import numpy_helper

    values: Values = dict(feeds)
    for tensor in skeleton.graph.initializer:
        recipe = recipe_of(tensor)
        values[tensor.name] = numpy_helper.to_array(tensor) if recipe is None else recipe.array()
    return values


def _run(node: onnx.NodeProto, values: Values, model: onnx.ModelProto) -> Values:
    """Run one node by itself in ORT."""
    import onnx

    inputs = sorted({name for name in node.input if name})
    outputs = [name for name in node.output if name]
    graph = onnx.helper.make_graph(
        [node],
        "node",
        [_declared(name, values[name]) for name in inputs],
        [onnx.helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    alone = onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    session = _session(alone.SerializeToString())
    return dict(zip(outputs, session.run(outputs, {name: values[name] for name in inputs}), strict=True))


def _declared(name: str, value: NDArray[np.generic]) -> onnx.ValueInfoProto:
    import onnx

    return onnx.helper.make_tensor_value_info(
        name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
    )


def _sizes(path: Path, tensors: list[str], feeds: Mapping[str, Any]) -> dict[str, float]:
    """Return the root mean squares of the named tensors of a model, without optimization."""
    import onnx

    model = onnx.load(str(path))
    present = {output.name for output in model.graph.output}
    model.graph.output.extend(
        onnx.helper.make_empty_tensor_value_info(name) for name in tensors if name not in present
    )
    session = _session(model.SerializeToString())
    return {
        name: _size(value) for name, value in zip(tensors, session.run(tensors, dict(feeds)), strict=True)
    }


def _session(model: bytes) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _size(values: NDArray[Any]) -> float:
    import numpy as np

    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))
