"""Options that no provider knows, given to providers. Needs numpy, onnx, onnxruntime.

With a plugin, such as `pip install nxrt-ep-cpu` (x86-64 Linux), that one is asked, too.
"""

import importlib
import platform
from importlib import metadata

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

OPTIONS = {"no_such_option": "1", "intra_op_num_treads": "banana"}
PLUGIN = "nxrt_ep_cpu"


def model() -> bytes:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "x"], ["y"])], "g", values[:1], values[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made.SerializeToString()


def outcome(provider: str) -> str:
    try:
        session = ort.InferenceSession(model(), providers=[(provider, OPTIONS)])
        session.run(None, {"x": np.eye(2, dtype=np.float32)})
    except Exception as error:  # whatever a user would see
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    told = session.get_provider_options()[provider]
    return f"accepted and run on {session.get_providers()[0]}; it says of its options {told}"


def main() -> None:
    print(f"onnxruntime {ort.__version__}, Python {platform.python_version()}; options {OPTIONS}")
    print(f"CPUExecutionProvider: {outcome('CPUExecutionProvider')}")
    try:
        package = importlib.import_module(PLUGIN)
    except ImportError:
        print(f"{PLUGIN} is not installed")
        return
    ort.register_execution_provider_library("plugin", package.get_library_path())
    name = next(device.ep_name for device in ort.get_ep_devices() if device.ep_name != "CPUExecutionProvider")
    print(f"{name} of {PLUGIN} {metadata.version(PLUGIN.replace('_', '-'))}: {outcome(name)}")


if __name__ == "__main__":
    main()
