"""Refuse combinations on which ORT would fail, crash or stay silent, before a worker starts."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.config import affinity, provider_rules
from workbench.core.config.catalogue import RUN, SESSION, catalogue, check_needs
from workbench.core.config.engines import EnginePart, GenAi, OpenVino, PyTorch, TensorRt
from workbench.core.config.fields import ConfigFields
from workbench.core.config.option import ALLOW
from workbench.core.config.passes import shipped_passes
from workbench.core.config.plan import SPINNING
from workbench.core.config.provider import CPU
from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, listed, quoted

MOST_KEY_CHARACTERS = 1024  # ORT refuses longer keys
COMPILING = (
    *("CoreML", "MIGraphX", "NNAPI", "Nnapi", "NvTensorRTRTX"),
    *("OpenVINO", "QNN", "Tensorrt", "VitisAI"),
)
_LAYERS = ("session.layer_assignment_settings", "session.name_based_layer_assignment")

_FILE = ("precision", "rewrites", "free_dimensions")  # make another ONNX file, which these engines read
_BESIDE: dict[type, tuple[str, ...]] = {
    PyTorch: ("runtime",),
    OpenVino: ("runtime", *_FILE),
    TensorRt: ("runtime", *_FILE),
    GenAi: ("runtime",),
}

Pairs = tuple[tuple[str, str], ...]


def checked(config: ConfigFields) -> dict[str, Pairs]:
    """Refuse what cannot work; return the fields of entries in their canonical texts."""
    if config.engine is not None:
        _check_engine(config, config.engine)
    if config.providers:
        provider_rules.check(config)
    if config.affinity is not None:
        affinity.check(config.affinity, config.intra_op_threads)
    if config.disabled_passes and config.runtime is None and not config.allow_unknown:
        _check_passes(config.disabled_passes)
    if config.saved_graph is not None:
        _check_saving(config)
    if not config.session_entries and not config.run_entries:
        return {}
    texts = _texts(SESSION, config.session_entries, config.allow_unknown)
    _check_spinning(config, texts)
    _check_fallback(config, texts)
    if all(texts.get(key) for key in _LAYERS):
        raise ConfigError(f"{listed(_LAYERS)} exclude each other.", "Keep one of them.")
    return {
        "session_entries": tuple(texts.items()),
        "run_entries": tuple(_texts(RUN, config.run_entries, config.allow_unknown).items()),
    }


def _check_engine(config: ConfigFields, engine: EnginePart) -> None:
    """Refuse settings of ONNX Runtime beside another engine, which takes none of them."""
    taken = {"engine", "intra_op_threads", *_BESIDE[type(engine)]}
    others = [name for name in config.changed() if name not in taken]
    if others:
        raise ConfigError(
            f"{listed(others)} cannot be set beside engine={engine!r}: {engine.LABEL} has no such setting.",
            f"Leave out {listed(others)}, or run it on ONNX Runtime with engine=None.",
        )


def _check_passes(names: Iterable[str]) -> None:
    known = shipped_passes()
    for name in known.unknown(names):
        guess = did_you_mean(name, known.names) or "See workbench.core.config.shipped_passes().names. "
        raise ConfigError(
            f"disabled_passes names {quoted(name)}, which ONNX Runtime {known.ort_version} does not have.",
            f"{guess}Correct it, {ALLOW}.",
        )


def _check_saving(config: ConfigFields) -> None:
    """Refuse to save a graph that holds compiled parts as ONNX, and to compile for the CPU alone."""
    if config.saved_graph == "compiled":
        if not any(provider.name != CPU for provider in config.providers):
            raise ConfigError(
                "saved_graph='compiled' keeps what a provider compiles, and the CPU's compiles nothing.",
                "Name a provider that compiles, such as TensorRT, OpenVINO or QNN, or save with "
                "saved_graph='onnx'.",
            )
        return
    for provider in config.providers:
        if provider.name.removesuffix("ExecutionProvider") in COMPILING:
            raise ConfigError(
                f"{provider.name} compiles its parts of the graph, and ORT cannot save those.",
                "Give saved_graph='compiled', or leave it out; some cache their engines themselves.",
            )


def _texts(owner: str, entries: Pairs, allow_unknown: bool) -> dict[str, str]:
    known = {option.name: option for option in catalogue().options(owner)}
    texts: dict[str, str] = {}
    for key, text in entries:
        if len(key) > MOST_KEY_CHARACTERS:
            raise ConfigError(
                f"The {owner} entry {quoted(key)} is too long.",
                f"ORT takes at most {MOST_KEY_CHARACTERS} characters.",
            )
        if key not in known and not allow_unknown:
            raise ConfigError(
                f"{quoted(key)} is not a {owner} entry that we know; ORT ignores unknown ones silently.",
                f"{did_you_mean(key, known)}See catalogue().options({owner!r}), {ALLOW}.",
            )
        texts[key] = known[key].render(text) if key in known else text
    for key in texts.keys() & known.keys():
        check_needs(known[key], texts)
    return texts


def _check_spinning(config: ConfigFields, texts: dict[str, str]) -> None:
    for key in SPINNING:
        if config.spinning is not None and key in texts:
            raise ConfigError(f"spinning and the session entry {key!r} are both set.", "Keep one of them.")


def _check_fallback(config: ConfigFields, texts: dict[str, str]) -> None:
    if texts.get("session.disable_cpu_ep_fallback") != "1":
        return
    if config.providers and all(provider.name != CPU for provider in config.providers):
        return
    why = "the CPU is listed" if config.providers else "no other provider is listed"
    raise ConfigError(
        f"session.disable_cpu_ep_fallback=1 forbids the CPU, and {why}.",
        "List the accelerator alone, such as providers=['cuda'], or drop the entry.",
    )
