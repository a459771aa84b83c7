"""ORT sessions in the worker, made from a plan; custom operators, and what all sessions can share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnxruntime as ort

from workbench.core.errors import RunFailed
from workbench.core.worker.plugins import register_plugins

CPU = "CPUExecutionProvider"
RECORD_ASSIGNMENT = "session.record_ep_graph_assignment_info"
_OTHER_LEVEL = 'give level="all", which rewrites the layout in every version, or update onnxruntime there'
_OWN_RESOURCES = "update onnxruntime, or let each session have its own threads and arena"


def session_options(plan: dict[str, Any]) -> ort.SessionOptions:
    """Return the session options of a plan."""
    register_plugins(plan.get("plugins", {}))
    options = ort.SessionOptions()
    for name, value in plan["attributes"].items():
        member(ort.SessionOptions, name)
        setattr(options, name, _constant(value))
    for key, value in plan["entries"].items():
        options.add_session_config_entry(key, value)
    for name, size in plan["free_dimensions"].items():
        options.add_free_dimension_override_by_name(name, size)
    register(options, plan.get("custom_ops", ()))
    if plan.get("policy"):
        member(ort.SessionOptions, "set_provider_selection_policy")(options, _constant(plan["policy"]))
    elif plan.get("plugins"):
        _add_providers(options, plan)
    shared = plan.get("shared", ())
    if "threads" in shared:
        options.use_per_session_threads = False
    if {"arena", "arena as requested"} & set(shared):
        options.add_session_config_entry("session.use_env_allocators", "1")
    return options


def _add_providers(options: ort.SessionOptions, plan: dict[str, Any]) -> None:
    """Add the providers of a plan, plugins by their devices: a plain name means a build's own."""
    for name, settings in plan["providers"]:
        if name in plan["plugins"]:
            devices = [device for device in ort.get_ep_devices() if device.ep_name == name]
            options.add_provider_for_devices(devices, settings)
        elif name != CPU:
            options.add_provider(name, settings)


def weights_beside(file_name: str) -> dict[str, str]:
    """Return session entries with which a saved graph has its weights in a file of this name.

    Smaller constants stay in the graph: shapes, axes and scales are worth reading.
    """
    entry = "session.optimized_model_external_initializers"
    return {f"{entry}_file_name": file_name, f"{entry}_min_size_in_bytes": "1024"}


def run_options(plan: dict[str, Any]) -> ort.RunOptions | None:
    """Return the options of each run, if the plan has any."""
    entries = plan.get("run_entries") or {}
    if not entries:
        return None
    options = ort.RunOptions()
    for key, value in entries.items():
        options.add_run_config_entry(key, value)
    return options


def make_session(model: str, plan: dict[str, Any], **attributes: Any) -> ort.InferenceSession:
    """Make a session; these `attributes` of its options replace those of the plan."""
    options = session_options(plan)
    for name, value in attributes.items():
        setattr(options, name, value)
    if plan["preload_libraries"]:
        member(ort, "preload_dlls")()
    if _asks_beyond_cpu(plan):
        options.add_session_config_entry(RECORD_ASSIGNMENT, "1")
    return ort.InferenceSession(
        model,
        options,
        providers=providers_of(plan),
        disabled_optimizers=list(plan["disabled_optimizers"]) or None,
    )


def providers_of(plan: dict[str, Any]) -> list[Any] | None:
    """Return the providers of a session with their options; None where its options hold them, or a policy."""
    if plan.get("plugins"):
        return None
    return [(name, settings) for name, settings in plan["providers"]] or None


def nodes_on(session: ort.InferenceSession, plan: dict[str, Any]) -> dict[str, int] | None:
    """Return how many nodes each provider took; None before ORT 1.24, and of the CPU alone."""
    if not (_asks_beyond_cpu(plan) and hasattr(session, "get_provider_graph_assignment_info")):
        return None
    counts: Counter[str] = Counter()
    for part in session.get_provider_graph_assignment_info():
        counts[part.ep_name] += len(part.get_nodes())
    return dict(counts)


def share(plan: dict[str, Any]) -> None:
    """Make the shared thread pool and arena of a plan; ORT wants both before the first session."""
    shared = plan.get("shared", ())
    if "threads" in shared:
        make_pool = member(ort, "set_global_thread_pool_sizes", _OWN_RESOURCES)
        make_pool(*(plan["attributes"].get(f"{pool}_op_num_threads", 0) for pool in ("intra", "inter")))
    if {"arena", "arena as requested"} & set(shared):
        grown = member(ort, "OrtArenaCfg")({"arena_extend_strategy": 1}) if "arena" not in shared else None
        arena = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        member(ort, "create_and_register_allocator", _OWN_RESOURCES)(arena, grown)


def register(options: ort.SessionOptions, libraries: Sequence[str]) -> None:
    """Register the operators of these libraries, which are loaded here, unless `use_everywhere` did."""
    for library in libraries:
        if not Path(library).is_file():
            raise RunFailed(f"custom_ops: there is no library {library[:300]!r}", "give the path of a file")
        if library not in getattr(options, "registered", ()):
            options.register_custom_ops_library(library)


def use_everywhere(libraries: Sequence[str]) -> None:
    """Register the libraries with all options made in this process, since ORT's tools make sessions too."""

    class Options(ort.SessionOptions):  # type: ignore[misc]
        registered: tuple[str, ...] = ()

        def __init__(self) -> None:
            super().__init__()
            register(self, libraries)
            self.registered = tuple(libraries)

    ort.SessionOptions = Options


def member(owner: Any, name: str, fix: str = "update onnxruntime there, or leave this setting out") -> Any:
    """Return a member of onnxruntime or of one of its classes; raise an error with a fix if it lacks it."""
    value = getattr(owner, name, None)
    if value is None:
        raise RunFailed(f"ONNX Runtime {ort.__version__} has no {name}", fix)
    return value


def _asks_beyond_cpu(plan: dict[str, Any]) -> bool:
    return bool(plan.get("policy")) or any(name != CPU for name, _ in plan["providers"])


def _constant(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    owner, name = value.split(".")
    return member(getattr(ort, owner), name, *([_OTHER_LEVEL] if name == "ORT_ENABLE_LAYOUT" else []))
