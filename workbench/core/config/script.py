"""Print a plan as a plain onnxruntime script, for use without the workbench."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from workbench.core.config.plan import SessionPlan
from workbench.core.config.provider import CPU
from workbench.core.config.runtime import interpreter
from workbench.core.plugin_packages import plugin_packages
from workbench.core.thread_variables import OBEYED_SINCE, thread_origins, variables_of

_NO_TELEMETRY = 'import os\n\nos.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when onnxruntime is imported'
BINDING = """    binding = session.io_binding()
    on_gpu = {"CUDAExecutionProvider", "TensorrtExecutionProvider"} & set(session.get_providers())
    device = "cuda" if on_gpu else "cpu"
    for name, array in feeds.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array, device))
    for output in session.get_outputs():
        binding.bind_output(output.name, device)
    session.run_with_iobinding(binding, run_options)"""
# As the worker binds: inputs once, outputs once their shapes are known, nothing allocated after that.
_BOUND = f'''

def bind(feeds):
    """Buffers for these inputs and their outputs, to reuse: `session.run_with_iobinding(it, run_options)`."""
{BINDING}
    for output, value in zip(session.get_outputs(), binding.get_outputs()):
        binding.bind_ortvalue_output(output.name, value)
    return binding


def run(feeds):
    """One inference; `feeds` maps input names to arrays, the result is a list of arrays."""
    binding = bind(feeds)
    session.run_with_iobinding(binding, run_options)
    return binding.copy_outputs_to_cpu()'''
PRINTED = 'print("providers in effect:", session.get_providers())'
_PLAIN = '''

def run(feeds):
    """One inference; `feeds` maps input names to arrays, the result is a list of arrays."""
    return session.run(None, feeds, run_options)'''
_INPUTS = """
for value in session.get_inputs():
    print("input:", value.name, value.type, value.shape)"""


def script(
    plan: SessionPlan,
    model: str | os.PathLike[str],
    runtime: str | None = None,
    before: Iterable[str] = ("import onnxruntime as ort",),
) -> str:
    """Return Python that makes the session of the plan, prints its inputs and defines `run(feeds)`.

    `before`: the imports, and code that makes the file which is loaded; it may register the plugins.

    Every name and text is written as a literal, so nothing in a config can become code.
    """
    before, plugins = [*before], "\n".join(plugins_of(plan))
    parts = [
        *([f"# for the ONNX Runtime of another environment: run it with {runtime!r}"] if runtime else []),
        _NO_TELEMETRY,
        *before,
        *([plugins] if plugins and plugins not in before else []),
        "\n".join(options_of(plan)),
        "\n".join([*session_of(plan, repr(os.fspath(model))), PRINTED]),
        "\n".join([*run_options_of(plan), _BOUND if plan.io_binding else _PLAIN]),
        _INPUTS,
    ]
    return "\n\n".join(parts) + "\n"


def options_of(plan: SessionPlan, folder: str = "") -> Iterator[str]:
    """Yield the options of the session; its plugins are registered already.

    `folder`: an expression of the folder that holds the libraries of the plan; empty: they are paths.
    """
    since = ".".join(map(str, OBEYED_SINCE))
    for variable in variables_of(thread_origins(dict(plan.attributes), obeyed=True)):
        yield f"# {variable} was set here, and ONNX Runtime {since} and newer obeys it: set it elsewhere too"
    yield "options = ort.SessionOptions()"
    for name, value in plan.attributes:
        literal = f"ort.{value}" if isinstance(value, str) else repr(value)
        yield f"options.{name} = {literal}"
    for key, text in plan.entries:
        yield f"options.add_session_config_entry({key!r}, {text!r})"
    for library in plan.custom_ops:
        yield f"options.register_custom_ops_library({_place(library, folder)})"
    if plan.policy:
        yield f"options.set_provider_selection_policy(ort.{plan.policy})"
    elif plan.plugins:
        yield from _added(plan)
    for name, size in plan.free_dimensions:
        yield f"options.add_free_dimension_override_by_name({name!r}, {size})"


def _place(library: str, folder: str) -> str:
    return f"str({folder} / {library!r})" if folder else repr(library)


def plugins_of(plan: SessionPlan, folder: str = "") -> Iterator[str]:
    """Yield what registers the plugins, which ONNX Runtime takes once in a process. `folder` as above."""
    for provider, library in plan.plugins:
        if library != "auto":
            yield f"ort.register_execution_provider_library({provider!r}, {_place(library, folder)})"
    wanted = [provider for provider, library in plan.plugins if library == "auto"]
    if wanted:
        packages = plugin_packages(interpreter(plan.runtime))
        if not packages:
            yield f"# no package of a plugin is installed where this was written: register one for {wanted!r}"
        for package in packages:
            yield f"import {package.module}  # {package.requirement}"
            path = f"{package.module}.{package.function}()"
            yield f"ort.register_execution_provider_library({package.module!r}, {path})"


def _added(plan: SessionPlan) -> Iterator[str]:
    """Yield what adds the providers, plugins by their devices: a list of names means a build's own."""
    plugins = dict(plan.plugins)
    for name, settings in plan.providers:
        if name in plugins:
            yield f"devices = [device for device in ort.get_ep_devices() if device.ep_name == {name!r}]"
            yield f"options.add_provider_for_devices(devices, {dict(settings)!r})"
        elif name != CPU:
            yield f"options.add_provider({name!r}, {dict(settings)!r})"


def session_of(plan: SessionPlan, model: str) -> Iterator[str]:
    """Yield what makes the session. `model`: an expression."""
    if plan.preload_libraries:
        yield "ort.preload_dlls()"
    yield "session = ort.InferenceSession("
    yield f"    {model},"
    yield "    options,"
    if plan.providers and not plan.plugins:
        yield "    providers=["
        for name, options in plan.providers:
            yield f"        ({name!r}, {dict(options)!r}),"
        yield "    ],"
    if plan.disabled_optimizers:
        yield f"    disabled_optimizers={list(plan.disabled_optimizers)!r},"
    yield ")"


def run_options_of(plan: SessionPlan) -> Iterator[str]:
    """Yield the options of each run."""
    yield "run_options = ort.RunOptions()"
    for key, text in plan.run_entries:
        yield f"run_options.add_run_config_entry({key!r}, {text!r})"
