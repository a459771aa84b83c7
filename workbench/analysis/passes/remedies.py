"""What would make a fusion happen, as a config where a setting does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.analysis.passes.fusion_table import NotFused
from workbench.config import Config, TransformerFusion
from workbench.errors import ConfigError

# Patterns that ORT's optimizer script knows.
TRANSFORMERS = ("attention", "gelu", "layer norm", "skip layer norm")


@dataclass(frozen=True, slots=True)
class Remedy:
    """A setting. `config`: the whole config with it, where that is known."""

    text: str
    config: Config | None = None


def remedy(
    pattern: str, group: NotFused, config: Config, dims: Mapping[str, int] | None = None
) -> Remedy | None:
    """Return what would fuse these places, or None. `dims`: the sizes of free dimensions."""
    if "disabled_passes" in group.reason:
        blamed = {name for name in config.disabled_passes if name in group.reason}
        kept = tuple(name for name in config.disabled_passes if name not in blamed)
        return Remedy(f"enable {', '.join(sorted(blamed))}", config.replace(disabled_passes=kept))
    if "did not run at this level" in group.reason:
        return Remedy("level all", config.replace(level="all")) if config.level not in (None, "all") else None
    if "free_dimensions" in group.reason:
        fixed = ", ".join(f"{name} = {size}" for name, size in (dims or {}).items())
        able = config.replace(free_dimensions=dims) if dims else None
        return Remedy(f"fixed dims: {fixed}" if fixed else "fixed dims (free_dimensions)", able)
    if pattern in TRANSFORMERS and config.fusion is None:
        try:
            return Remedy("maybe ORT's transformer optimizer", config.replace(fusion=TransformerFusion()))
        except ConfigError:  # a saved graph, or a file prepared elsewhere, is taken as it is
            return None
    return None
