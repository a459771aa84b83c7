"""Print the preparation of a model file as plain onnxruntime calls, before the session of a script."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.core.config import defaults
from workbench.core.config.defaults import family
from workbench.core.config.fields import ConfigFields
from workbench.core.config.fusion import TransformerFusion
from workbench.core.config.plan import SessionPlan
from workbench.core.config.precision import Float16, PreparedModel
from workbench.core.config.quantization import (
    ACCURACY_LEVELS,
    RANDOM_SAMPLES,
    DynamicInt8,
    StaticInt8,
    WeightOnly,
)
from workbench.core.config.script import options_of, session_of
from workbench.core.config.script_text import APART, SAVE, Steps
from workbench.core.rewrites.catalogue import script_of

CALIBRATION = "calibration.npz"
_PREPROCESS = """beside = {
    "save_as_external_data": LARGE,
    "all_tensors_to_one_file": LARGE,
    "external_data_location": "model.onnx.data" if LARGE else None,
}
source, target = os.path.abspath(%(source)r), os.path.abspath(%(target)r)
quant_pre_process(source, target, skip_symbolic_shape=True, **beside)
graph = onnx.load(target, load_external_data=False).graph
values = [*graph.value_info, *graph.output]
known = {"", *(value.name for value in values if value.type.tensor_type.HasField("shape"))}
if not all(known.issuperset(node.output) for node in graph.node):
    beside_it = tempfile.TemporaryDirectory(dir=os.path.dirname(target))
    with beside_it as folder, contextlib.chdir(folder), contextlib.suppress(Exception):  # of odd operators
        quant_pre_process(source, os.path.join(folder, "model.onnx"), auto_merge=True, **beside)
        for name in {"model.onnx", "model.onnx.data"} & {*os.listdir(folder)}:
            os.replace(name, os.path.join(os.path.dirname(target), name))"""
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
_FOLD = """options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
options.optimized_model_filepath = %(target)r
if LARGE:
    options.add_session_config_entry(
        "session.optimized_model_external_initializers_file_name", "model.onnx.data"
    )
ort.InferenceSession(  # products stay MatMul, which is all that the quantizer takes
    %(source)r,
    options,
    providers=["CPUExecutionProvider"],
    disabled_optimizers=["MatMulAddFusion", "MatMul_BatchNormalization_Fusion"],
)"""
_FLATTEN = """model = onnx.load(%(source)r)
constants = {tensor.name: tensor for tensor in model.graph.initializer}
for place, node in enumerate(model.graph.node):  # the quantizer fails on the bias (1, n) of a Gemm
    bias = constants.get(node.input[2]) if node.op_type == "Gemm" and len(node.input) > 2 else None
    if bias is not None and len(bias.dims) == 2 and bias.dims[0] == 1:
        flat = model.graph.initializer.add()
        flat.CopyFrom(bias)
        del flat.dims[0]
        flat.name = node.input[2] = f"{bias.name}_flat_{place}"
"""
_UNSHARE = """constants = {tensor.name: tensor for tensor in model.graph.initializer}
for place, node in enumerate(model.graph.node):  # the quantizer writes a bias with the scales of one reader
    if node.op_type in ("Conv", "ConvTranspose", "Gemm") and len(node.input) > 2:
        if node.input[2] in constants:
            bias = model.graph.initializer.add()
            bias.CopyFrom(constants[node.input[2]])
            bias.name = node.input[2] = f"{bias.name}_{place}"
"""
_RAISE_OPSET = """opsets = {entry.domain: entry.version for entry in model.opset_import}
if opsets.get("", opsets.get("ai.onnx", 13)) < 13:
    model = onnx.version_converter.convert_version(model, 13)  # the first with a scale for each channel
"""


def steps(
    config: ConfigFields,
    model: str | os.PathLike[str],
    plan: SessionPlan,
    folder: str | os.PathLike[str] | None = None,
    draw: str | None = None,
) -> Steps:
    """Return the code of every step and the file that the session loads; `plan` optimizes a saved graph.

    `draw` is the code that makes inputs, by default for any session.
    """
    script = Steps(model, folder, draw)
    if isinstance(config.precision, PreparedModel):
        script.file = config.precision.model or script.file
    if config.rewrites:
        _rewrites(script, config.rewrites)
    if config.free_dimensions:
        _dimensions(script, config.free_dimensions)
    if config.fusion is not None:
        _fusion(script, config.fusion)
    precision = config.arithmetic
    if isinstance(precision, DynamicInt8 | StaticInt8):
        source, target = script.next("preprocessed")
        script.add(
            f"{APART}\nfrom onnxruntime.quantization.shape_inference import quant_pre_process",
            _PREPROCESS % {"source": source, "target": target},
        )
    if isinstance(precision, DynamicInt8):
        _dynamic(script, defaults.dynamic_int8(precision, family())[0])
    elif isinstance(precision, StaticInt8):
        _static(script, defaults.static_int8(precision, family())[0])
    elif isinstance(precision, WeightOnly):
        _weights(script, precision)
    elif isinstance(precision, Float16):
        _half(script, precision)
    if config.saved_graph is not None:
        _saved(script, config.saved_graph, plan)
    return script


def _rewrites(script: Steps, names: tuple[str, ...]) -> None:
    source, target = script.next("rewritten")
    imported, code = script_of(names, source)
    script.add(imported, code + SAVE % {"model": "model", "target": target})


def _dimensions(script: Steps, sizes: tuple[tuple[str, int], ...]) -> None:
    source, target = script.next("fixed")
    fixing = "\n".join(f"make_dim_param_fixed(model.graph, {name!r}, {size})" for name, size in sizes)
    script.add(
        "from onnxruntime.tools.onnx_model_utils import fix_output_shapes, make_dim_param_fixed",
        f"model = onnx.load({source!r})\ndel model.graph.value_info[:]\n{fixing}\nfix_output_shapes(model)\n"
        + SAVE % {"model": "model", "target": target},
    )


def _fusion(script: Steps, fusion: TransformerFusion) -> None:
    source, target = script.next("fused")
    unknown = fusion.model_type is None or fusion.num_heads is None or fusion.hidden_size is None
    note = (
        "# Zeros and a guessed type: wb.prepare(model, config).to_python() prints what the graph tells.\n"
        if unknown
        else ""
    )
    kind = fusion.model_type or "bert"
    switches = "".join(f"fusions.{name} = {on}\n" for name, on in fusion.options)
    script.add(
        "from onnxruntime.transformers.fusion_options import FusionOptions\n"
        "from onnxruntime.transformers.optimizer import optimize_model",
        f"{note}fusions = FusionOptions({kind!r})\n{switches}"
        f"fused = optimize_model(\n    {source!r}, model_type={kind!r}, num_heads={fusion.num_heads or 0}, "
        f"hidden_size={fusion.hidden_size or 0},\n    optimization_options=fusions, opt_level=0,\n)\n"
        "print(fused.get_fused_operator_statistics())\n" + SAVE % {"model": "fused.model", "target": target},
    )


def _dynamic(script: Steps, settled: DynamicInt8) -> None:
    source, target = script.next("int8")
    script.add(
        "from onnxruntime.quantization import QuantType, quantize_dynamic",
        f"""model = onnx.load({source!r})
for value in model.graph.value_info:  # an exporter's shapes contradict those of the rewritten graph
    value.type.tensor_type.ClearField("shape")
quantize_dynamic(
    model,
    {target!r},
    op_types_to_quantize={list(settled.op_types) or None!r},
    per_channel={settled.per_channel},
    reduce_range={settled.reduce_range},
    weight_type={_type(settled.weight)},
    nodes_to_exclude={list(settled.exclude)!r},
    use_external_data_format=LARGE,
    extra_options={{"DefaultTensorType": onnx.TensorProto.FLOAT}},
)""",
    )


def _static(script: Steps, settled: StaticInt8) -> None:
    source, target = script.next("ready")
    ready = _FLATTEN % {"source": source}
    if settled.format == "qoperator":
        ready += _UNSHARE
    elif settled.per_channel:
        ready += _RAISE_OPSET
    script.add("import onnx.version_converter", ready + SAVE % {"model": "model", "target": target})
    script.add_draw()
    source, target = script.next("int8")
    options: dict[str, object] = {"CalibTensorRangeSymmetric": False}
    if settled.percentile is not None:
        options["CalibPercentile"] = settled.percentile
    types = repr(list(settled.op_types) or None)
    imported = ""
    if settled.format == "qoperator":
        script.blocks.append('QLinearOpsRegistry.pop("Where")  # its integer form leaves tensors undefined')
        imported = "\nfrom onnxruntime.quantization.registry import QLinearOpsRegistry"
    method = {"minmax": "MinMax"}.get(settled.calibrator, settled.calibrator.capitalize())
    quant_format = {"qdq": "QDQ", "qoperator": "QOperator"}[settled.format]
    script.add(
        "import numpy as np\nfrom onnxruntime.quantization import "
        "CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static" + imported,
        f"""{_EXAMPLES % {"count": settled.samples or RANDOM_SAMPLES}}


quantize_static(
    {source!r},
    {target!r},
    Examples({CALIBRATION!r}),
    quant_format=QuantFormat.{quant_format},
    op_types_to_quantize={types},
    per_channel={settled.per_channel},
    reduce_range={settled.reduce_range},
    activation_type={_type(settled.activation)},
    weight_type={_type(settled.weight)},
    nodes_to_exclude={list(settled.exclude)!r},
    use_external_data_format=LARGE,
    calibrate_method=CalibrationMethod.{method},
    extra_options={options!r},
)""",
    )


def _weights(script: Steps, asked: WeightOnly) -> None:
    source, target = script.next("folded")
    script.blocks.append(_FOLD % {"source": source, "target": target})
    source, target = script.next(f"int{asked.bits}")
    level = ACCURACY_LEVELS[asked.accuracy_level]
    left_out = [*asked.exclude, *(f"{name}_MatMul" for name in asked.exclude)]  # as a Gemm is called after
    script.add(
        "from onnxruntime.quantization.matmul_nbits_quantizer import "
        "DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer",
        f"""settings = DefaultWeightOnlyQuantConfig(
    block_size={asked.block}, is_symmetric={asked.symmetric}, accuracy_level={level},
    bits={asked.bits},
)
quantizer = MatMulNBitsQuantizer(
    onnx.load({source!r}), nodes_to_exclude={left_out!r}, algo_config=settings
)
quantizer.model.replace_gemm_with_matmul()
quantizer.process()
"""
        + SAVE % {"model": "quantizer.model.model", "target": target},
    )


def _half(script: Steps, asked: Float16) -> None:
    source, target = script.next("float16")
    script.add(
        f"{APART}\nfrom onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST\n"
        "from onnxruntime.transformers.onnx_model import OnnxModel",
        f"""half = OnnxModel(onnx.load({source!r}))
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # on failing it leaves a file
    half.convert_float_to_float16(
        keep_io_types={asked.keep_io},
        op_block_list=sorted({{*DEFAULT_OP_BLOCK_LIST, *{list(asked.blocked_ops)!r}}}),
    )
half.topological_sort()
"""
        + SAVE % {"model": "half.model", "target": target},
    )


def _saved(script: Steps, form: str, plan: SessionPlan) -> None:
    suffix = ".ort" if form == "ort" else ".onnx"
    source, target = script.next("saved", suffix)
    outside = (
        'if LARGE:\n    options.add_session_config_entry(\n        "session.optimized_model_external_init'
        'ializers_file_name", "model.onnx.data"\n    )'
    )
    if suffix == ".ort":  # which holds its weights inside
        outside = ""
        script.blocks.append(
            f"if LARGE:\n    whole = os.path.join({str(Path(target).parent)!r}, 'whole.onnx')\n"
            f"    onnx.save(onnx.load({source!r}), whole)\nelse:\n    whole = {source!r}"
        )
    saving = f"options.optimized_model_filepath = {target!r}"
    block = [*options_of(plan), saving, *([outside] if outside else [])]
    block += session_of(plan, "whole" if suffix == ".ort" else repr(source))
    script.blocks.append("\n".join(block))


def _type(name: str | None) -> str:
    words = {"int8": "QInt8", "uint8": "QUInt8", "int16": "QInt16", "uint16": "QUInt16"}
    return f"QuantType.{words[name or 'int8']}"
