"""Optimizers of other people, each a package of its own: they take a model and give another one."""

import onnx


def run_onnxslim(model: onnx.ModelProto) -> int:
    """Optimize with onnxslim."""
    import onnxslim

    return _put(model, onnxslim.slim(_copy_of(model)))


def run_onnxsim(model: onnx.ModelProto) -> int:
    """Optimize with onnxsim, whose own check is of outputs on random inputs."""
    import onnxsim

    return _put(model, onnxsim.simplify(_copy_of(model))[0])


def run_onnxscript(model: onnx.ModelProto) -> int:
    """Optimize with onnxscript."""
    import onnxscript.optimizer

    return _put(model, onnxscript.optimizer.optimize(_copy_of(model)))


def run_onnxoptimizer(model: onnx.ModelProto) -> int:
    """Optimize with onnxoptimizer."""
    import onnxoptimizer

    return _put(model, onnxoptimizer.optimize(_copy_of(model)))


def _copy_of(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _put(model: onnx.ModelProto, changed: onnx.ModelProto) -> int:
    """Let the model be the changed one; return whether its graph is another."""
    is_other = model.graph != changed.graph
    model.CopyFrom(changed)
    return int(is_other)
