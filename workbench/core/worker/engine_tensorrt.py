"""TensorRT as an engine, by its own Python package: built from the ONNX file, run on one stream."""

from __future__ import annotations

from typing import Any

import tensorrt
import torch  # allocates and copies: TensorRT's own package has no tensors


def versions() -> dict[str, str]:
    return {"tensorrt": tensorrt.__version__, "torch": torch.__version__}


def load(model: str, plan: dict[str, Any]) -> Engine:
    """Build an engine for the shapes of the feeds, which become its only profile."""
    precision = plan["engine"].get("precision") or "float32"
    engine = build(model, plan["shapes"], precision, plan["engine"].get("workspace_bytes"))
    return Engine(engine, list(plan["outputs"]), precision)


def build(file: str, shapes: dict[str, Any], precision: str, workspace_bytes: int | None) -> Any:
    """Return an engine of TensorRT for inputs of these shapes."""
    log = tensorrt.Logger(tensorrt.Logger.WARNING)
    builder = tensorrt.Builder(log)
    network = builder.create_network(0)
    parser = tensorrt.OnnxParser(network, log)
    if not parser.parse_from_file(file):
        raise RuntimeError("; ".join(str(parser.get_error(place)) for place in range(parser.num_errors)))
    settings = builder.create_builder_config()
    if precision == "float16":
        settings.set_flag(tensorrt.BuilderFlag.FP16)
    if precision != "tf32":
        settings.clear_flag(tensorrt.BuilderFlag.TF32)
    if workspace_bytes:
        settings.set_memory_pool_limit(tensorrt.MemoryPoolType.WORKSPACE, workspace_bytes)
    profile = builder.create_optimization_profile()
    for place in range(network.num_inputs):
        name = network.get_input(place).name
        profile.set_shape(name, shapes[name], shapes[name], shapes[name])
    settings.add_optimization_profile(profile)
    built = builder.build_serialized_network(network, settings)
    if built is None:
        raise RuntimeError("TensorRT could not build an engine; its log has the reason")
    return tensorrt.Runtime(log).deserialize_cuda_engine(built)


class Engine:
    """A built engine with one context and one stream."""

    threads = None

    def __init__(self, engine: Any, names: list[str], precision: str) -> None:
        self.names = names  # of the outputs
        self.runs_on = [f"TensorRT {precision}"]
        self._context = engine.create_execution_context()
        self._stream = torch.cuda.Stream()

    def call(self, feed: dict[str, Any]) -> Any:
        """Copy in, run, copy out: what a caller with arrays in the host's memory waits for."""
        context, stream = self._context, self._stream
        given = {name: torch.from_numpy(value.copy()).pin_memory() for name, value in feed.items()}
        on_gpu = {name: tensor.cuda() for name, tensor in given.items()}
        for name, tensor in on_gpu.items():
            context.set_input_shape(name, tuple(tensor.shape))
        results, host = {}, {}
        for name in self.names:
            shape, dtype = tuple(context.get_tensor_shape(name)), context.engine.get_tensor_dtype(name)
            results[name] = torch.empty(shape, dtype=torch_type(dtype), device="cuda")
            host[name] = torch.empty(shape, dtype=torch_type(dtype)).pin_memory()
        addresses = {name: tensor.data_ptr() for name, tensor in (on_gpu | results).items()}

        def run() -> Any:
            for name, address in addresses.items():  # the context serves other feeds too
                context.set_tensor_address(name, address)
            with torch.cuda.stream(stream):
                for name, tensor in given.items():
                    on_gpu[name].copy_(tensor, non_blocking=True)
                if not context.execute_async_v3(stream.cuda_stream):
                    raise RuntimeError("TensorRT refused to run")
                for name, tensor in results.items():
                    host[name].copy_(tensor, non_blocking=True)
            stream.synchronize()
            return host

        return run

    def arrays(self, result: Any) -> list[Any]:
        return [result[name].numpy().copy() for name in self.names]


def torch_type(dtype: Any) -> Any:
    """Return torch's type of a type of TensorRT."""
    names = {"FLOAT": torch.float32, "HALF": torch.float16, "INT32": torch.int32, "INT64": torch.int64}
    names |= {"BOOL": torch.bool, "INT8": torch.int8, "UINT8": torch.uint8, "BF16": torch.bfloat16}
    return names[dtype.name]
