"""Quantizing to int8 with `per_channel=True` below opset 13. Needs numpy, onnx, onnxruntime."""

import logging
import platform
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

CHANNELS = 8


class Reader(CalibrationDataReader):
    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.feeds = iter([{"x": rng.normal(size=(1, 3, 16, 16)).astype(np.float32)} for _ in range(8)])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.feeds, None)


def model(opset: int) -> onnx.ModelProto:
    """One convolution of eight channels."""
    weight = np.random.default_rng(0).normal(size=(CHANNELS, 3, 3, 3))
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv", pads=[1, 1, 1, 1])
    graph = helper.make_graph(
        [node],
        "conv",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, CHANNELS, 16, 16])],
        [numpy_helper.from_array(weight.astype(np.float32), "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)
    onnx.checker.check_model(made)
    return made


def outcome(opset: int, form: QuantFormat, per_channel: bool) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "source.onnx"), Path(folder, "int8.onnx")
        onnx.save(model(opset), source)
        try:
            quantize_static(source, target, Reader(), quant_format=form, per_channel=per_channel)
            ort.InferenceSession(target, providers=["CPUExecutionProvider"])
        except Exception as error:  # whatever a user would see
            return f"{type(error).__name__}: …{str(error).rpartition('Error ')[2]}"
    return "one scale for each channel, loads" if per_channel else "one scale for the tensor, loads"


def main() -> None:
    logging.getLogger().setLevel(logging.ERROR)
    print(f"onnxruntime {ort.__version__}, onnx {onnx.__version__}, Python {platform.python_version()}")
    for form in (QuantFormat.QDQ, QuantFormat.QOperator):
        for opset in (11, 12, 13):
            for per_channel in (False, True):
                case = f"{form.name:9} opset {opset} per_channel={per_channel!s:5}"
                print(f"{case}: {outcome(opset, form, per_channel)}")


if __name__ == "__main__":
    main()
