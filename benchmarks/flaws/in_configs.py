"""Flaws of the config: the model is sound, and the session is set up badly for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.flaws.flaw import DEFAULTS, RANDOM, SOUND_TEXT, Flaw, Plant, Planted
from benchmarks.flaws.in_operators import with_pads
from benchmarks.flaws.nets import images, products, texts
from benchmarks.models import Net
from workbench.core.config import Config, DynamicInt8, StaticInt8, WeightOnly

Nets = tuple[Callable[[int], Net], ...]
EVERY: Nets = (images, texts, products)
STATIC_INT8 = StaticInt8(samples=2)


def badly_set(nets: Nets, *configs: Config, at: str = "", **more: Any) -> Plant:
    """Return the planting of these configs: one for each net, in turn. `at`: the operator that suffers."""

    def plant(number: int) -> Planted:
        net = nets[number % len(nets)](number)
        return Planted(net.model(), tuple(net.names_of(at)), configs[number % len(configs)], **more)

    return plant


def quantized_pads(number: int) -> Planted:
    net = with_pads(number)
    return Planted(net.model(), tuple(net.planted), Config(precision=STATIC_INT8), calibration=RANDOM)


LOW = tuple(Config(level=level) for level in ("basic", "disabled", "extended"))
FEW_BITS = tuple(Config(precision=WeightOnly(bits=bits)) for bits in (4, 8, 4))
MANY_THREADS = tuple(Config(intra_op_threads=count) for count in (8, 16, 6))
PARALLEL = SOUND_TEXT.replace(execution_mode="parallel", inter_op_threads=2)
DYNAMIC = Config(precision=DynamicInt8())
STATIC_TEXT = SOUND_TEXT.replace(precision=STATIC_INT8)
CPU_FIRST, CPU_LAST = (SOUND_TEXT.replace(providers=names) for names in (("cpu", "cuda"), ("cuda", "cpu")))
FLAWS = (
    Flaw("a level below all", "level-below-all", badly_set((images,), *LOW, at="Conv"), is_timed=True),
    Flaw("dynamic int8 of convolutions", "dynamic-int8-convolutions",
         badly_set((images,), DYNAMIC, at="Conv")),
    Flaw("float32 convolutions", "static-int8-opportunity", badly_set((images,), DEFAULTS, at="Conv")),
    Flaw("float32 products", "dynamic-int8-opportunity", badly_set((texts,), SOUND_TEXT)),
    Flaw("static int8 of an encoder", "static-int8-transformer",
         badly_set((texts,), STATIC_TEXT, calibration=RANDOM)),
    Flaw("quantized pads", "quantized-cheap-operators", quantized_pads),
    Flaw("weight-only for many rows", "weight-only-many-rows", badly_set((products,), *FEW_BITS)),
    Flaw("more threads than cores", "too-many-threads", badly_set((images,), *MANY_THREADS), is_timed=True),
    Flaw("parallel mode on a chain", "parallel-chain",
         badly_set(EVERY, PARALLEL, sound_config=SOUND_TEXT), is_timed=True),
    Flaw("the CPU before another provider", "cpu-listed-first", badly_set(EVERY, CPU_FIRST)),
    Flaw("a provider that does not load", "provider-did-not-load", badly_set(EVERY, CPU_LAST)),
)  # fmt: skip
