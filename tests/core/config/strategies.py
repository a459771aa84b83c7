"""Legal configs, drawn at random from everything that a config can say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from workbench.core.config import Config, Option, Provider, catalogue, shipped_passes
from workbench.core.errors import ConfigError

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
flags = st.sampled_from([None, True, False])
counts = st.none() | st.integers(1, 2**31 - 1)
sizes = st.dictionaries(names, st.integers(1, 2**63 - 1), max_size=3)


def option_values(option: Option) -> st.SearchStrategy[Any]:
    """Values that this option takes."""
    if option.type == "bool":
        return st.booleans()
    if option.type == "int":
        low = -(2**63) if option.minimum is None else option.minimum
        return st.integers(low, 2**63 - 1 if option.maximum is None else option.maximum)
    if option.choices:
        return st.sampled_from(option.choices)
    if option.type == "float":
        return st.floats(allow_nan=False, allow_infinity=False)
    if option.type == "json":
        return st.sampled_from(["{}", '{"CPU": {"PERFORMANCE_HINT": "LATENCY"}}'])
    return st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def free_options(owner: str) -> list[Option]:
    """The options that stand by themselves."""
    special = ("device_type", "disable_cpu_ep_fallback", "layer_assignment", "profile_", "backend_path")
    return [
        option
        for option in catalogue().options(owner)
        if option.type != "address"
        and not option.instead
        and not option.needs
        and not any(word in option.name for word in special)
        and not (option.name == "device_id" and option.type == "enum")
        and option.name != "enable_cuda_graph"
    ]


@st.composite
def providers(draw: st.DrawFn) -> Provider:
    name = draw(st.sampled_from([card.alias for card in catalogue().providers]))
    known = free_options(name)
    chosen = draw(st.lists(st.sampled_from(known), max_size=3)) if known else []
    return Provider(name, {option.name: draw(option_values(option)) for option in chosen})


@st.composite
def entries(draw: st.DrawFn, owner: str) -> dict[str, Any]:
    chosen = draw(st.lists(st.sampled_from(free_options(owner)), max_size=4))
    return {
        option.name: draw(option_values(option)) for option in chosen if "allow_spinning" not in option.name
    }


def affinities(threads: int | None) -> st.SearchStrategy[str | None]:
    if threads is None or not 2 <= threads <= 5:
        return st.none()
    lists = st.lists(st.sampled_from(["1", "2-4", "1,3", "64"]), min_size=threads - 1, max_size=threads - 1)
    return st.none() | lists.map(";".join)


@st.composite
def configs(draw: st.DrawFn) -> Config:
    threads = draw(counts | st.integers(2, 5))
    listed = draw(st.lists(providers(), max_size=3, unique_by=lambda provider: provider.name))
    if {"tensorrt", "tensorrt-rtx"} <= {provider.short_name for provider in listed}:
        listed = listed[:1]
    directml = any(provider.short_name == "dml" for provider in listed)
    return Config(
        level=draw(st.sampled_from([None, "disabled", "basic", "extended", "layout", "all"])),
        disabled_passes=tuple(draw(st.lists(st.sampled_from(shipped_passes().names), max_size=4))),
        providers=tuple(listed),
        intra_op_threads=threads,
        inter_op_threads=draw(counts),
        execution_mode=draw(st.sampled_from([None, "sequential", *([] if directml else ["parallel"])])),
        spinning=draw(flags),
        affinity=draw(affinities(threads)),
        memory_pattern=draw(st.sampled_from([None, False]) if directml else flags),
        memory_reuse=draw(flags),
        cpu_arena=draw(flags),
        free_dimensions=draw(sizes),
        io_binding=draw(st.booleans()),
        deterministic=draw(flags),
        session_entries=draw(entries("session")),
        run_entries=draw(entries("run")),
    )


wrong = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
)


def refused(action: Any) -> ConfigError | None:
    """The refusal of what may also be legal; anything else that is raised is our bug."""
    try:
        action()
    except ConfigError as error:
        return error
    return None
