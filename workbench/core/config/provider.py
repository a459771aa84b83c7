"""An execution provider with its options as ORT takes them: texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.core.config.catalogue import catalogue
from workbench.core.config.option import OptionValue, check_text, rendered, shown
from workbench.core.errors import ConfigError
from workbench.core.text import quoted

CPU = "CPUExecutionProvider"
MOST_NAME_CHARACTERS = 128

OTHER_ALIASES = {"trt": "tensorrt", "directml": "dml", "nvtensorrtrtx": "tensorrt-rtx"}
LIBRARY = (
    "library"  # the option that is the workbench's own: ORT registers the file, and never sees the option
)
UNTRIED = {  # further providers of ONNX Runtime, in builds that no package of Python has
    name.lower(): f"{name}ExecutionProvider"
    for name in ("ACL", "Azure", "CANN", "Dnnl", "Js", "Rknpu", "VSINPU", "VitisAI", "WebNN")
}
HALF = {  # options that let a float32 model be computed in 16 bits
    "TensorrtExecutionProvider": ("trt_fp16_enable", "True"),
    "OpenVINOExecutionProvider": ("precision", "FP16"),
}
_REMOVED = ("rocm", "ROCMExecutionProvider")


@dataclass(frozen=True, slots=True, init=False)
class Provider:
    """A provider and its options: `Provider("tensorrt", {"trt_fp16_enable": True})`.

    Short names are accepted, options may also be keywords, and each value is checked against the
    catalogue and written the way this provider reads it. `library` names the file of a plugin, or is
    "auto" for an installed package that has it.

    >>> import workbench as wb
    >>> wb.Provider("tensorrt", trt_fp16_enable=True).options
    (('trt_fp16_enable', 'True'),)
    """

    name: str
    options: tuple[tuple[str, str], ...]

    def __init__(
        self,
        name: str,
        options: Mapping[str, OptionValue] | Iterable[tuple[str, OptionValue]] = (),
        /,
        **more: OptionValue,
    ) -> None:
        full = full_name(name)
        given = _pairs(full, options)
        for key, value in more.items():
            if key in given:
                raise ConfigError(f"{full} option {key!r} is given twice.", "Give it once.")
            given[key] = value
        object.__setattr__(self, "name", full)
        object.__setattr__(self, "options", tuple(sorted(_render(full, k, v) for k, v in given.items())))

    @property
    def short_name(self) -> str:
        """Our alias, such as "cuda", where there is one."""
        return {**_short_names(), **{full: name for name, full in UNTRIED.items()}}.get(self.name, self.name)

    def option(self, name: str) -> str | None:
        """Return the text given for an option, or None when it was left to the provider."""
        return dict(self.options).get(name)

    @property
    def library(self) -> str | None:
        """The library of a plugin, "auto" for an installed one, or None for a provider of this ORT's own."""
        return self.option(LIBRARY)

    @property
    def session_options(self) -> tuple[tuple[str, str], ...]:
        """The options that ORT is given."""
        return tuple((name, text) for name, text in self.options if name != LIBRARY)

    @property
    def allows_half(self) -> bool:
        """Return whether an option lets the provider compute a float32 model in 16 bits."""
        return HALF.get(self.name) in self.options

    def __repr__(self) -> str:
        if not self.options:
            return f"Provider({self.short_name!r})"
        options = {name: shown(name, text) for name, text in self.options}
        return f"Provider({self.short_name!r}, {options!r})"


def full_name(name: object) -> str:
    """Return ORT's name of a provider, from that name in any case or from an alias."""
    if not isinstance(name, str) or not name or len(name) > MOST_NAME_CHARACTERS or not name.isprintable():
        raise ConfigError(
            f"{quoted(name)} is not the name of a provider.",
            f"Use one of {', '.join(_short_names().values())}.",
        )
    folded = name.strip().casefold()
    if folded in (removed.casefold() for removed in _REMOVED):
        raise ConfigError(
            f"{name!r} was asked for, but ORT no longer has a ROCm provider and would quietly use the CPU.",
            "Use 'migraphx', AMD's provider today.",
        )
    folded = OTHER_ALIASES.get(folded, folded)
    for full, alias in (*_short_names().items(), *((full, short) for short, full in UNTRIED.items())):
        if folded in (alias, full.casefold()):
            return full
    return name.strip()


def _short_names() -> dict[str, str]:
    return {card.name: card.alias for card in catalogue().providers}


def _pairs(provider: str, options: object) -> dict[str, OptionValue]:
    try:
        listed = list(options.items() if isinstance(options, Mapping) else options)  # type: ignore[call-overload]
        given = dict(listed)
    except (TypeError, ValueError):
        raise ConfigError(
            f"The options of {provider} are {quoted(options)}.", "Give a dict: {'device_id': 0}."
        ) from None
    if len(given) != len(listed):
        raise ConfigError(f"An option of {provider} is given twice.", "Give each option once.")
    return given


def _render(provider: str, name: object, value: OptionValue) -> tuple[str, str]:
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{quoted(name)} is not an option of {provider}.", "Option names are texts.")
    check_text(f"An option name of {provider}", name)
    option = catalogue().find(provider, name)
    text = option.render(value) if option else rendered(f"{provider} option {quoted(name)}", value)
    return name, text
