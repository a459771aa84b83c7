"""TensorRT's engines: built at each start, or anew at each new shape."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.core.models.declared import Dim, TensorType, declared_inputs
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix, Gain
from workbench.features.findings.rule import options_fix, provider_of, rule
from workbench.features.findings.rules.providers import TENSORRT

ENGINE_LOAD_S = 5.0
PROFILES = ("trt_profile_min_shapes", "trt_profile_opt_shapes", "trt_profile_max_shapes")
SEPARATORS = (":", ",")  # of names, shapes and inputs in a profile, which has no way to escape them
Shape = tuple[int, ...]


@rule(
    "engine-built-at-each-start",
    needs=("gpu", "run"),
    recognised="TensorRT without an engine cache, and a load of more than 5 s",
    advice="turn the caches of engines and of timings on",
    source="rebuilds of 50 s at new shapes in users' reports",
)
def engine_built_at_each_start(evidence: Evidence) -> FindingRecords:
    """TensorRT builds its engine again at each start."""
    tensorrt = provider_of(evidence, TENSORRT)
    load_s = None if evidence.run is None else evidence.run.load_s
    if tensorrt is None or load_s is None or load_s < ENGINE_LOAD_S:
        return
    if tensorrt.option("trt_engine_cache_enable"):
        return
    caches = {"trt_engine_cache_enable": "1", "trt_timing_cache_enable": "1"}
    yield finding(
        f"TensorRT builds its engine at each start ({load_s:.0f} s)",
        forecast=Forecast("sure", Gain("load", load_s * 0.9, load_s * 0.7, load_s, 0.9)),
        fix=options_fix(evidence, tensorrt, "cache the engine and its timings", caches),
    )


@rule(
    "engine-without-profiles",
    needs=("gpu",),
    recognised="TensorRT, inputs with free dimensions, and no smallest, usual and largest shapes",
    advice="give them: trt_profile_min_shapes, trt_profile_opt_shapes and trt_profile_max_shapes",
    source="without them a shape beyond those seen builds the engine anew: 50 s in users' reports; "
    "not measured here",
)
def engine_without_profiles(evidence: Evidence) -> FindingRecords:
    """TensorRT builds its engine again when a shape is smaller or larger than all before."""
    tensorrt = provider_of(evidence, TENSORRT)
    free = _free_inputs(evidence)
    if tensorrt is None or not free or all(tensorrt.option(name) for name in PROFILES):
        return
    feeds = [dict(sizes) for sizes in evidence.feed_sizes or (evidence.sizes,)]
    fix = Fix(
        "note",
        "give smallest, usual and largest shapes of every input with free dimensions",
        code='wb.Provider("tensorrt", trt_profile_min_shapes="x:1x3x224x224", '
        'trt_profile_opt_shapes="x:8x3x224x224", trt_profile_max_shapes="x:32x3x224x224")',
    )
    shapes = {name: [_shape(dims, sizes) for sizes in feeds] for name, dims in free.items()}
    known = {name: [shape for shape in fed if shape is not None] for name, fed in shapes.items()}
    is_known = all(len(known[name]) == len(feeds) for name in free)
    if is_known and not any(mark in name for name in free for mark in SEPARATORS):
        text = "give the smallest, the first and the largest of the measured shapes as profiles"
        fix = options_fix(evidence, tensorrt, text, _profiles(known))
    varies = any(len(set(fed)) > 1 for fed in known.values())
    yield finding(
        "TensorRT builds its engine anew at shapes beyond those it has seen",
        f"inputs with free dimensions: {', '.join(name[:40] for name in free)}",
        forecast=Forecast.unknown("load", "sure" if varies else "likely"),
        fix=fix,
        caution=("" if varies else "one shape was measured: give inputs of the smallest and largest; ")
        + "where TensorRT takes parts of the graph only, their inputs need profiles too",
    )


def _free_inputs(evidence: Evidence) -> dict[str, tuple[Dim, ...]]:
    """Return the dimensions of inputs that have a free one, with those that the config fixes as numbers."""
    fixed = dict(evidence.config.free_dimensions)
    inputs: dict[str, tuple[Dim, ...]] = {}
    for declared in declared_inputs(evidence.structure):
        if isinstance(declared.type, TensorType) and declared.type.dims is not None:
            dims = tuple(fixed.get(dim, dim) if isinstance(dim, str) else dim for dim in declared.type.dims)
            if not all(isinstance(dim, int) for dim in dims):
                inputs[declared.name] = dims
    return inputs


def _shape(dims: tuple[Dim, ...], sizes: Mapping[str, int]) -> Shape | None:
    """Return the shape of an input with these sizes of free dimensions; None if one is unknown."""
    known = [sizes.get(dim) if isinstance(dim, str) else dim for dim in dims]
    shape = tuple(size for size in known if size is not None)
    return shape if len(shape) == len(dims) else None


def _profiles(shapes: Mapping[str, list[Shape]]) -> dict[str, str]:
    """Return TensorRT's options for these shapes of each input: `x:1x3x224x224,mask:1x224`."""
    chosen = {
        name: (tuple(map(min, zip(*fed, strict=True))), fed[0], tuple(map(max, zip(*fed, strict=True))))
        for name, fed in shapes.items()
    }
    return {
        option: ",".join(
            f"{name}:{'x'.join(str(size) for size in profile[place])}" for name, profile in chosen.items()
        )
        for place, option in enumerate(PROFILES)
    }
