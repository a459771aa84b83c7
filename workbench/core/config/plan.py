"""The one place where a config becomes ORT calls: the worker applies this, and `to_python` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.core.config.fields import ConfigFields
from workbench.core.config.foreign import check_trusted
from workbench.core.config.provider import CPU
from workbench.core.errors import ConfigError

LEVELS = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "layout": "ORT_ENABLE_LAYOUT",
    "all": "ORT_ENABLE_ALL",
}
MODES = {"sequential": "ORT_SEQUENTIAL", "parallel": "ORT_PARALLEL"}
SPINNING = ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning")
ON_NVIDIA = ("CUDAExecutionProvider", "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider")
AFFINITY = "session.intra_op_thread_affinities"
ATTRIBUTES = {  # of SessionOptions: the field of a config
    "graph_optimization_level": "level",
    "execution_mode": "execution_mode",
    "intra_op_num_threads": "intra_op_threads",
    "inter_op_num_threads": "inter_op_threads",
    "enable_mem_pattern": "memory_pattern",
    "enable_mem_reuse": "memory_reuse",
    "enable_cpu_mem_arena": "cpu_arena",
    "use_deterministic_compute": "deterministic",
}
ENUMS = {"level": ("GraphOptimizationLevel", LEVELS), "execution_mode": ("ExecutionMode", MODES)}

Attribute = str | bool | int
"""A text names a member of one of onnxruntime's enums: the kernel does not import onnxruntime."""


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """The calls that make a session, in ORT's own words; nothing that the config leaves to ORT."""

    attributes: tuple[tuple[str, Attribute], ...]  # of SessionOptions
    entries: tuple[tuple[str, str], ...]  # add_session_config_entry
    free_dimensions: tuple[tuple[str, int], ...]  # add_free_dimension_override_by_name
    disabled_optimizers: tuple[str, ...]
    providers: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]  # empty where a policy chooses, alone
    run_entries: tuple[tuple[str, str], ...]  # add_run_config_entry
    io_binding: bool
    custom_ops: tuple[str, ...] = ()  # register_custom_ops_library
    plugins: tuple[tuple[str, str], ...] = ()  # of a provider, the file that is registered, or "auto"
    policy: str | None = None  # set_provider_selection_policy
    runtime: str | None = None  # of the environment whose packages "auto" means; None: this one

    @property
    def preload_libraries(self) -> bool:
        """CUDA's libraries from Python packages load only when ORT preloads them."""
        return any(name in ON_NVIDIA for name, _ in self.providers)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON holds it."""
        return {
            "attributes": dict(self.attributes),
            "entries": dict(self.entries),
            "free_dimensions": dict(self.free_dimensions),
            "disabled_optimizers": list(self.disabled_optimizers),
            "providers": [[name, dict(options)] for name, options in self.providers],
            "run_entries": dict(self.run_entries),
            "io_binding": self.io_binding,
            "custom_ops": list(self.custom_ops),
            "plugins": dict(self.plugins),
            "policy": self.policy,
            "preload_libraries": self.preload_libraries,
        }


def session_plan(config: ConfigFields) -> SessionPlan:
    """Return the calls for a config. The CPU is listed when asked for, or alone: ORT adds it anyway."""
    check_trusted(config)
    if config.engine is not None:
        raise ConfigError(
            f"a config on {config.engine.LABEL} has no session of ONNX Runtime.",
            "Compare and measure it; passes, placement, profiles and deployments are ONNX Runtime's own: "
            "use config.replace(engine=None) for them.",
        )
    entries = dict(config.session_entries)
    if config.spinning is not None:
        entries |= dict.fromkeys(SPINNING, "1" if config.spinning else "0")
    if config.affinity is not None:
        entries[AFFINITY] = config.affinity
    listed = [(provider.name, provider.session_options) for provider in config.providers]
    policy = config.device_policy and f"OrtExecutionProviderDevicePolicy.{config.device_policy.upper()}"
    return SessionPlan(
        attributes=tuple(
            (name, _attribute(field, getattr(config, field)))
            for name, field in ATTRIBUTES.items()
            if getattr(config, field) is not None
        ),
        entries=tuple(sorted(entries.items())),
        free_dimensions=config.free_dimensions,
        disabled_optimizers=config.disabled_passes,
        providers=() if policy else tuple(listed or [(CPU, ())]),
        run_entries=config.run_entries,
        io_binding=config.io_binding,
        custom_ops=config.custom_ops,
        plugins=tuple((item.name, item.library) for item in config.providers if item.library is not None),
        policy=policy,
        runtime=config.runtime,
    )


def _attribute(field: str, value: Any) -> Attribute:
    """Return what an attribute of SessionOptions is set to for the value of a field."""
    if field not in ENUMS:
        return value  # type: ignore[no-any-return]
    enum, names = ENUMS[field]
    return f"{enum}.{names[value]}"
