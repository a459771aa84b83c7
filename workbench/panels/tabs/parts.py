"""The parts of a result by label, as the tabs read them from the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.panels.bench import Bench
from workbench.panels.tabs.tab import Offer


def parts(bench: Bench, name: str) -> dict[str, Any]:
    """The parts `name/A`, `name/B`, by label: those apart from the result, else those that it holds."""
    start = f"{name}/"
    own = {key.removeprefix(start): one for key, one in bench.state.parts.items() if key.startswith(start)}
    return dict(sorted(own.items())) or held(bench.state.result, name)


def held(result: Any, name: str) -> dict[str, Any]:
    """What a comparison holds of a kind, one result a run."""
    labels = sorted(part.label for part in result.parts if part.kind == name and part.label) if result else []
    return {label: result.made(name, label) for label in labels}


def made(name: str, label: str) -> str:
    """The expression that gives such a part of `result`."""
    return f'result.made("{name}", "{label}")'


def has(name: str) -> Callable[[Bench], bool]:
    """Whether a part with this name is there, of a run or of the whole comparison."""

    def there(bench: Bench) -> bool:
        result = bench.state.result
        kept = () if result is None else (part.name for part in result.parts)
        return name in bench.state.parts or name in kept or bool(parts(bench, name))

    return there


EXPLAIN = Offer(
    "Explain A and B", "What ORT makes of the graph under each config, pass by pass; nothing is timed",
    lambda bench: bench.explain(), has("explanation"),
)  # fmt: skip
PROFILE = Offer(
    "Profile A and B", "Where the time goes, with ORT's profiler on; never used for latency",
    lambda bench: bench.profile(), has("profile"),
)  # fmt: skip
ABLATE = Offer(
    "Ablate", "Turn off each pass that fired, alone, and measure what it is worth; for the config shown",
    lambda bench: bench.ablate(), has("ablation"),
)  # fmt: skip
LEVELS = Offer(
    "Level by level", "ORT's five levels side by side, the rest as in the config that is shown",
    lambda bench: bench.levels(), has("levels"),
)  # fmt: skip
ACCURACY = Offer(
    "Measure accuracy", "A and B on the same examples: accuracy where there are labels, every output's error",
    lambda bench: bench.accuracy(), has("accuracy"),
)  # fmt: skip
WHY_SLOWER = Offer(
    "Why slower", "What costs B its time against A, with a fix each: both run once more under ORT's profiler",
    lambda bench: bench.why_slower(), has("why slower"),
)  # fmt: skip
LAYER_ERRORS = Offer(
    "Layer errors", "Which layers of a config with a precision go wrong, tensor by tensor",
    lambda bench: bench.layer_errors(), has("layer errors"),
)  # fmt: skip
SENSITIVITY = Offer(
    "Sensitivity", "Each layer quantized alone: its error, and the time it saves; for the config shown",
    lambda bench: bench.sensitivity(), has("sensitivity"),
)  # fmt: skip
MEMORY = Offer(
    "Memory by node", "One run of each config with ORT's profiler: what is held and alive at each node",
    lambda bench: bench.memory(), has("memory"),
)  # fmt: skip
COLD_START = Offer(
    "Cold start", "A and B from no process to a steady one, step by step",
    lambda bench: bench.cold_start(), has("cold start"),
)  # fmt: skip
ROOFLINE = Offer(
    "Roofline", "Measure what this machine can do, and set each node against it",
    lambda bench: bench.roofline(), has("roofline"),
)  # fmt: skip
SETTINGS = Offer(
    "Memory settings", "Memory pattern, arena and prepacking, each turned over alone; for the config shown",
    lambda bench: bench.memory_settings(), has("memory settings"),
)  # fmt: skip
THREADS = Offer(
    "Scale threads", "1, 2, 4… threads, spinning and not, in one comparison; for the config shown",
    lambda bench: bench.threads(), has("thread scaling"),
)  # fmt: skip
