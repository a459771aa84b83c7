"""Print the config of another engine as a plain script of that engine, for use without the workbench."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.core.config.engines import EnginePart, GenAi, OpenVino, PyTorch

_OPENVINO = '''core = openvino.Core()
compiled = core.compile_model(core.read_model(%(file)r), %(device)r, %(settings)r)
request = compiled.create_infer_request()
for port in compiled.inputs:
    print("input:", port.get_any_name(), port.get_element_type(), port.get_partial_shape())


def run(feeds):
    """One inference; `feeds` maps input names to arrays, the result is a list of arrays."""
    result = request.infer(feeds, share_inputs=True)
    return [result[port].copy() for port in compiled.outputs]'''
_FACTORY_FILE = """spec = importlib.util.spec_from_file_location(%(name)r, %(place)r)
source = importlib.util.module_from_spec(spec)
sys.modules[%(name)r] = source
spec.loader.exec_module(source)"""
_TORCH = '''module = getattr(source, %(function)r)(%(arguments)s).eval().to(%(device)r)
%(compiled)sgraph = onnx.load(%(file)r, load_external_data=False).graph
weights = {tensor.name for tensor in graph.initializer}
names = [value.name for value in graph.input if value.name not in weights]
print("inputs, in the order of the module's arguments:", names)


def tensors(result):
    """Return the tensors of a result in their order: of a tuple, a dict, or a result of transformers."""
    if isinstance(result, torch.Tensor):
        return [result]
    parts = result.values() if hasattr(result, "values") else result or ()
    return [tensor for part in parts for tensor in tensors(part)]


def run(feeds):
    """One inference; `feeds` maps input names to arrays, the result is a list of arrays."""
    with torch.inference_mode():
        result = module(*(torch.from_numpy(feeds[name]).to(%(device)r) for name in names))
    return [tensor.cpu().numpy() for tensor in tensors(result)]'''
_TENSORRT = '''log = tensorrt.Logger(tensorrt.Logger.WARNING)
contexts = {}  # by the shapes of the inputs, which an engine is built for
stream = torch.cuda.Stream()


def build(shapes):
    """Return a context of an engine that is built for these shapes."""
    builder = tensorrt.Builder(log)
    network = builder.create_network(0)
    parser = tensorrt.OnnxParser(network, log)
    if not parser.parse_from_file(%(file)r):
        raise RuntimeError("; ".join(str(parser.get_error(place)) for place in range(parser.num_errors)))
    settings = builder.create_builder_config()
%(settings)s    profile = builder.create_optimization_profile()
    for name, shape in shapes:
        profile.set_shape(name, shape, shape, shape)
    settings.add_optimization_profile(profile)
    built = builder.build_serialized_network(network, settings)
    return tensorrt.Runtime(log).deserialize_cuda_engine(built).create_execution_context()


def run(feeds):
    """One inference; `feeds` maps input names to arrays, the result is a list of arrays."""
    shapes = tuple((name, tuple(array.shape)) for name, array in feeds.items())
    if shapes not in contexts:
        contexts[shapes] = build(shapes)
    context = contexts[shapes]
    tensors = {name: torch.from_numpy(array).cuda() for name, array in feeds.items()}
    for name, tensor in tensors.items():
        context.set_input_shape(name, tuple(tensor.shape))
    engine = context.engine
    names = map(engine.get_tensor_name, range(engine.num_io_tensors))
    outputs = [name for name in names if name not in feeds]
    for name in outputs:
        dtype = getattr(torch, DTYPES[engine.get_tensor_dtype(name).name])
        tensors[name] = torch.empty(tuple(context.get_tensor_shape(name)), dtype=dtype, device="cuda")
    for name, tensor in tensors.items():
        context.set_tensor_address(name, tensor.data_ptr())
    torch.cuda.synchronize()
    if not context.execute_async_v3(stream.cuda_stream):
        raise RuntimeError("TensorRT refused to run")
    stream.synchronize()
    return [tensors[name].cpu().numpy() for name in outputs]'''
_GENAI = '''config = onnxruntime_genai.Config(%(folder)r)
config.overlay(json.dumps({"model": {"decoder": {"session_options": %(options)r}}}))
model = onnxruntime_genai.Model(config)


def decode(tokens, count):
    """Return `tokens` with `count` more, the most likely one at each step."""
    params = onnxruntime_genai.GeneratorParams(model)
    params.set_search_options(max_length=len(tokens) + count, do_sample=False)
    generator = onnxruntime_genai.Generator(model, params)
    generator.append_tokens(np.array([tokens], np.int32))
    while len(generator.get_sequence(0)) < len(tokens) + count and not generator.is_done():
        generator.generate_next_token()
    return generator.get_sequence(0).tolist()'''
TENSORRT_TYPES = {  # TensorRT's name of a type: torch's
    "FLOAT": "float32",
    "HALF": "float16",
    "BF16": "bfloat16",
    "INT64": "int64",
    "INT32": "int32",
    "INT8": "int8",
    "UINT8": "uint8",
    "BOOL": "bool",
}
_OPENVINO_TYPES = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}


def openvino_settings(engine: OpenVino, threads: int | None) -> dict[str, Any]:
    """Return what OpenVINO compiles the model with."""
    settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": _OPENVINO_TYPES[engine.precision or "float32"]}
    if engine.hint:
        settings["PERFORMANCE_HINT"] = engine.hint.upper()
    if threads:
        settings["INFERENCE_NUM_THREADS"] = threads
    return settings


def engine_script(
    engine: EnginePart,
    threads: int | None,
    model: str | os.PathLike[str],
    runtime: str | None = None,
    *,
    before: Iterable[str] = (),
    sample: str | None = None,
) -> str:
    """Return Python that loads the model in the engine and defines `run(feeds)`.

    `before` is code that makes the file which is loaded; `sample` names the architecture that PyTorch builds
    where the config names no factory. Every name and text is written as a literal.
    """
    file = os.fspath(model)
    if isinstance(engine, OpenVino):
        settings = openvino_settings(engine, threads)
        imports = "import openvino"
        body = _OPENVINO % {"file": file, "device": engine.device or "CPU", "settings": settings}
    elif isinstance(engine, GenAi):
        imports = "import json\n\nimport numpy as np\nimport onnxruntime_genai"
        options = {"intra_op_num_threads": threads} if threads else {}
        body = _GENAI % {"folder": os.fspath(Path(file).parent), "options": options}
    elif isinstance(engine, PyTorch):
        imports, body = _torch(engine, threads, file, sample or Path(file).stem)
    else:
        flags = "    settings.set_flag(tensorrt.BuilderFlag.FP16)\n" if engine.precision == "float16" else ""
        if engine.precision != "tf32":
            flags += "    settings.clear_flag(tensorrt.BuilderFlag.TF32)\n"
        if engine.workspace_bytes:
            pool = "tensorrt.MemoryPoolType.WORKSPACE"
            flags += f"    settings.set_memory_pool_limit({pool}, {engine.workspace_bytes})\n"
        imports = "import tensorrt\nimport torch  # for memory of the GPU"
        body = f"DTYPES = {TENSORRT_TYPES!r}\n" + _TENSORRT % {"file": file, "settings": flags}
    where = [f"# for the packages of another environment: run it with {runtime!r}"] if runtime else []
    return "\n\n".join([*where, *before, imports, body]) + "\n"


def _torch(engine: PyTorch, threads: int | None, file: str, sample: str) -> tuple[str, str]:
    """Return the imports, and the code that makes and runs the module."""
    device = engine.device or "cpu"
    place, _, function = (engine.factory or "sample_models.torch_module:torch_module").rpartition(":")
    in_file = place.endswith(".py")
    imports = ["import importlib.util", "import sys"] if in_file else ["import importlib"]
    imports += ["", "import onnx", "import torch"]
    lines = [f"torch.set_num_threads({threads})"] if threads else []
    lines.append(
        _FACTORY_FILE % {"name": Path(place).stem, "place": place}
        if in_file
        else f"source = importlib.import_module({place!r})"
    )
    compiled = f"module = torch.compile(module, mode={engine.compile!r})\n" if engine.compile else ""
    arguments = repr(file) if engine.factory else f"{sample!r}, {file!r}"
    values = {"function": function, "arguments": arguments, "device": device, "file": file}
    return "\n".join(imports), "\n".join([*lines, _TORCH % {**values, "compiled": compiled}])
