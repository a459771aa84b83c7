"""A tuning bench for ONNX Runtime: turn a knob, see what ORT did, get a verdict that can be trusted.

>>> import workbench as wb
>>> faster = wb.Config().replace(level="all", intra_op_threads=1)
>>> faster.level
'all'

The public names are imported at their first use, so that `import workbench` costs next to nothing and the
kernel never loads onnxruntime.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # importing typing for it would be most of our import time
if TYPE_CHECKING:
    from workbench.config import Config, Provider
    from workbench.diagnosis import Doctor, doctor
    from workbench.errors import (
        BundleError,
        Cancelled,
        ConfigError,
        DownloadError,
        HistoryError,
        InputError,
        ModelError,
        ProfileError,
        RunFailed,
        WorkbenchError,
        WorkerError,
    )
    from workbench.measure.limits import Limits
    from workbench.models import load
    from workbench.models.samples import samples
    from workbench.results import Comparison, compare, history, open
    from workbench.results_explain import Ablation, Explanation, Levels, ablate, explain, levels
    from workbench.results_profile import Profile, profile, read_profile

__version__ = "0.1.0"

__all__ = [
    "Ablation",
    "BundleError",
    "Cancelled",
    "Comparison",
    "Config",
    "ConfigError",
    "Doctor",
    "DownloadError",
    "Explanation",
    "HistoryError",
    "InputError",
    "Levels",
    "Limits",
    "ModelError",
    "Profile",
    "ProfileError",
    "Provider",
    "RunFailed",
    "WorkbenchError",
    "WorkerError",
    "ablate",
    "compare",
    "doctor",
    "explain",
    "history",
    "levels",
    "load",
    "open",
    "profile",
    "read_profile",
    "samples",
]

_HOMES = {
    "Ablation": "workbench.results_explain",
    "Comparison": "workbench.results",
    "Config": "workbench.config",
    "Doctor": "workbench.diagnosis",
    "Explanation": "workbench.results_explain",
    "Levels": "workbench.results_explain",
    "Limits": "workbench.measure.limits",
    "Profile": "workbench.results_profile",
    "Provider": "workbench.config",
    "ablate": "workbench.results_explain",
    "compare": "workbench.results",
    "doctor": "workbench.diagnosis",
    "explain": "workbench.results_explain",
    "history": "workbench.results",
    "levels": "workbench.results_explain",
    "load": "workbench.models",
    "open": "workbench.results",
    "profile": "workbench.results_profile",
    "read_profile": "workbench.results_profile",
    "samples": "workbench.models.samples",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "workbench.errors")), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})


class _Package(type(sys)):  # type: ignore[misc]  # types.ModuleType, without an import
    """`import workbench.explain.…` would put the folder in the place of the function `wb.explain`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
