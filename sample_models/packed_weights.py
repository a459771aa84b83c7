"""Trained models in little space: each weight is a whole number of steps, and all are compressed together.

A packed file is an xz stream. It holds the ONNX graph, in which a note stands for each large weight, then the
high bytes of all weights, then their low bytes: bytes of one kind compress best side by side.
"""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import TYPE_CHECKING

from sample_models import TRAINED

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from numpy.typing import NDArray

STEPS = 32  # in a standard deviation of a tensor's weights; a step is the nearest power of two
PARENTS = {"digits-conv-qat": "digits-conv"}  # trained further: what that changed is packed
PACKED_LOCATION = "steps"  # in place of a file name in external_data
_KEEP_BYTES = 1024  # smaller tensors stay unchanged: biases, norms, scales
_BIAS = 128  # the high byte of nearly all weights is 0
_HEADER_BYTES = 4
_FILTERS = [
    {"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "lp": 0, "pb": 0}
]  # bytes tell nothing of the next


def packed_path(name: str) -> Path:
    """Return the packed file of a trained sample."""
    return TRAINED / f"{name}.onnx.xz"


def load_trained(name: str) -> onnx.ModelProto:
    """Return a trained sample with its weights."""
    return unpack(name, packed_path(name).read_bytes())


def write_trained(packed: bytes, model_path: Path, /, **_: object) -> tuple[Path]:
    """Write the model of a packed file; the file's name is the sample's. Return the path."""
    model_path.write_bytes(unpack(model_path.stem, packed).SerializeToString(deterministic=True))
    return (model_path,)


def pack(name: str, model: onnx.ModelProto) -> bytes:
    """Return the packed file of a trained model; `model` is modified.

    Float weights are rounded to whole steps, so the sample that everybody loads is the one of `unpack`. The
    three float samples take 0.9 MB instead of 4.2. Both nets of digits read all of 360 held-out digits as
    without rounding; char-gpt expects another character at about 20 of 2,240 places, and is right at 6 more.
    Integer weights stay as they are: their difference to the parent's weights at their scales is packed.
    """
    import numpy as np
    from onnx import TensorProto, numpy_helper

    parent = _parent(name)
    rows = []
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype not in (np.float32, np.int8) or array.nbytes <= _KEEP_BYTES:
            continue
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=PACKED_LOCATION)
        if array.dtype == np.float32:
            exponent = round(np.log2(float(array.std()) / STEPS))
            tensor.external_data.add(key="exponent", value=str(exponent))
            rows.append(np.rint(np.ldexp(array.astype(np.float64), -exponent)).astype(np.int64).ravel())
        else:
            rows.append((array.astype(np.int64) - _expected(tensor, model, parent)).ravel())
    graph = model.SerializeToString(deterministic=True)
    header = len(graph).to_bytes(_HEADER_BYTES, "little")
    return lzma.compress(header + graph + _planes(np.concatenate(rows)), lzma.FORMAT_XZ, filters=_FILTERS)


def unpack(name: str, packed: bytes) -> onnx.ModelProto:
    """Return the model in the packed file of the sample `name`."""
    import numpy as np
    import onnx

    blob = lzma.decompress(packed)
    start = _HEADER_BYTES + int.from_bytes(blob[:_HEADER_BYTES], "little")
    model = onnx.ModelProto()
    model.ParseFromString(blob[_HEADER_BYTES:start])
    weights, parent = _from_planes(blob[start:]), _parent(name)
    for tensor in model.graph.initializer:
        notes = {entry.key: entry.value for entry in tensor.external_data}
        if notes.get("location") != PACKED_LOCATION:
            continue
        row, weights = np.split(weights, [np.prod(tensor.dims, dtype=int)])
        row = row.reshape(tuple(tensor.dims))
        if "exponent" in notes:
            array = np.ldexp(row.astype(np.float64), int(notes["exponent"])).astype("<f4")
        else:
            array = (row + _expected(tensor, model, parent)).astype(np.int8)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        tensor.raw_data = array.tobytes()
    return model


def _parent(name: str) -> onnx.ModelProto | None:
    return load_trained(PARENTS[name]) if name in PARENTS else None


def _expected(
    tensor: onnx.TensorProto, model: onnx.ModelProto, parent: onnx.ModelProto | None
) -> NDArray[np.int64] | int:
    """Return the integers that the parent's weights of this shape give at the scales of `tensor`."""
    import numpy as np
    from onnx import numpy_helper

    if parent is None:
        return 0
    (source,) = (other for other in parent.graph.initializer if other.dims == tensor.dims)
    scale_name = f"{tensor.name.removesuffix('_quantized')}_scale"
    (scale,) = (other for other in model.graph.initializer if other.name == scale_name)
    scales = numpy_helper.to_array(scale).reshape(-1, *(1 for _ in tensor.dims[1:]))
    steps: NDArray[np.int64] = np.rint(numpy_helper.to_array(source) / scales).astype(np.int64)
    return steps


def _planes(weights: NDArray[np.int64]) -> bytes:
    """Return the high bytes of all weights, then their low bytes."""
    import numpy as np

    shifted = weights + _BIAS
    high, low = (shifted >> 8).astype(np.int8), (shifted & 255).astype(np.uint8)
    blob = high.tobytes() + low.tobytes()
    if not np.array_equal(_from_planes(blob), weights):
        raise ValueError("a weight takes more than 16 bits: its tensor has one far from the others")
    return blob


def _from_planes(blob: bytes) -> NDArray[np.int64]:
    import numpy as np

    high, low = np.frombuffer(blob, np.int8, len(blob) // 2), np.frombuffer(blob, np.uint8)[len(blob) // 2 :]
    return high.astype(np.int64) * 256 + low - _BIAS
