"""Combinations that ORT would refuse, crash on or quietly ignore: refused here, before a worker starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from workbench.config import affinity
from workbench.config.catalogue import RUN, SESSION, catalogue
from workbench.config.knobs import BY_FIELD
from workbench.config.plan import SPINNING
from workbench.config.provider import CPU, SHORT_NAMES, Provider
from workbench.config.wording import did_you_mean, listed, shown
from workbench.errors import ConfigError

if TYPE_CHECKING:
    from workbench.config.config import Config

MOST_KEY_CHARACTERS = 1024  # ORT refuses longer keys
ALLOW = "or set allow_unknown=True to pass it on as it is"
DML, CUDA, TENSORRT = "DmlExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"


def judged(config: Config) -> dict[str, tuple[tuple[str, str], ...]]:
    """Raise for what cannot work; else the entry fields in their canonical texts."""
    for provider in config.providers:
        _check_provider(provider, config.allow_unknown)
    for rule in _RULES:
        rule(config)
    entries = {
        "session_entries": _entries(SESSION, config.session_entries, config.allow_unknown),
        "run_entries": _entries(RUN, config.run_entries, config.allow_unknown),
    }
    _check_entry_combinations(config, dict(entries["session_entries"]))
    return entries


def check_fields(names: Iterable[str]) -> None:
    """Refuse what is no field of Config."""
    for name in names:
        if name not in BY_FIELD:
            raise ConfigError(
                f"Config has no field {shown(name)}.",
                did_you_mean(name, BY_FIELD) or f"Fields: {', '.join(BY_FIELD)}.",
            )


def _check_provider(provider: Provider, allow_unknown: bool) -> None:
    known = [card.name for card in catalogue().providers]
    if provider.name not in known:
        if allow_unknown:
            return
        short = list(SHORT_NAMES.values())
        raise ConfigError(
            f"{shown(provider.name)} is not a provider that we know; ORT would warn and use the CPU.",
            f"{did_you_mean(provider.name, [*short, *known])}Use one of {', '.join(short)}, {ALLOW}.",
        )
    options = {option.name: option for option in catalogue().options(provider.name)}
    given = dict(provider.options)
    for name in given:
        if name not in options and not allow_unknown:
            what = f"Known: {', '.join(options)}" if options else "It takes none; drop it"
            guess = did_you_mean(name, options)
            raise ConfigError(
                f"{provider.name} has no option {shown(name)}.",
                f"{guess or what + '. '}Else correct it, {ALLOW}.",
            )
        if name in options:
            _check_needs(f"{provider.name} option {name!r}", options[name].needs, given)


def _entries(
    owner: str, entries: tuple[tuple[str, str], ...], allow_unknown: bool
) -> tuple[tuple[str, str], ...]:
    known = {option.name: option for option in catalogue().options(owner)}
    texts: dict[str, str] = {}
    for key, text in entries:
        if len(key) > MOST_KEY_CHARACTERS:
            raise ConfigError(
                f"The {owner} entry {shown(key)} is too long.", f"ORT takes {MOST_KEY_CHARACTERS} characters."
            )
        if key in known:
            texts[key] = known[key].render(text)
        elif allow_unknown:
            texts[key] = text
        else:
            raise ConfigError(
                f"{shown(key)} is not a {owner} entry that we know; ORT ignores unknown ones without a word.",
                f"{did_you_mean(key, known)}See catalogue().options({owner!r}), {ALLOW}.",
            )
    for key in texts.keys() & known.keys():
        _check_needs(f"The {owner} entry {key!r}", known[key].needs, texts)
    return tuple(sorted(texts.items()))


def _check_needs(label: str, needs: tuple[tuple[str, str], ...], given: dict[str, str]) -> None:
    if needs and not any(given.get(key) == value or (value == "*" and key in given) for key, value in needs):
        wanted = " or ".join(key if value == "*" else f"{key}={value}" for key, value in needs)
        raise ConfigError(f"{label} does nothing alone.", f"Set {wanted} too, or drop it.")


def _no_provider_twice(config: Config) -> None:
    names = [provider.name for provider in config.providers]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"{name} is listed twice; ORT takes the first and drops the other.",
                "List each provider once.",
            )


def _affinity_fits(config: Config) -> None:
    if config.affinity is not None:
        affinity.check(config.affinity, config.intra_op_threads)


def _directml_runs_in_order(config: Config) -> None:
    if not _has(config, DML):
        return
    if config.memory_pattern:
        raise ConfigError(
            "DirectML cannot use memory patterns; ORT turns them off.", "Leave memory_pattern None or False."
        )
    _refuse_parallel(config, "DirectML runs one operator after another; ORT ignores the parallel mode.")


def _cuda_graph_has_fixed_buffers(config: Config) -> None:
    for provider in config.providers:
        if provider.name != CUDA or provider.option("enable_cuda_graph") != "1":
            continue
        if not config.io_binding:
            raise ConfigError(
                "A CUDA graph replays the addresses that it was captured with, and io_binding is off.",
                "Set io_binding=True, or enable_cuda_graph=False.",
            )
        _refuse_parallel(config, "A CUDA graph is captured from one stream; the parallel mode breaks that.")


def _refuse_parallel(config: Config, problem: str) -> None:
    if config.execution_mode == "parallel":
        raise ConfigError(problem, "Leave execution_mode None or 'sequential'.")


def _profile_shapes_complete(config: Config) -> None:
    for provider in config.providers:
        prefix = "trt" if provider.name == TENSORRT else "nv"
        trio = [f"{prefix}_profile_{bound}_shapes" for bound in ("min", "opt", "max")]
        given = [name for name in trio if provider.option(name)]
        if given and len(given) < len(trio):
            raise ConfigError(
                f"{provider.name} got {listed(given)} alone.",
                f"Give all of {listed(trio)}, for the same inputs.",
            )


def _check_entry_combinations(config: Config, entries: dict[str, str]) -> None:
    for key in SPINNING:
        if config.spinning is not None and key in entries:
            raise ConfigError(f"spinning and the session entry {key!r} are both set.", "Keep one of them.")
    alone = not config.providers
    if entries.get("session.disable_cpu_ep_fallback") == "1" and (alone or _has(config, CPU)):
        raise ConfigError(
            "session.disable_cpu_ep_fallback=1 forbids the CPU, and "
            + ("no other provider is listed." if alone else "the CPU is listed."),
            "List the accelerator alone, such as providers=['cuda'], or drop the entry.",
        )
    trio = ("session.layer_assignment_settings", "session.name_based_layer_assignment")
    if all(entries.get(key) for key in trio):
        raise ConfigError(f"{listed(trio)} exclude each other.", "Keep one of them.")


def _has(config: Config, provider: str) -> bool:
    return any(one.name == provider for one in config.providers)


_RULES: tuple[Callable[[Config], Any], ...] = (
    _no_provider_twice,
    _affinity_fits,
    _directml_runs_in_order,
    _cuda_graph_has_fixed_buffers,
    _profile_shapes_complete,
)
