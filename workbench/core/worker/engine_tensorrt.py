"""TensorRT as an engine, by its own Python package: built from the ONNX file, run on one stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tensorrt
import torch  # allocates and copies: TensorRT's own package has no tensors


def versions() -> dict[str, str]:
    return {"tensorrt": tensorrt.__version__, "torch": torch.__version__}


def load(model: str, plan: dict[str, Any]) -> Engine:
    """Build an engine for the shapes of the feeds, which become its only profile."""
    options = plan["engine"]
    log = tensorrt.Logger(tensorrt.Logger.WARNING)
    builder = tensorrt.Builder(log)
    network = builder.create_network(0)
    parser = tensorrt.OnnxParser(network, log)
    if not parser.parse_from_file(str(Path(model))):
        raise RuntimeError("; ".join(str(parser.get_error(place)) for place in range(parser.num_errors)))
    settings = builder.create_builder_config()
    precision = options.get("precision") or "float32"
    if precision == "float16":
        settings.set_flag(tensorrt.BuilderFlag.FP16)
    if precision != "tf32":
        settings.clear_flag(tensorrt.BuilderFlag.TF32)
    if options.get("workspace_bytes"):
        settings.set_memory_pool_limit(tensorrt.MemoryPoolType.WORKSPACE, options["workspace_bytes"])
    profile = builder.create_optimization_profile()
    for place in range(network.num_inputs):
        tensor = network.get_input(place)
        shape = plan["shapes"][tensor.name]
        profile.set_shape(tensor.name, shape, shape, shape)
    settings.add_optimization_profile(profile)
    built = builder.build_serialized_network(network, settings)
    if built is None:
        raise RuntimeError("TensorRT could not build an engine; its log has the reason")
    engine = tensorrt.Runtime(log).deserialize_cuda_engine(built)
    return Engine(engine, plan, precision)


class Engine:
    """A built engine with one context and one stream."""

    def __init__(self, engine: Any, plan: dict[str, Any], precision: str) -> None:
        self.names = list(plan["outputs"])
        self.runs_on = [f"TensorRT {precision}"]
        self.threads = None
        self._context = engine.create_execution_context()
        self._stream = torch.cuda.Stream()

    def call(self, feed: Mapping[str, Any]) -> Callable[[], Any]:
        """Copy in, run, copy out: what a caller with arrays in the host's memory waits for."""
        context, stream = self._context, self._stream
        given = {name: torch.from_numpy(value.copy()).pin_memory() for name, value in feed.items()}
        on_gpu = {name: tensor.cuda() for name, tensor in given.items()}
        for name, tensor in on_gpu.items():
            context.set_input_shape(name, tuple(tensor.shape))
        results, host = {}, {}
        for name in self.names:
            shape, dtype = tuple(context.get_tensor_shape(name)), context.engine.get_tensor_dtype(name)
            results[name] = torch.empty(shape, dtype=_torch_type(dtype), device="cuda")
            host[name] = torch.empty(shape, dtype=_torch_type(dtype)).pin_memory()
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


def _torch_type(dtype: Any) -> Any:
    names = {"FLOAT": torch.float32, "HALF": torch.float16, "INT32": torch.int32, "INT64": torch.int64}
    names |= {"BOOL": torch.bool, "INT8": torch.int8, "UINT8": torch.uint8, "BF16": torch.bfloat16}
    return names[dtype.name]
