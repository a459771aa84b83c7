"""Print the preparation of a model file as plain onnxruntime calls, before the session of a script."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

from workbench.core.config import defaults
from workbench.core.config.defaults import family
from workbench.core.config.fields import ConfigFields
from workbench.core.config.fusion import TransformerFusion
from workbench.core.config.parts import ConfigPart
from workbench.core.config.plan import SessionPlan
from workbench.core.config.precision import Float16, PreparedModel
from workbench.core.config.quantization import (
    ACCURACY_LEVELS,
    RANDOM_SAMPLES,
    DynamicInt8,
    StaticInt8,
    WeightOnly,
)
from workbench.core.config.script import PRINTED, options_of, plugins_of, session_of
from workbench.core.config.script_text import PREPARING, ScriptSteps
from workbench.core.rewrites.catalogue import BY_NAME, rewrites_of

CONVERSIONS = f"{PREPARING}.conversions"
EXAMPLES_FILE = "calibration.npz"
_INTEGER = ("weight", "per_channel", "reduce_range", "op_types", "exclude")
_EXAMPLES = '''class Examples(CalibrationDataReader):
    """An .npz file with an array for each input, all examples along its first axis; fed one by one."""

    def __init__(self, path):
        if os.path.exists(path):
            arrays = dict(np.load(path))
            count = len(next(iter(arrays.values())))
            feeds = ({name: array[at : at + 1] for name, array in arrays.items()} for at in range(count))
        else:
            print("calibrating on RANDOM data, which says nothing about real inputs: there is no", path)
            inputs = ort.InferenceSession(MODEL, providers=["CPUExecutionProvider"]).get_inputs()
            feeds = (draw(inputs, seed) for seed in range(%(count)d))
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)'''


def steps(
    config: ConfigFields,
    model: str | os.PathLike[str],
    plan: SessionPlan,
    folder: str | os.PathLike[str] | None = None,
    draw: str | None = None,
) -> ScriptSteps:
    """Return the code of every step and the file that the session loads; `plan` optimizes a saved graph.

    `draw` is the code that makes inputs, by default for any session.
    """
    script = ScriptSteps(model, folder, draw)
    if isinstance(config.precision, PreparedModel):
        script.file = config.precision.model or script.file
        if not Path(script.file).suffix:
            script.blocks.append(
                "# The name of a sample is no file: wb.prepare(model, config).to_python() prints its path."
            )
    if rewrites := rewrites_of(config.rewrites, model):
        _rewrites(script, rewrites)
    if config.free_dimensions:
        script.convert("fixed", "conversions.fix_dimensions", sizes=dict(config.free_dimensions))
    if config.fusion is not None:
        _fusion(script, config.fusion)
    precision = config.arithmetic
    if isinstance(precision, DynamicInt8 | StaticInt8):
        script.convert("preprocessed", "conversions.preprocess")
    if isinstance(precision, DynamicInt8):
        settled = defaults.dynamic_int8(precision, family())[0]
        script.convert("int8", "conversions.quantize_at_run_time", **_asked(settled, *_INTEGER))
    elif isinstance(precision, StaticInt8):
        _static(script, defaults.static_int8(precision, family())[0])
    elif isinstance(precision, WeightOnly):
        script.convert("folded", "conversions.fold")
        level = ACCURACY_LEVELS[precision.accuracy_level]
        asked = _asked(precision, "bits", "block", "algorithm", "exclude")
        settings = {"accuracy_level": level, "is_symmetric": precision.symmetric}
        script.convert(f"int{precision.bits}", "conversions.quantize_weights", **settings, **asked)
    elif isinstance(precision, Float16):
        script.convert("float16", "float16.to_float16", **_asked(precision, "keep_io", "blocked_ops"))
    if config.saved_graph is not None:
        if plan.plugins:
            script.blocks.append("\n".join(plugins_of(plan)))
        make = _compiled if config.saved_graph == "compiled" else partial(_saved, form=config.saved_graph)
        make(script, plan=plan)
    return script


def _asked(settings: ConfigPart, *names: str) -> dict[str, Any]:
    """Return settings as arguments of a conversion."""
    values = {name: getattr(settings, name) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _rewrites(script: ScriptSteps, names: tuple[str, ...]) -> None:
    source, target = script.next("rewritten")
    rewrites = [BY_NAME[name].function for name in names]
    script.use(f"{CONVERSIONS}.save", *(f"workbench.core.rewrites.{rewrite}" for rewrite in rewrites))
    functions = "".join(f"\n    {rewrite.rpartition('.')[2]}," for rewrite in rewrites)
    script.blocks.append(
        f"model = onnx.load({source!r})\nfor rewrite in ({functions}\n):\n"
        '    print(rewrite.__name__, "applied", rewrite(model), "times")\n'
        f"save(model, {target!r})"
    )


def _fusion(script: ScriptSteps, fusion: TransformerFusion) -> None:
    if fusion.model_type is None or fusion.num_heads is None or fusion.hidden_size is None:
        script.blocks.append(
            "# Zeros and a guessed type: wb.prepare(model, config).to_python() prints what the graph tells."
        )
    script.convert(
        "fused", "conversions.fuse", model_type=fusion.model_type or "bert", num_heads=fusion.num_heads or 0,
        hidden_size=fusion.hidden_size or 0, options=dict(fusion.options),
    )  # fmt: skip
    script.blocks[-1] = f"print({script.blocks[-1]})"


def _static(script: ScriptSteps, settled: StaticInt8) -> None:
    if settled.format == "qdq" and settled.per_channel:
        script.convert("ready", "conversions.raise_opset")
    script.add_draw()
    count = settled.samples or RANDOM_SAMPLES
    script.add(
        "import numpy as np\nfrom onnxruntime.quantization import CalibrationDataReader",
        _EXAMPLES % {"count": count},
    )
    names = (*_INTEGER, "activation", "format", "calibrator", "percentile")
    script.convert(
        "int8", "conversions.quantize_calibrated", f"Examples({EXAMPLES_FILE!r})", **_asked(settled, *names)
    )


def _compiled(script: ScriptSteps, plan: SessionPlan) -> None:
    source, target = script.next("compiled")
    providers = [
        (name, dict(settings))
        for name, settings in plan.providers
        if name != "CPUExecutionProvider" and not plan.plugins  # whose options have them already
    ]
    script.blocks.append(
        "\n".join(
            [
                *options_of(plan),
                *(f"options.add_provider({name!r}, {settings!r})" for name, settings in providers),
                f"compiler = ort.ModelCompiler(options, {source!r}, embed_compiled_data_into_model=True)",
                f"compiler.compile_to_file({target!r})",
            ]
        )
    )


def _saved(script: ScriptSteps, form: str, plan: SessionPlan) -> None:
    suffix = ".ort" if form == "ort" else ".onnx"
    source, target = script.next("saved", suffix)
    saving, loaded = [f"options.optimized_model_filepath = {target!r}"], repr(source)
    if suffix == ".ort":  # which holds its weights inside
        script.use(f"{CONVERSIONS}.whole")
        loaded = f"whole({source!r}, {str(Path(target).parent)!r})"
    else:
        script.use(f"{CONVERSIONS}.is_large", f"{CONVERSIONS}.save_outside")
        saving.append(f"if is_large({source!r}):\n    save_outside(options)")
    script.blocks.append("\n".join([*options_of(plan), *saving, *session_of(plan, loaded), PRINTED]))
