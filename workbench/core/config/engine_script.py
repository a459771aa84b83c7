"""Print the config of another engine as a plain script of that engine, for use without the workbench."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.core.config.embedding import embedded
from workbench.core.config.engines import EnginePart, GenAi, OpenVino, PyTorch
from workbench.core.config.script_text import in_order

WORKER = "workbench.core.worker"
_OPENVINO = '''core = openvino.Core()
compiled = core.compile_model(core.read_model(%(file)r), %(device)r, %(settings)r)
request = compiled.create_infer_request()
for port in compiled.inputs:
    print("input:", port.get_any_name(), port.get_element_type(), port.get_partial_shape())


def run(feeds):
    """One inference; `feeds` maps input names to arrays, the result is a list of arrays."""
    result = request.infer(feeds, share_inputs=True)
    return [result[port].copy() for port in compiled.outputs]'''
_TORCH = '''module = getattr(source, %(function)r)(%(arguments)s).eval().to(%(device)r)
%(compiled)sgraph = onnx.load(%(file)r, load_external_data=False).graph
weights = {tensor.name for tensor in graph.initializer}
names = [value.name for value in graph.input if value.name not in weights]
print("inputs, in the order of the module's arguments:", names)


def run(feeds):
    """One inference; `feeds` maps input names to arrays, the result is a list of arrays."""
    with torch.inference_mode():
        result = module(*(torch.from_numpy(feeds[name]).to(%(device)r) for name in names))
    return [tensor.cpu().numpy() for tensor in tensors(result)]'''
_TENSORRT = '''engines = {}  # by the shapes of the inputs, which an engine is built for


def run(feeds):
    """One inference; `feeds` maps input names to arrays, the result is a list of arrays."""
    shapes = {name: tuple(array.shape) for name, array in feeds.items()}
    key = tuple(shapes.items())
    if key not in engines:
        built = build(%(file)r, shapes, %(precision)r, %(workspace)r)
        names = map(built.get_tensor_name, range(built.num_io_tensors))
        engines[key] = Engine(built, [name for name in names if name not in feeds], %(precision)r)
    return engines[key].arrays(engines[key].call(feeds)())'''
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
        imported, code = embedded([f"{WORKER}.engine_tensorrt.build", f"{WORKER}.engine_tensorrt.Engine"])
        asked = {"precision": engine.precision or "float32", "workspace": engine.workspace_bytes}
        imports, body = in_order(imported), f"\n{code}\n\n\n{_TENSORRT % {'file': file, **asked}}"
    where = [f"# for the packages of another environment: run it with {runtime!r}"] if runtime else []
    return "\n\n".join([*where, *before, imports, body]) + "\n"


def _torch(engine: PyTorch, threads: int | None, file: str, sample: str) -> tuple[str, str]:
    """Return the imports, and the code that makes and runs the module."""
    device = engine.device or "cpu"
    place, _, function = (engine.factory or "sample_models.torch_module:torch_module").rpartition(":")
    in_file = place.endswith(".py")
    functions = ["tensors", *(["module_of"] if in_file else [])]
    imported, code = embedded(f"{WORKER}.engine_torch.{function}" for function in functions)
    lines = [f"torch.set_num_threads({threads})"] if threads else []
    lines.append(
        f"source = module_of({place!r}, {Path(place).stem!r})"
        if in_file
        else f"source = importlib.import_module({place!r})"
    )
    compiled = f"module = torch.compile(module, mode={engine.compile!r})\n" if engine.compile else ""
    arguments = repr(file) if engine.factory else f"{sample!r}, {file!r}"
    values = {"function": function, "arguments": arguments, "device": device, "file": file}
    imports = in_order([*imported, "import onnx", *([] if in_file else ["import importlib"])])
    return imports, "\n".join([f"\n{code}\n\n", *lines, _TORCH % {**values, "compiled": compiled}])
